"""The targets of tasks, one module per type."""

from collections.abc import Mapping
from typing import Any, Protocol

from duetime.core.errors import DuetimeError
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.executor.run_control import RunControl


class Target(Protocol):
    def __call__(self, task: Task, control: RunControl) -> Any:
        """Return a result that can become JSON, or raise to fail the attempt."""
        ...


Targets = Mapping[str, Target]


class TargetFailed(DuetimeError):
    """Raised by a target whose call failed in a way that it can describe."""

    def __init__(
        self,
        type: str,
        message: str,
        *,
        permanent: bool = False,
        retry_after: Millis | None = None,
    ) -> None:
        super().__init__(message)
        self.type = type
        self.permanent = permanent
        self.retry_after = retry_after
