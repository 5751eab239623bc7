"""The wake index. It is sparse: only rows with a wake are written to it and read from it."""

import logging
from collections.abc import Iterable, Iterator

from duetime.aws import schema
from duetime.aws.table import Table
from duetime.aws.task_items import Item
from duetime.core.wakes import Wake, WakeKind, parse_wake

log = logging.getLogger(__name__)

WAKE_ATTRIBUTES = (
    f"{schema.WAKE_BUCKET}, {schema.WAKE_KEY}"  # AWS bills the same; there is less to parse
)


def read_bucket(table: Table, bucket: str, kind: WakeKind | None, page: int) -> Iterator[Wake]:
    condition, values = f"{schema.WAKE_BUCKET} = :bucket", {":bucket": bucket}
    if kind is not None:
        condition += f" AND begins_with({schema.WAKE_KEY}, :kind)"
        values[":kind"] = f"{kind}#"
    index = {"IndexName": schema.WAKE_INDEX, "ProjectionExpression": WAKE_ATTRIBUTES}
    return readable_wakes(table.query(condition, values, **index, Limit=page))


def read_few(table: Table, limit: int) -> list[Wake] | None:
    """Returns every wake if there are at most `limit`, with one request. After many deletions
    DynamoDB may report more rows when there are none; the answer is then None, which is safe."""
    rows, more = table.scan(schema.WAKE_INDEX, limit + 1, ProjectionExpression=WAKE_ATTRIBUTES)
    if more or len(rows) > limit:
        return None
    return list(readable_wakes(sorted(rows, key=_key_of)))


def readable_wakes(rows: Iterable[Item]) -> Iterator[Wake]:
    for bucket, key in map(_key_of, rows):
        try:
            yield parse_wake(bucket, key)
        except (ValueError, IndexError):  # it must not delay the rest of its bucket
            fields = {"step": "scan", "wake_bucket": bucket, "wake_key": key}
            log.exception("wake skipped: unreadable", extra=fields)


def _key_of(row: Item) -> tuple[str, str]:
    return row[schema.WAKE_BUCKET]["S"], row[schema.WAKE_KEY]["S"]
