"""What a change of status is measured by. Every figure is told by lane."""

from collections.abc import Iterator

from lambdas.core.events import StatusChange
from lambdas.core.lifecycle import Outcome, Status
from lambdas.core.values import value

_FAST_PATH = {Status.ENQUEUED: 1, Status.PENDING: 0}  # sent at once, or left to the scanner


@value(frozen=True, slots=True)
class Measure:
    name: str
    amount: float
    unit: str = "Count"


def measures_of(change: StatusChange) -> Iterator[Measure]:
    if change.before is None and change.after in _FAST_PATH:
        yield Measure("FastPath", _FAST_PATH[change.after])
    # The outcome says when the target was called; the lease before it could not know.
    if change.before is Status.RUNNING and change.drift_ms is not None:
        yield Measure("Drift", change.drift_ms, "Milliseconds")
    if _failed(change) and change.after is Status.RETRYING:
        yield Measure("Retries", 1)
    if change.after.finished:
        yield Measure(change.after.title(), 1)


def _failed(change: StatusChange) -> bool:
    """Neither a revival nor a snooze is a failure."""
    return change.before is Status.RUNNING and change.outcome is not Outcome.SNOOZED
