"""Retention: how long a task is kept once nothing can happen to it any more."""

from lambdas.core.lifecycle import Status
from lambdas.core.times import DAY, Millis

RETENTION: Millis = 30 * DAY


def kept_until(status: Status, at: Millis, retention: Millis) -> Millis | None:
    """For a task that came to its status at that time. None while it may not be removed: it goes
    on, or it is dead and waits for a redrive, however long that takes."""
    return at + retention if status.final else None
