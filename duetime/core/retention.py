"""Retention: how long a task is kept once nothing can happen to it any more."""

from lambdas.core.lifecycle import Status
from lambdas.core.task import Spec
from lambdas.core.times import DAY, Millis

RETENTION: Millis = 30 * DAY
LEDGER: Millis = 90 * DAY  # of a schedule: what it says, and the tasks that it names


def kept_for(spec: Spec, retention: Millis) -> Millis:
    """The ledger tells what became of an occurrence, as its task has it."""
    return max(retention, LEDGER) if spec.occurrence else retention


def kept_until(status: Status, at: Millis, kept_for: Millis) -> Millis | None:
    """For a task that came to its status at that time. None while it may not be removed: it goes
    on, or it is dead and waits for a redrive, however long that takes."""
    return at + kept_for if status.final else None
