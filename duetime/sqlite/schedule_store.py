"""Schedules in SQLite: the SQLite backend's ScheduleStore.

See duetime.sqlite.revised_rows for how a schedule is replaced.
"""

import logging
from collections.abc import Callable, Sequence
from sqlite3 import Connection

from duetime.core.change import Applied, Refused, Unknown, Unreadable
from duetime.core.errors import Corrupt, Unavailable
from duetime.core.ids import is_id
from duetime.core.list_positions import LAST
from duetime.core.ports import Clock
from duetime.core.schedules.apps import Apps, Superseded, decode_apps, encode_apps
from duetime.core.schedules.ledger import Entry, LedgerPage
from duetime.core.schedules.ports import ScheduleAnswer, ScheduleListing, SchedulePage
from duetime.core.schedules.schedule import Schedule
from duetime.core.times import Millis
from duetime.core.wakes import Wake
from duetime.sqlite import ledger_rows as ledger
from duetime.sqlite.cursor_store import read_setting, write_setting
from duetime.sqlite.database import Database
from duetime.sqlite.listing import READ_LIMIT, page_of
from duetime.sqlite.revised_rows import Write
from duetime.sqlite.schedule_rows import (
    REVISION,
    SCHEDULES,
    read_row,
    read_schedules,
    schedule_write,
)
from duetime.sqlite.task_rows import Row

log = logging.getLogger(__name__)

APPS = "apps"  # the setting with the apps


class SqliteScheduleStore:
    """`clock` decides which ledger entries have expired."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def put(self, schedules: Sequence[Schedule]) -> list[ScheduleAnswer]:
        wanted = [schedule_write(schedule) for schedule in schedules]  # before the lock is taken
        try:
            return self._database.write(lambda c: _put(c, schedules, wanted))
        except Unavailable as error:
            return [Unknown(str(error))] * len(schedules)

    def get(self, schedule_ids: Sequence[str]) -> dict[str, Schedule]:
        with self._database.read() as connection:
            return _readable(connection, schedule_ids)

    def exist(self, schedule_ids: Sequence[str]) -> set[str]:
        with self._database.read() as connection:
            return set(SCHEDULES.rows_of(connection, schedule_ids))

    def delete(self, schedule_id: str) -> None:
        self._database.write(lambda c: SCHEDULES.delete(c, [schedule_id]))
        self._delete_ledger(schedule_id)

    def put_declared(self, schedule: Schedule) -> ScheduleAnswer:
        wanted = [schedule_write(schedule)]
        declared = schedule.plan.declared
        if declared is None:
            raise ValueError(f"schedule {schedule.id} is not declared in code")

        def put(connection: Connection) -> ScheduleAnswer:
            _check_current(connection, declared.app, declared.generation)
            return _put(connection, [schedule], wanted)[0]

        return self._answered(put)

    def delete_declared(self, schedule: Schedule, generation: int) -> ScheduleAnswer:
        app = schedule.plan.declared.app if schedule.plan.declared else ""

        def delete(connection: Connection) -> ScheduleAnswer:
            _check_current(connection, app, generation)
            existing = SCHEDULES.rows_of(connection, [schedule.id]).get(schedule.id)
            if existing is not None and existing[REVISION] != schedule.revision:
                return _refuse(connection, existing)
            SCHEDULES.delete(connection, [schedule.id])
            return Applied(schedule)

        answer = self._answered(delete)
        if isinstance(answer, Applied):
            self._delete_ledger(schedule.id)
        return answer

    def apps(self) -> Apps:
        with self._database.read() as connection:
            return _apps(connection)

    def put_apps(self, apps: Apps) -> bool:
        return self._database.write(lambda c: _put_apps(c, apps))

    def _answered(self, write: Callable[[Connection], ScheduleAnswer]) -> ScheduleAnswer:
        try:
            return self._database.write(write)
        except Unavailable as error:
            return Unknown(str(error))

    def _delete_ledger(self, schedule_id: str) -> None:
        more = True
        while more:  # other threads can write in between
            more = self._database.write(lambda c: ledger.delete_some(c, schedule_id))

    def set_aside(self, found: Wake, later: Wake) -> None:
        self._database.write(lambda c: SCHEDULES.set_aside(c, found, later))

    def page(self, listing: ScheduleListing) -> SchedulePage:
        if listing.cursor is not None and not is_id(listing.cursor):
            raise ValueError("not a cursor of this list")
        with self._database.read() as connection:
            ids, cursor = _page_ids(connection, listing)
            found = _readable(connection, ids)
        return SchedulePage(schedules=[found[i] for i in ids if i in found], cursor=cursor)

    def write_ledger(self, entries: Sequence[Entry], now: Millis) -> None:
        rows = [ledger.row_of(entry, now) for entry in entries]
        self._database.write(lambda c: ledger.write_entries(c, rows, now))

    def ledger(self, schedule_id: str, below: str | None, limit: int) -> LedgerPage:
        with self._database.read() as connection:
            return ledger.read_page(connection, schedule_id, below, limit, self._clock.now())


def _put(
    connection: Connection, schedules: Sequence[Schedule], wanted: Sequence[Write]
) -> list[ScheduleAnswer]:
    return [
        Applied(schedule) if stored else _refuse(connection, existing)
        for schedule, (stored, existing) in zip(
            schedules, SCHEDULES.put(connection, wanted), strict=True
        )
    ]


def _refuse(connection: Connection, existing: Row | None) -> ScheduleAnswer:
    if existing is None:
        return Refused(None)
    found = read_row(connection, existing)
    return Unreadable(str(found)) if isinstance(found, Corrupt) else Refused(found)


def _apps(connection: Connection) -> Apps:
    text = read_setting(connection, APPS)
    if text is None:
        return Apps()
    revision, _, apps = text.partition(" ")
    return decode_apps(apps, int(revision))


def _put_apps(connection: Connection, apps: Apps) -> bool:
    stored = _apps(connection)
    if stored.revision != apps.revision - 1:
        return stored == apps
    write_setting(connection, APPS, f"{apps.revision} {encode_apps(apps)}")
    return True


def _check_current(connection: Connection, app: str, generation: int) -> None:
    """Of two generations of an app only the newer can write, from the moment it begins."""
    if _apps(connection).get(app).current != generation:
        raise Superseded(app, generation)


def _readable(connection: Connection, schedule_ids: Sequence[str]) -> dict[str, Schedule]:
    found = read_schedules(connection, schedule_ids)
    for schedule_id, schedule in found.items():
        if isinstance(schedule, Corrupt):
            fields = {"schedule_id": schedule_id, "reason": str(schedule)}
            log.error("schedule skipped: unreadable", extra=fields)
    return {i: schedule for i, schedule in found.items() if isinstance(schedule, Schedule)}


def _page_ids(connection: Connection, listing: ScheduleListing) -> tuple[list[str], str | None]:
    """Returns the ids of a page and the cursor of the next. Reads at most READ_LIMIT rows."""
    where = "id < ?" if listing.namespace is None else "id < ? AND namespace = ?"
    names = [] if listing.namespace is None else [listing.namespace]
    rows = connection.execute(
        f"SELECT id, status FROM schedules WHERE {where} ORDER BY id DESC LIMIT ?",
        (listing.cursor or LAST, *names, READ_LIMIT),
    ).fetchall()
    return page_of(rows, listing.status, listing.limit)
