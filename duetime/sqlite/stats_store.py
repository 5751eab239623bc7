"""Statistics in SQLite: the SQLite backend's StatsStore.

Its writes do not wait for the disk. A row of an hour is written with those of its minutes.
"""

import json
from collections.abc import Sequence
from sqlite3 import Connection

from duetime.core.stats.counts import Counts, LaneCounts
from duetime.core.stats.ports import HOURS_KEPT, MINUTES_KEPT, StatsPage
from duetime.core.times import HOUR, MINUTE, Millis
from duetime.sqlite.database import Database

FIND = "SELECT counts FROM stats WHERE span = ? AND start = ? AND lane = ?"
WRITE = "INSERT OR REPLACE INTO stats VALUES (?, ?, ?, ?)"
READ = "SELECT start, lane, counts FROM stats WHERE span = ? AND start >= ? AND start < ?"
REMOVE_OLD = "DELETE FROM stats WHERE span = ? AND start < ?"


class SqliteStatsStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, counted: Sequence[LaneCounts]) -> None:
        def write(connection: Connection) -> None:
            for row in counted:
                _add(connection, MINUTE, row)
                _add(connection, HOUR, row)

        self._database.write(write, durable=False)

    def minutes(self, since: Millis, until: Millis) -> StatsPage:
        return self._read(MINUTE, since, until)

    def hours(self, since: Millis, until: Millis) -> StatsPage:
        return self._read(HOUR, since, until)

    def _read(self, span: Millis, since: Millis, until: Millis) -> StatsPage:
        with self._database.read() as connection:
            found = connection.execute(READ, (span, since, until)).fetchall()
        rows = [
            LaneCounts(start=start, lane=lane, counts=_decode(text)) for start, lane, text in found
        ]
        return StatsPage(rows=rows, since=since)


def _add(connection: Connection, span: Millis, row: LaneCounts) -> None:
    start = row.start // span * span
    found = connection.execute(FIND, (span, start, str(row.lane))).fetchone()
    if found is None and span == HOUR:
        _remove_old(connection, start)
    counts = _decode(found[0]) if found else Counts()
    counts.merge(row.counts)
    connection.execute(WRITE, (span, start, str(row.lane), _encode(counts)))


def _remove_old(connection: Connection, now: Millis) -> None:
    connection.execute(REMOVE_OLD, (MINUTE, now - MINUTES_KEPT))
    connection.execute(REMOVE_OLD, (HOUR, now - HOURS_KEPT))


def _encode(counts: Counts) -> str:
    return json.dumps([counts.numbers, counts.maxima], separators=(",", ":"))


def _decode(text: str) -> Counts:
    return Counts(*json.loads(text))
