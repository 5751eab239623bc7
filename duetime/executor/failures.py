"""What an exception says about the attempt that raised it."""

from lambdas.core.errors import AskedForDelay, DuetimeError, PermanentError, Snooze
from lambdas.core.lifecycle import Outcome
from lambdas.core.steps.record import Failure
from lambdas.core.task import TaskError, storable
from lambdas.core.times import Millis, seconds
from lambdas.executor.targets import TargetFailed
from lambdas.executor.traces import told_trace

MESSAGE_LIMIT = 1_000  # characters of an error that are kept
TYPE_LIMIT = 256


class FailedElsewhere(DuetimeError):
    """A handler that failed in a child; what there is to say of it was said there."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.error.traceback or failure.error.message)
        self.failure = failure


def failure_of(error: BaseException) -> Failure:
    match error:
        case FailedElsewhere():
            return error.failure
        case TargetFailed():
            return Failure(
                outcome=Outcome.FAILED,
                error=_told(error, error.type),
                permanent=error.permanent,
                retry_after=error.retry_after,
            )
        case AskedForDelay() if (delay := _asked(error)) is not None:
            outcome = Outcome.SNOOZED if isinstance(error, Snooze) else Outcome.FAILED
            return Failure(outcome=outcome, error=_told(error), delay=delay)
    return Failure(
        outcome=Outcome.FAILED,
        error=_told(error, trace=told_trace(error)),
        permanent=isinstance(error, PermanentError),
    )


def _asked(error: AskedForDelay) -> Millis | None:
    """None if a class of the handler's own has made something else of it."""
    asked = getattr(error, "seconds", None)
    if isinstance(asked, int | float) and 0 <= asked <= error.LONGEST:
        return seconds(asked)
    return None


def _told(error: BaseException, kind: str | None = None, trace: str | None = None) -> TaskError:
    return TaskError(
        type=kind or storable(type(error).__name__, TYPE_LIMIT),
        message=storable(_message(error), MESSAGE_LIMIT),
        traceback=trace,
    )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 - it is a handler's own class
        return "an error that cannot say what it is"
