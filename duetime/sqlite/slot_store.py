"""Slots and lines in SQLite: the SQLite backend's SlotStore.

The runner is the only writer (see Database), so a conditional write reads the row and then writes.
"""

from collections.abc import Sequence
from sqlite3 import Connection

from duetime.core.lanes import Lane
from duetime.core.lifecycle import FINISHED
from duetime.core.limits.slots import HEADS, Line, LineState, Place, Slot, SlotWrite
from duetime.core.times import Millis
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import Wake, WakeKind, parse_wake
from duetime.sqlite.database import Database

_READ_SLOTS = "SELECT number, task_id, token, since FROM slots WHERE line = ? ORDER BY number"
_READ_PLACES = (
    "SELECT position, task_id, since FROM places WHERE line = ? ORDER BY position, task_id LIMIT ?"
)
_READ_SLOT = "SELECT number, task_id, token, since FROM slots WHERE line = ? AND number = ?"
_ONE_PLACE = "line = ? AND position = ? AND task_id = ?"


class SqliteSlotStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, lines: Sequence[Line]) -> list[LineState]:
        with self._database.read() as connection:
            return [_read(connection, line.id) for line in lines]

    def replace(self, writes: Sequence[SlotWrite]) -> list[bool]:
        return self._database.write(lambda c: [_replace(c, write) for write in writes])

    def join(self, places: Sequence[tuple[Line, Place]]) -> None:
        rows = [(line.id, p.position, p.task_id, p.since) for line, p in places]
        self._database.write(
            lambda c: c.executemany("INSERT OR IGNORE INTO places VALUES (?, ?, ?, ?)", rows)
        )

    def leave(self, places: Sequence[tuple[Line, Place]]) -> None:
        rows = [_key(line, place) for line, place in places]
        self._database.write(
            lambda c: c.executemany(f"DELETE FROM places WHERE {_ONE_PLACE}", rows)
        )

    def waiting(self, places: Sequence[tuple[Line, Place]]) -> list[bool]:
        select = f"SELECT 1 FROM places WHERE {_ONE_PLACE}"
        with self._database.read() as connection:
            found = [connection.execute(select, _key(*pair)).fetchone() for pair in places]
        return [row is not None for row in found]

    def count_waiting(self, line: Line) -> int:
        with self._database.read() as connection:
            count = "SELECT count(*) FROM places WHERE line = ?"
            return int(connection.execute(count, (line.id,)).fetchone()[0])

    def in_use(self, namespace: str, limit: str) -> bool:
        prefix = Line(namespace=namespace, limit=limit, key="").id
        used = " UNION ALL ".join(
            f"SELECT 1 FROM {table} WHERE line >= ?1 AND line < ?2" for table in ("slots", "places")
        )
        with self._database.read() as connection:
            rows = connection.execute(f"SELECT EXISTS ({used})", (prefix, f"{prefix[:-1]}0"))
            return bool(rows.fetchone()[0])  # "0" is the character after "/"

    def watch_of(self, line: Line) -> Wake | None:
        with self._database.read() as connection:
            return _watch(connection, line.id)

    def move_watch(self, line: Line, before: Wake | None, after: Wake | None) -> bool:
        return self._database.write(lambda c: _move(c, line.id, before, after))

    def watched(self) -> list[Wake]:
        """Returns the watches of all lines."""
        with self._database.read() as connection:
            rows = connection.execute("SELECT wake_bucket, wake_key FROM lines").fetchall()
        return [parse_wake(*row) for row in rows]

    def recover(self, wake_policy: WakePolicy, now: Millis) -> None:
        """Call at the start, when no attempt runs that is not recorded as running: frees the slots
        of attempts that have ended, and lets every line be looked at now. The slot of a running
        attempt is freed by the scanner, which ends that attempt."""
        self._database.write(lambda c: _recover(c, wake_policy, now))


def _read(connection: Connection, line: str) -> LineState:
    slots = connection.execute(_READ_SLOTS, (line,)).fetchall()
    places = connection.execute(_READ_PLACES, (line, HEADS)).fetchall()
    return LineState(
        slots=[_slot(row) for row in slots],
        places=[Place(position=at, task_id=task_id, since=s) for at, task_id, s in places],
    )


def _slot(row: tuple[int, str, str, Millis]) -> Slot:
    number, task_id, token, since = row
    return Slot(number=number, task_id=task_id, token=token, since=since)


def _replace(connection: Connection, write: SlotWrite) -> bool:
    wanted = write.after or write.before
    if wanted is None:
        return True
    line, number = write.line.id, wanted.number
    row = connection.execute(_READ_SLOT, (line, number)).fetchone()
    stored = _slot(row) if row else None
    if not _same(stored, write.before) and not _same(stored, write.after):
        return False
    if write.after is None:
        connection.execute("DELETE FROM slots WHERE line = ? AND number = ?", (line, number))
    else:
        after = write.after
        row = (line, number, after.task_id, after.token, after.since)
        connection.execute("INSERT OR REPLACE INTO slots VALUES (?, ?, ?, ?, ?)", row)
    return True


def _same(stored: Slot | None, other: Slot | None) -> bool:
    if stored is None or other is None:
        return stored is other
    return stored.names(other)


def _key(line: Line, place: Place) -> tuple[str, Millis, str]:
    return line.id, place.position, place.task_id


def _watch(connection: Connection, line: str) -> Wake | None:
    row = connection.execute(
        "SELECT wake_bucket, wake_key FROM lines WHERE id = ?", (line,)
    ).fetchone()
    return parse_wake(*row) if row else None


def _move(connection: Connection, line: str, before: Wake | None, after: Wake | None) -> bool:
    stored = _watch(connection, line)
    if stored == after:
        return True
    if stored != before:
        return False
    if after is None:
        connection.execute("DELETE FROM lines WHERE id = ?", (line,))
    else:
        row = (line, after.bucket, after.key)
        connection.execute("INSERT OR REPLACE INTO lines VALUES (?, ?, ?)", row)
    return True


def _recover(connection: Connection, wake_policy: WakePolicy, now: Millis) -> None:
    ended = ", ".join(f"'{status}'" for status in sorted(FINISHED))
    connection.execute(
        "DELETE FROM slots WHERE token != '' AND NOT EXISTS (SELECT 1 FROM tasks WHERE"
        f" id = slots.task_id AND token = slots.token AND status NOT IN ({ended}))"
    )
    for (line,) in connection.execute("SELECT DISTINCT line FROM places").fetchall():
        wake = wake_policy.wake(WakeKind.LINE, line, Lane.HIGH, now, now=now)
        row = (line, wake.bucket, wake.key)
        connection.execute("INSERT OR REPLACE INTO lines VALUES (?, ?, ?)", row)
