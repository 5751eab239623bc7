"""A run: one leased attempt, and how it came out."""

from typing import Any

from lambdas.core.change import Change
from lambdas.core.codec import to_json
from lambdas.core.delivery import Message
from lambdas.core.errors import PermanentError
from lambdas.core.lifecycle import Outcome
from lambdas.core.steps.record import Failure
from lambdas.core.task import Task, TaskError, storable
from lambdas.core.values import value
from lambdas.executor.context import Context
from lambdas.executor.targets import TargetFailed

MESSAGE_LIMIT = 1_000  # characters of an error that are kept
RESULT_LIMIT = 64 * 1024


@value(frozen=True, kw_only=True, slots=True)
class Admitted:
    """A message to be leased when it is due."""

    message: Message
    change: Change | None = None  # the lease, once it was tried and not answered
    tries: int = 0


@value(frozen=True, kw_only=True, slots=True)
class Run:
    task: Task
    message: Message
    context: Context

    @property
    def holder(self) -> str:
        if self.task.holder is None:
            raise ValueError(f"task {self.task.id} is not leased")
        return self.task.holder


@value(frozen=True, kw_only=True, slots=True)
class Ended:
    """A run that is over: with a result, unless with a failure."""

    run: Run
    result: Any = None
    failure: Failure | None = None
    change: Change | None = None  # what records it, once that was tried and not answered


def timed_out(run: Run) -> Ended:
    message = f"not done after its timeout of {run.task.spec.timeout:g} s"
    error = TaskError(type="TimedOut", message=message)
    return Ended(run=run, failure=Failure(outcome=Outcome.TIMED_OUT, error=error))


def cancelled(run: Run) -> Ended:
    error = TaskError(type="Cancelled", message="cancelled while it ran")
    return Ended(run=run, failure=Failure(outcome=Outcome.CANCELLED, error=error))


def failed(run: Run, error: BaseException) -> Ended:
    message = storable(_told(error), MESSAGE_LIMIT)
    if isinstance(error, TargetFailed):
        failure = Failure(
            outcome=Outcome.FAILED,
            error=TaskError(type=error.type, message=message),
            permanent=error.permanent,
            retry_after=error.retry_after,
        )
    else:
        failure = Failure(
            outcome=Outcome.FAILED,
            error=TaskError(type=type(error).__name__, message=message),
            permanent=isinstance(error, PermanentError),
        )
    return Ended(run=run, failure=failure)


def check_result(result: Any) -> None:
    """A result that cannot be stored fails the attempt with a reason, not the executor."""
    if result is None:
        return
    try:
        size = len(to_json(result).encode())
    except (TypeError, ValueError, RecursionError) as error:
        reason = f"the result is not JSON: {error}"
        raise TargetFailed("BadResult", reason, permanent=True) from None
    if size > RESULT_LIMIT:
        raise TargetFailed("BadResult", "the result is over 64 KiB", permanent=True)


def _told(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - it is a handler's own class
        return "an error that cannot say what it is"
