"""What the embedded store asks its tables."""

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from duetime.embedded.rows import COLUMNS, Row, read_task
from lambdas.core import codec
from lambdas.core.dead import Death, Deaths
from lambdas.core.errors import Corrupt
from lambdas.core.ports import Listing, Reservation
from lambdas.core.task import Task
from lambdas.core.times import Millis
from lambdas.core.wakes import Wake, WakeKind, parse_wake

log = logging.getLogger(__name__)

READ_LIMIT = 1_000  # rows that one page may look at
LAST = "~"  # sorts behind every id


def load(connection: sqlite3.Connection, task_ids: Sequence[str]) -> dict[str, Task]:
    return {row[0]: read_task(connection, row) for row in rows_of(connection, task_ids)}


def load_each(connection: sqlite3.Connection, task_ids: Sequence[str]) -> dict[str, Task | Corrupt]:
    return {row[0]: try_reading(connection, row) for row in rows_of(connection, task_ids)}


def try_reading(connection: sqlite3.Connection, row: Row) -> Task | Corrupt:
    try:
        return read_task(connection, row)
    except Corrupt as error:
        return error


def wakes_in(connection: sqlite3.Connection, bucket: str, kind: WakeKind | None) -> Iterator[Wake]:
    prefix = kind or ""
    rows = connection.execute(
        _wakes("wake_bucket = ?1 AND wake_key >= ?2 AND wake_key < ?3"),
        (bucket, prefix, f"{prefix}~"),
    ).fetchall()
    return _readable(rows)


def few_wakes(connection: sqlite3.Connection, limit: int) -> list[Wake] | None:
    rows = connection.execute(
        f"{_wakes('wake_bucket IS NOT NULL')} LIMIT ?", (limit + 1,)
    ).fetchall()
    return None if len(rows) > limit else list(_readable(rows))


@cache
def _wakes(condition: str) -> str:
    """Those of tasks and schedules, merged in the order of their indexes."""
    found = " UNION ALL ".join(
        f"SELECT wake_bucket, wake_key FROM {table} WHERE {condition}"
        for table in ("tasks", "schedules")
    )
    return f"{found} ORDER BY wake_bucket, wake_key"


def _readable(rows: Iterable[tuple[str, str]]) -> Iterator[Wake]:
    for bucket, key in rows:
        try:
            yield parse_wake(bucket, key)
        except (ValueError, IndexError):  # it must not hold up the rest of its bucket
            log.exception("unreadable wake", extra={"wake_bucket": bucket, "wake_key": key})


def rows_of(connection: sqlite3.Connection, task_ids: Sequence[str]) -> list[Row]:
    if not task_ids:
        return []
    return connection.execute(
        f"SELECT {COLUMNS} FROM tasks WHERE id IN (SELECT value FROM json_each(?))",
        (codec.to_json(task_ids),),
    ).fetchall()


def page_ids(connection: sqlite3.Connection, listing: Listing) -> tuple[list[str], str | None]:
    """The ids of a page, and where the next one begins; looks at a bounded number of rows."""
    whose = {"namespace": listing.namespace, "schedule_id": listing.schedule_id}
    given = {name: value for name, value in whose.items() if value is not None}
    terms = " AND ".join(f"{name} = ?" for name in given)
    rows = connection.execute(
        f"SELECT id, status FROM tasks WHERE {terms} AND id < ? ORDER BY id DESC LIMIT ?",
        (*given.values(), min(listing.cursor or LAST, listing.below or LAST), READ_LIMIT),
    ).fetchall()
    return page_of(rows, listing.status, listing.limit)


def page_of(
    rows: Sequence[tuple[str, str]], status: str | None, limit: int
) -> tuple[list[str], str | None]:
    """Of ids and statuses, as many as were looked at: those that are wanted, and where the next
    page begins."""
    wanted = [i for i, found in rows if status in (None, found)]
    if len(wanted) > limit:
        return wanted[:limit], wanted[limit - 1]
    return wanted, rows[-1][0] if len(rows) == READ_LIMIT else None


def deaths(connection: sqlite3.Connection, below: Death, last: Death, wanted: int) -> Deaths:
    rows = connection.execute(
        "SELECT updated_at, id FROM tasks"
        " WHERE status = 'DEAD' AND (updated_at, id) < (?, ?) AND updated_at >= ?"
        " ORDER BY updated_at DESC, id DESC LIMIT ?",
        (*below, last.died_at, wanted + 1),
    ).fetchall()
    return [Death(*row) for row in rows[:wanted]], len(rows) > wanted


def reserve(connection: sqlite3.Connection, wanted: Reservation, now: Millis) -> Reservation:
    row = connection.execute(
        "SELECT task_id, body_hash, expires_at FROM keys"
        " WHERE namespace = ? AND key = ? AND expires_at > ?",
        (wanted.namespace, wanted.key, now),
    ).fetchone()
    if row:
        task_id, body_hash, expires_at = row
        return Reservation(
            namespace=wanted.namespace,
            key=wanted.key,
            task_id=task_id,
            body_hash=body_hash,
            expires_at=expires_at,
        )
    connection.execute(
        "INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?)",
        (wanted.namespace, wanted.key, wanted.task_id, wanted.body_hash, wanted.expires_at),
    )
    return wanted
