"""An event loop whose time is stepped: with nothing left to do, it moves on to the next timer."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any

PATIENCE = 60.0  # real seconds: who waits for longer, without a timer, waits for ever


class SteppedSelector(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            if not (ready := super().select(PATIENCE)):
                raise AssertionError("nothing is left to do")
            return ready
        ready = super().select(0)
        if not ready:
            self.now += max(timeout, 0)
        return ready


class SteppedLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.selector = SteppedSelector()
        super().__init__(self.selector)

    def time(self) -> float:
        return self.selector.now

    def run_in_executor(self, executor: Any, call: Any, *arguments: Any) -> Any:
        """Calls it now: no time passes while a thread would work."""
        result = self.create_future()
        result.set_result(call(*arguments))
        return result


def run(test: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=SteppedLoop) as runner:
        runner.run(test)
