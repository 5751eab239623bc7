"""The ledger of a schedule: the outcomes of its fire times, as rows with an expiry."""

import logging
from collections.abc import Iterator, Sequence
from functools import cache
from sqlite3 import Connection

from duetime.core.errors import UNREADABLE
from duetime.core.schedules.codec import decode_entry, encode_entry
from duetime.core.schedules.ledger import Entry, LedgerPage, LedgerRow, kept_until
from duetime.core.times import Millis
from duetime.sqlite.bulk_sql import in_chunks, values
from duetime.sqlite.task_rows import Row

log = logging.getLogger(__name__)

COLUMNS = ("schedule_id", "key", "version", "entry", "kept_until")
LAST = "~"  # sorts after every key
DELETE_BATCH = 5_000  # rows deleted by one commit


def row_of(entry: Entry, now: Millis) -> Row:
    version = entry.version if isinstance(entry, LedgerRow) else 0  # spans have no version
    return (entry.schedule_id, entry.key, version, encode_entry(entry), kept_until(entry, now))


def write_entries(connection: Connection, rows: Sequence[Row], now: Millis) -> None:
    """Write rows, and delete up to twice as many expired ones, so that those never pile up."""
    in_chunks(connection, rows, _insert)
    connection.execute(
        "DELETE FROM ledger WHERE (schedule_id, key) IN"
        " (SELECT schedule_id, key FROM ledger WHERE kept_until <= ? LIMIT ?)",
        (now, 2 * len(rows)),
    )


def read_page(
    connection: Connection, schedule_id: str, below: str | None, limit: int, now: Millis
) -> LedgerPage:
    below, found, more = below or LAST, list[Entry](), True
    while more and len(found) <= limit:
        rows = connection.execute(
            "SELECT key, entry FROM ledger WHERE schedule_id = ? AND key < ? AND kept_until > ?"
            " ORDER BY key DESC LIMIT ?",
            (schedule_id, below, now, limit + 1),
        ).fetchall()
        found += _readable(schedule_id, rows)
        more = len(rows) > limit
        below = rows[-1][0] if rows else below
    return LedgerPage(entries=found[:limit], more=len(found) > limit)


def delete_some(connection: Connection, schedule_id: str) -> bool:
    """Deletes one batch of a schedule's rows. Returns whether there may be more."""
    deleted = connection.execute(
        "DELETE FROM ledger WHERE (schedule_id, key) IN"
        " (SELECT schedule_id, key FROM ledger WHERE schedule_id = ? LIMIT ?)",
        (schedule_id, DELETE_BATCH),
    )
    return deleted.rowcount == DELETE_BATCH


def _readable(schedule_id: str, rows: Sequence[Row]) -> Iterator[Entry]:
    for key, text in rows:
        try:
            yield decode_entry(schedule_id, key, text)
        except UNREADABLE as error:
            fields = {"schedule_id": schedule_id, "key": key, "reason": repr(error)}
            log.error("ledger entry skipped: unreadable", extra=fields)


@cache
def _insert(size: int) -> str:
    """Keeps a row of a newer version: a slow writer must not undo a change."""
    return (
        f"INSERT INTO ledger ({', '.join(COLUMNS)}) VALUES {values(size, COLUMNS)}"
        " ON CONFLICT (schedule_id, key) DO UPDATE SET"
        " version = excluded.version, entry = excluded.entry, kept_until = excluded.kept_until"
        " WHERE excluded.version >= ledger.version"
    )
