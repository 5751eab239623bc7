"""Start decisions: what the executor does with an occurrence before it takes the lease.

A decision may replace the schedule; then it is valid only once that write has succeeded.
"""

from duetime.core.schedules.schedule import Schedule
from duetime.core.times import Millis
from duetime.core.value import value

# Why an occurrence was cancelled: the `reason` of its task.
DELETED, CHANGED, PAUSED = "deleted", "changed", "paused"
OVERLAP, MISFIRE = "overlap", "misfire"


@value(frozen=True, kw_only=True, slots=True)
class Start:
    schedule: Schedule | None = None  # to be written; None: nothing


@value(frozen=True, kw_only=True, slots=True)
class Skip:
    """The occurrence never starts."""

    reason: str
    schedule: Schedule | None = None


@value(frozen=True, kw_only=True, slots=True)
class Wait:
    """The occurrence waits for the end of the active run, or for its time; then its delivery is
    sent again."""

    schedule: Schedule | None = None
    cancels: tuple[str, ...] = ()  # tasks to cancel in its favour
    wakes: str | None = None  # a task that has waited longer, and starts first
    polls: bool = False  # the end of the active run may go unreported: check again later
    until: Millis | None = None  # when to check again, if it waits for its time


@value(frozen=True, kw_only=True, slots=True)
class Park:
    """The occurrence is late, and waits for its turn in a span of the schedule."""

    schedule: Schedule | None = None


Decision = Start | Skip | Wait | Park
