"""What the executor decides about an occurrence whose time has come, before it takes the lease.

Each decision may replace the schedule; it holds only once that write has succeeded.
"""

from lambdas.core.schedules.schedule import Schedule
from lambdas.core.times import Millis
from lambdas.core.values import value

# Why an occurrence was cancelled, as its task says.
DELETED, CHANGED, PAUSED = "deleted", "changed", "paused"
OVERLAP, MISFIRE = "overlap", "misfire"


@value(frozen=True, kw_only=True, slots=True)
class Start:
    schedule: Schedule | None = None  # None: there is nothing to write


@value(frozen=True, kw_only=True, slots=True)
class Skip:
    """It never starts."""

    reason: str
    schedule: Schedule | None = None


@value(frozen=True, kw_only=True, slots=True)
class Wait:
    """It waits for the end of the run that goes on, or for its time; then its delivery is sent
    again."""

    schedule: Schedule | None = None
    cancels: tuple[str, ...] = ()  # tasks that make room for it
    wakes: str | None = None  # a task that waited longer, and whose turn it is
    polls: bool = False  # the end of the run may go unreported: look again after a while
    until: Millis | None = None  # when to look again, if it waits for its time


@value(frozen=True, kw_only=True, slots=True)
class Park:
    """It could not start in time, and waits for its turn in a span of the schedule."""

    schedule: Schedule | None = None


Decision = Start | Skip | Wait | Park
