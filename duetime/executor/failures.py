"""The failure of an attempt, made from the exception that the target raised."""

import traceback
from types import TracebackType

from duetime.core.errors import AskedForDelay, DuetimeError, PermanentError, RateLimited, Snooze
from duetime.core.lifecycle import Outcome
from duetime.core.steps.record import INTERRUPTED, Failure
from duetime.core.task import TaskError, storable
from duetime.core.times import Millis, seconds
from duetime.core.value import replace
from duetime.executor.targets import TargetFailed

TRACEBACK_LIMIT = 1_500  # characters
LINE_LIMIT = 300
FRAMES = 12  # more would not fit, and a deep recursion stays cheap to format
MAX_RELATED = 30  # causes, contexts and members of groups; beyond that only the error is formatted
MACHINERY = (
    "duetime.core",
    "duetime.executor",
    "duetime.handlers",
    "duetime.testing",
    "asyncio",
)  # packages whose frames come before the handler's own
CUT = "…"


def format_traceback(error: BaseException) -> str | None:
    """Returns None if no code of the handler has run."""
    trace = _from_handler(error.__traceback__)
    if trace is None:
        return None
    end = _last_frames(trace)
    text = _format(error, end)
    return storable(_tail(text if end is trace else f"{CUT}\n{text}"), TRACEBACK_LIMIT)


def _from_handler(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and _is_machinery(trace):
        trace = trace.tb_next
    return trace


def _is_machinery(trace: TracebackType) -> bool:
    package = trace.tb_frame.f_globals.get("__package__")
    return isinstance(package, str) and f"{package}.".startswith(tuple(f"{m}." for m in MACHINERY))


def _last_frames(trace: TracebackType) -> TracebackType:
    """Returns the traceback from its last FRAMES frames on. Python itself takes two milliseconds
    to find them in a deep recursion."""
    ahead: TracebackType | None = trace
    for _ in range(FRAMES):
        ahead = ahead and ahead.tb_next
    while ahead is not None and trace.tb_next is not None:
        trace, ahead = trace.tb_next, ahead.tb_next
    return trace


def _format(error: BaseException, trace: TracebackType) -> str:
    try:
        if _has_many_related(error):
            return _format_alone(error, trace)
        summary = traceback.TracebackException(type(error), error, trace, limit=-FRAMES)
        return "".join(summary.format())
    except Exception:  # noqa: BLE001 - the class may be the handler's own
        return _format_alone(error, trace)


def _format_alone(error: BaseException, trace: TracebackType) -> str:
    return "".join(traceback.format_tb(trace, FRAMES)) + type(error).__name__


def _has_many_related(error: BaseException) -> bool:
    seen: set[int] = set()
    ahead: list[BaseException | None] = [error]
    while ahead and len(seen) <= MAX_RELATED:
        one = ahead.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        ahead += (one.__cause__, one.__context__)
        if isinstance(one, BaseExceptionGroup):
            ahead += one.exceptions
    return len(seen) > MAX_RELATED


def _tail(text: str) -> str:
    """Returns as many whole lines from the end as fit. A line that is too long is cut."""
    kept: list[str] = []
    room = TRACEBACK_LIMIT - len(CUT)
    for line in reversed(text.rstrip().splitlines()):
        short = line if len(line) <= LINE_LIMIT else line[: LINE_LIMIT - 1] + CUT
        room -= len(short) + 1
        if room < 0:
            kept.append(CUT)
            break
        kept.append(short)
    return "\n".join(reversed(kept))


MESSAGE_LIMIT = 1_000  # characters of an error that are kept
TYPE_LIMIT = 256


class FailedElsewhere(DuetimeError):
    """Raised for a handler that failed in a child process, which has described the failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.error.traceback or failure.error.message)
        self.failure = failure


class StoppedByDrain(DuetimeError):
    """Raised for a handler that has raised after it saw that its worker drains."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def failure_of(error: BaseException) -> Failure:
    match error:
        case StoppedByDrain(error=cause):
            return replace(INTERRUPTED, error=_task_error(cause, trace=format_traceback(cause)))
        case FailedElsewhere():
            return error.failure
        case TargetFailed():
            return Failure(
                outcome=Outcome.FAILED,
                error=_task_error(error, error.type),
                permanent=error.permanent,
                retry_after=error.retry_after,
            )
        case AskedForDelay() if (delay := _requested_delay(error)) is not None:
            outcome = Outcome.SNOOZED if isinstance(error, Snooze) else Outcome.FAILED
            return Failure(
                outcome=outcome, error=_task_error(error), delay=delay, limited=_limit(error)
            )
    return Failure(
        outcome=Outcome.FAILED,
        error=_task_error(error, trace=format_traceback(error)),
        permanent=isinstance(error, PermanentError),
    )


def _limit(error: AskedForDelay) -> str | None:
    """As below."""
    limit = getattr(error, "limit", None) if isinstance(error, RateLimited) else None
    return limit if isinstance(limit, str) else None


def _requested_delay(error: AskedForDelay) -> Millis | None:
    """Returns None if a subclass in the handler's code has broken the attribute."""
    delay = getattr(error, "seconds", None)
    if isinstance(delay, int | float) and 0 <= delay <= error.LONGEST:
        return seconds(delay)
    return None


def _task_error(
    error: BaseException, kind: str | None = None, trace: str | None = None
) -> TaskError:
    return TaskError(
        type=kind or storable(type(error).__name__, TYPE_LIMIT),
        message=storable(_message(error), MESSAGE_LIMIT),
        traceback=trace,
    )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 - the class may be the handler's own
        return "the error has no message: its __str__ failed"
