"""Schedules in SQLite: the embedded backend's ScheduleStore.

The runner is the only writer (see Database), so to replace a schedule is: look at the row that
stands there, compare revisions, write. A batch is a few statements, whatever its size (see bulk).
"""

import logging
from collections.abc import Sequence
from sqlite3 import Connection

from duetime.embedded import ledger
from duetime.embedded.bulk import put_schedules, update_schedules
from duetime.embedded.database import Database
from duetime.embedded.queries import LAST, READ_LIMIT, page_of
from duetime.embedded.rows import Row
from duetime.embedded.schedule_rows import (
    PLAN,
    REVISION,
    forget_plan,
    hot_part,
    keep_plan,
    read_row,
    read_schedules,
    row_of,
    rows_of,
)
from lambdas.core.change import Unknown, Unreadable
from lambdas.core.errors import Corrupt, Unavailable
from lambdas.core.ids import is_id
from lambdas.core.ports import Clock
from lambdas.core.schedules.codec import encode_plan
from lambdas.core.schedules.ledger import Entry, LedgerPage
from lambdas.core.schedules.ports import (
    Differs,
    ScheduleAnswer,
    ScheduleListing,
    SchedulePage,
    Stands,
)
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.times import Millis
from lambdas.core.wakes import Wake

log = logging.getLogger(__name__)

_Written = tuple[Schedule, str, Row]  # with its plan as a text


class EmbeddedSchedules:
    """`clock` tells which entries of the ledger are over."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def put(self, schedules: Sequence[Schedule]) -> list[ScheduleAnswer]:
        wanted = [_written(schedule) for schedule in schedules]  # before it is our turn
        try:
            return self._database.write(lambda c: _put(c, wanted))
        except Unavailable as error:
            return [Unknown(str(error))] * len(schedules)

    def get(self, schedule_ids: Sequence[str]) -> dict[str, Schedule]:
        with self._database.read() as connection:
            return _readable(connection, schedule_ids)

    def exist(self, schedule_ids: Sequence[str]) -> set[str]:
        with self._database.read() as connection:
            return set(rows_of(connection, schedule_ids))

    def delete(self, schedule_id: str) -> None:
        self._database.write(lambda c: _delete(c, schedule_id))
        more = True
        while more:  # others write in between
            more = self._database.write(lambda c: ledger.delete_some(c, schedule_id))

    def set_aside(self, found: Wake, later: Wake) -> None:
        self._database.write(
            lambda c: c.execute(
                "UPDATE schedules SET wake_bucket = ?, wake_key = ?"
                " WHERE id = ? AND wake_bucket = ? AND wake_key = ?",
                (later.bucket, later.key, found.task_id, found.bucket, found.key),
            )
        )

    def page(self, listing: ScheduleListing) -> SchedulePage:
        if listing.cursor is not None and not is_id(listing.cursor):
            raise ValueError("not a cursor of this list")
        with self._database.read() as connection:
            ids, cursor = _page_ids(connection, listing)
            found = _readable(connection, ids)
        return SchedulePage(schedules=[found[i] for i in ids if i in found], cursor=cursor)

    def note(self, entries: Sequence[Entry], now: Millis) -> None:
        rows = [ledger.row_of(entry, now) for entry in entries]
        self._database.write(lambda c: ledger.write_rows(c, rows, now))

    def ledger(self, schedule_id: str, below: str | None, limit: int) -> LedgerPage:
        with self._database.read() as connection:
            return ledger.read_page(connection, schedule_id, below, limit, self._clock.now())


def _written(schedule: Schedule) -> _Written:
    plan = encode_plan(schedule.plan)
    return schedule, plan, row_of(schedule, plan)


def _put(connection: Connection, wanted: Sequence[_Written]) -> list[ScheduleAnswer]:
    standing = rows_of(connection, [schedule.id for schedule, *_ in wanted])
    changed: dict[str, Row] = {}
    replanned: set[str] = set()
    answers: list[ScheduleAnswer] = []
    for schedule, plan, row in wanted:
        there = standing.get(schedule.id)
        seen = there[REVISION] if there else 0
        if row != there and schedule.revision != seen + 1:
            answers.append(_other(connection, there))
            continue
        if row != there:
            standing[schedule.id] = changed[schedule.id] = row
        if there is None or row[PLAN] != there[PLAN]:
            replanned.add(schedule.id)
            keep_plan(connection, there, row, plan)
        answers.append(Stands(schedule))
    put_schedules(connection, [row for i, row in changed.items() if i in replanned])
    update_schedules(connection, [hot_part(r) for i, r in changed.items() if i not in replanned])
    return answers


def _other(connection: Connection, there: Row | None) -> ScheduleAnswer:
    if there is None:
        return Differs(None)
    found = read_row(connection, there)
    return Unreadable(str(found)) if isinstance(found, Corrupt) else Differs(found)


def _delete(connection: Connection, schedule_id: str) -> None:
    connection.execute("DELETE FROM schedules WHERE id = ?", (schedule_id,))
    forget_plan(connection, schedule_id)


def _readable(connection: Connection, schedule_ids: Sequence[str]) -> dict[str, Schedule]:
    found = read_schedules(connection, schedule_ids)
    for schedule in found.values():
        if isinstance(schedule, Corrupt):
            log.error("left out: %s", schedule)
    return {i: schedule for i, schedule in found.items() if isinstance(schedule, Schedule)}


def _page_ids(connection: Connection, listing: ScheduleListing) -> tuple[list[str], str | None]:
    """The ids of a page, and where the next one begins; looks at a bounded number of rows."""
    rows = connection.execute(
        "SELECT id, status FROM schedules WHERE namespace = ? AND id < ? ORDER BY id DESC LIMIT ?",
        (listing.namespace, listing.cursor or LAST, READ_LIMIT),
    ).fetchall()
    return page_of(rows, listing.status, listing.limit)
