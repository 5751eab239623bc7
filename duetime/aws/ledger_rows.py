"""The ledger as rows beside its schedule. DynamoDB removes them by itself."""

import logging
from collections.abc import Iterator
from itertools import islice

from lambdas.aws import schema
from lambdas.aws.items import Item
from lambdas.aws.rows import Row
from lambdas.aws.table import IS_FREE, Table
from lambdas.core.errors import UNREADABLE, Corrupt
from lambdas.core.schedules.codec import decode_entry, encode_entry
from lambdas.core.schedules.ledger import Entry, LedgerPage, LedgerRow, kept_until
from lambdas.core.times import SECOND, Millis

log = logging.getLogger(__name__)

LAST = "~"  # sorts behind every key
NOT_NEWER = f"{IS_FREE} OR {schema.VERSION} <= :version"


def write_entry(table: Table, entry: Entry, now: Millis) -> None:
    """A row of a newer version is left as it is: whoever wrote it knew better."""
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
        Limit=limit + 2,  # with `below` itself, and one that tells whether there are more
    )
    found = list(islice(_readable(schedule_id, rows, below, now), limit + 1))
    return LedgerPage(entries=found[:limit], more=len(found) > limit)


def _row(entry: Entry, now: Millis) -> Row:
    version = entry.version if isinstance(entry, LedgerRow) else 0  # spans are of no version
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
        if key == below or _is_over(row, now):
            continue
        try:
            yield _read(schedule_id, key, row)
        except Corrupt as error:
            log.error("left out: %s", error)


def _is_over(row: Item, now: Millis) -> bool:
    """DynamoDB takes days to remove what it may."""
    return int(row.get(schema.REMOVE_AFTER, {}).get("N", 0)) * SECOND <= now


def _read(schedule_id: str, key: str, row: Item) -> Entry:
    try:
        return decode_entry(schedule_id, key, row[schema.TEXT]["S"])
    except UNREADABLE as error:
        raise Corrupt(f"{row[schema.PK]['S']} {row[schema.SK]['S']}", repr(error)) from error
