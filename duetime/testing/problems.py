"""What must fail the test although it happens inside an attempt, where every error is recorded."""

import asyncio
from typing import Any

from duetime.core.errors import AskedForDelay, Stopped, WaitInsideHandler
from duetime.core.task import Task
from duetime.executor.run_control import RunControl
from duetime.executor.targets import Target

# An attempt records these. The others, such as KeyboardInterrupt and pytest.fail(), end the test.
OF_AN_ATTEMPT = (Exception, SystemExit, Stopped, asyncio.CancelledError)


class Problems:
    """`first_error` is the first exception of an attempt since it was set to None. A handler that
    asks to be run again later has not failed."""

    def __init__(self) -> None:
        self._found: list[BaseException] = []
        self.first_error: BaseException | None = None

    def add(self, problem: BaseException) -> None:
        self._found.append(problem)

    def check(self) -> None:
        """Raises the first problem, once."""
        if self._found:
            first = self._found[0]
            self._found.clear()
            raise first

    def watch(self, target: Target) -> Target:
        """Returns a target that also reports what it raises."""

        def call(task: Task, control: RunControl) -> Any:
            try:
                return target(task, control)
            except BaseException as error:
                if not isinstance(error, AskedForDelay):
                    self.first_error = self.first_error or error
                if isinstance(error, WaitInsideHandler) or not isinstance(error, OF_AN_ATTEMPT):
                    self.add(error)
                raise

        return call
