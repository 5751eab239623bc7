"""What a task can do: one module per target type."""

from collections.abc import Mapping
from typing import Any, Protocol

from lambdas.core.errors import DuetimeError
from lambdas.core.task import Task
from lambdas.core.times import Millis
from lambdas.executor.context import Context


class Target(Protocol):
    def __call__(self, task: Task, ctx: Context) -> Any:
        """Do it and return a JSON-able result; raise to fail the attempt."""
        ...


Targets = Mapping[str, Target]


class TargetFailed(DuetimeError):
    """A target that answered, and said no."""

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
