"""The ledger of a schedule, as rows of its partition, which DynamoDB removes by their TTL."""

import logging
from collections.abc import Iterator
from itertools import islice

from duetime.aws import schema
from duetime.aws.related_rows import Row
from duetime.aws.table import KEY_IS_FREE, Table
from duetime.aws.task_items import Item
from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.schedules.codec import decode_entry, encode_entry
from duetime.core.schedules.ledger import Entry, LedgerPage, LedgerRow, kept_until
from duetime.core.times import SECOND, Millis

log = logging.getLogger(__name__)

LAST = "~"  # sorts after every key
NOT_NEWER = f"{KEY_IS_FREE} OR {schema.VERSION} <= :version"


def write_entry(table: Table, entry: Entry, now: Millis) -> None:
    """Write an entry unless a newer version is stored: a slow writer must not undo a change."""
    row = _row(entry, now)
    table.put_if(row, NOT_NEWER, {":version": row[schema.VERSION]})


def read_page(
    table: Table, schedule_id: str, below: str | None, limit: int, now: Millis
) -> LedgerPage:
    rows = table.query(
        f"{schema.PK} = :schedule AND {schema.SK} BETWEEN :first AND :last",
        {
            ":schedule": schema.schedule_pk(schedule_id),
            ":first": schema.LEDGER_PREFIX,
            ":last": schema.ledger_sk(below or LAST),
        },
        ScanIndexForward=False,
        Limit=limit + 2,  # `below` itself, and one to learn whether there are more
    )
    found = list(islice(_readable(schedule_id, rows, below, now), limit + 1))
    return LedgerPage(entries=found[:limit], more=len(found) > limit)


def _row(entry: Entry, now: Millis) -> Row:
    version = entry.version if isinstance(entry, LedgerRow) else 0  # spans have no version
    return {
        schema.PK: {"S": schema.schedule_pk(entry.schedule_id)},
        schema.SK: {"S": schema.ledger_sk(entry.key)},
        schema.TEXT: {"S": encode_entry(entry)},
        schema.VERSION: {"N": str(version)},
        schema.REMOVE_AFTER: {"N": str(kept_until(entry, now) // SECOND + 1)},
    }


def _readable(
    schedule_id: str, rows: Iterator[Item], below: str | None, now: Millis
) -> Iterator[Entry]:
    for row in rows:
        key = row[schema.SK]["S"].removeprefix(schema.LEDGER_PREFIX)
        if key == below or _is_expired(row, now):
            continue
        try:
            yield _read(schedule_id, key, row)
        except Corrupt as error:
            fields = {"schedule_id": schedule_id, "key": key, "reason": str(error)}
            log.error("ledger entry skipped: unreadable", extra=fields)


def _is_expired(row: Item, now: Millis) -> bool:
    """DynamoDB may take days to remove an expired row; until then it is ignored."""
    return int(row.get(schema.REMOVE_AFTER, {}).get("N", 0)) * SECOND <= now


def _read(schedule_id: str, key: str, row: Item) -> Entry:
    try:
        return decode_entry(schedule_id, key, row[schema.TEXT]["S"])
    except UNREADABLE as error:
        raise Corrupt(f"{row[schema.PK]['S']} {row[schema.SK]['S']}", repr(error)) from error
