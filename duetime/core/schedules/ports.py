"""What the roles need to keep schedules. See lambdas.core.ports for the rest."""

from collections.abc import Sequence
from typing import Protocol

from lambdas.core.change import Unknown
from lambdas.core.schedules.ledger import Entry, LedgerPage
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus
from lambdas.core.times import Millis
from lambdas.core.values import value
from lambdas.core.wakes import Wake


@value(frozen=True, slots=True)
class Stands:
    """The schedule stands as it was given."""

    schedule: Schedule


@value(frozen=True, slots=True)
class Differs:
    """Something else stands there, and stays; None if nothing does."""

    schedule: Schedule | None


ScheduleAnswer = Stands | Differs | Unknown


@value(frozen=True, kw_only=True, slots=True)
class ScheduleListing:
    """Which schedules to list; newest first."""

    namespace: str = "default"
    status: ScheduleStatus | None = None
    limit: int = 50
    cursor: str | None = None


@value(frozen=True, kw_only=True, slots=True)
class SchedulePage:
    schedules: Sequence[Schedule]
    cursor: str | None


class ScheduleStore(Protocol):
    """Schedules and their ledgers. The wakes of schedules stand in the wake index of the tasks."""

    def put(self, schedules: Sequence[Schedule]) -> list[ScheduleAnswer]:
        """Store each schedule whose revision is one more than that of what stands there; one
        with revision 1 if nothing does. One that stands there already, because the write was
        made and its answer lost, stands."""
        ...

    def get(self, schedule_ids: Sequence[str]) -> dict[str, Schedule]:
        """The schedules that exist, as they are after every write that has been answered. One
        that cannot be read is left out, and told in the log."""
        ...

    def exist(self, schedule_ids: Sequence[str]) -> set[str]:
        """Those that stand there, whether they can be read or not: what `get` leaves out need not
        be deleted."""
        ...

    def delete(self, schedule_id: str) -> None:
        """Whatever its revision. Its ledger goes too, by and by."""
        ...

    def set_aside(self, found: Wake, later: Wake) -> None:
        """Move the wake of a schedule, if it still stands, without reading the schedule."""
        ...

    def page(self, listing: ScheduleListing) -> SchedulePage: ...

    def note(self, entries: Sequence[Entry], now: Millis) -> None:
        """Write into the ledger. Repeating it changes nothing; a row of an older version than
        the one that stands there is left out."""
        ...

    def ledger(self, schedule_id: str, below: str | None, limit: int) -> LedgerPage:
        """What is written below a key, the newest first."""
        ...
