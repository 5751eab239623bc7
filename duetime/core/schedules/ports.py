"""The interface of the schedule store. See duetime.core.ports for the others."""

from collections.abc import Sequence
from typing import Protocol

from duetime.core.change import Applied, Refused, Unknown
from duetime.core.schedules.apps import Apps
from duetime.core.schedules.ledger import Entry, LedgerPage
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.wakes import Wake

ScheduleAnswer = Applied[Schedule] | Refused[Schedule] | Unknown


@value(frozen=True, kw_only=True, slots=True)
class ScheduleListing:
    """Which schedules to list, newest first."""

    namespace: str | None = "default"  # None: all
    status: ScheduleStatus | None = None
    limit: int = 50
    cursor: str | None = None


@value(frozen=True, kw_only=True, slots=True)
class SchedulePage:
    schedules: Sequence[Schedule]
    cursor: str | None


class ScheduleStore(Protocol):
    """Schedules and their ledgers. Their wakes are in the same wake index as the tasks'."""

    def put(self, schedules: Sequence[Schedule]) -> list[ScheduleAnswer]:
        """Stores each schedule whose revision is one more than the stored one, or is 1 if none is
        stored. A repeated write whose first answer was lost is Applied."""
        ...

    def get(self, schedule_ids: Sequence[str]) -> dict[str, Schedule]:
        """Returns the schedules that exist, after every write that was answered. A schedule that
        cannot be read is omitted and logged."""
        ...

    def exist(self, schedule_ids: Sequence[str]) -> set[str]:
        """Returns the ids that exist, readable or not: a schedule that `get` omits may exist."""
        ...

    def delete(self, schedule_id: str) -> None:
        """Deletes a schedule of any revision. Its ledger is removed over time."""
        ...

    def put_declared(self, schedule: Schedule) -> ScheduleAnswer:
        """Like `put`, for a schedule that the code declares. Raises Superseded, and has stored
        nothing, unless the generation of its declaration is the current one of its app."""
        ...

    def delete_declared(self, schedule: Schedule, generation: int) -> ScheduleAnswer:
        """Deletes a schedule of this revision; Applied if it is gone. Raises Superseded as
        `put_declared` does."""
        ...

    def apps(self) -> Apps:
        """Returns the apps that declare schedules, after every write that was answered."""
        ...

    def put_apps(self, apps: Apps) -> bool:
        """Stores the apps if their revision is one more than the stored one. A repeated write whose
        first answer was lost is made: its nonce is stored. Returns False if another writer was
        faster."""
        ...

    def set_aside(self, found: Wake, later: Wake) -> None:
        """Moves the wake of a schedule, if it has not moved, without reading the schedule."""
        ...

    def page(self, listing: ScheduleListing) -> SchedulePage: ...

    def write_ledger(self, entries: Sequence[Entry], now: Millis) -> None:
        """Writes ledger entries. Repeating it changes nothing. A row does not replace a stored row
        of a newer version."""
        ...

    def ledger(self, schedule_id: str, below: str | None, limit: int) -> LedgerPage:
        """Returns the entries below a key, newest first."""
        ...
