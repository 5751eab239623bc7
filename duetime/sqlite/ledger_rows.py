"""The ledger of the schedules: what became of their fire times."""

import logging
from collections.abc import Iterator, Sequence
from functools import cache
from sqlite3 import Connection

from duetime.embedded.bulk import in_chunks, values
from duetime.embedded.rows import Row
from lambdas.core.errors import UNREADABLE
from lambdas.core.schedules.codec import decode_entry, encode_entry
from lambdas.core.schedules.ledger import Entry, LedgerPage, LedgerRow, kept_until
from lambdas.core.times import Millis

log = logging.getLogger(__name__)

COLUMNS = ("schedule_id", "key", "version", "entry", "kept_until")
LAST = "~"  # sorts behind every key
MOST_AT_ONCE = 5_000  # rows that one commit deletes


def row_of(entry: Entry, now: Millis) -> Row:
    version = entry.version if isinstance(entry, LedgerRow) else 0  # spans are of no version
    return (entry.schedule_id, entry.key, version, encode_entry(entry), kept_until(entry, now))


def write_rows(connection: Connection, rows: Sequence[Row], now: Millis) -> None:
    """Whoever writes also clears away, twice as fast: so what is over never piles up."""
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
    """Whether there may be more."""
    deleted = connection.execute(
        "DELETE FROM ledger WHERE (schedule_id, key) IN"
        " (SELECT schedule_id, key FROM ledger WHERE schedule_id = ? LIMIT ?)",
        (schedule_id, MOST_AT_ONCE),
    )
    return deleted.rowcount == MOST_AT_ONCE


def _readable(schedule_id: str, rows: Sequence[Row]) -> Iterator[Entry]:
    for key, text in rows:
        try:
            yield decode_entry(schedule_id, key, text)
        except UNREADABLE as error:
            log.error("left out: %s", f"{schedule_id} {key}: {error!r}")


@cache
def _insert(size: int) -> str:
    """A row of a newer version is left as it is: whoever wrote it knew better."""
    return (
        f"INSERT INTO ledger ({', '.join(COLUMNS)}) VALUES {values(size, COLUMNS)}"
        " ON CONFLICT (schedule_id, key) DO UPDATE SET"
        " version = excluded.version, entry = excluded.entry, kept_until = excluded.kept_until"
        " WHERE excluded.version >= ledger.version"
    )
