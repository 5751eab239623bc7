"""The wake index: sparse, so that only what is alive is written to it and read from it."""

import logging
from collections.abc import Iterable, Iterator

from lambdas.aws import schema
from lambdas.aws.items import Item
from lambdas.aws.table import Table
from lambdas.core.wakes import Wake, WakeKind, parse_wake

log = logging.getLogger(__name__)

PLACE = f"{schema.WAKE_BUCKET}, {schema.WAKE_KEY}"  # less to read for us; AWS bills the same


def read_bucket(table: Table, bucket: str, kind: WakeKind | None, page: int) -> Iterator[Wake]:
    condition, values = f"{schema.WAKE_BUCKET} = :bucket", {":bucket": bucket}
    if kind is not None:
        condition += f" AND begins_with({schema.WAKE_KEY}, :kind)"
        values[":kind"] = f"{kind}#"
    index = {"IndexName": schema.WAKE_INDEX, "ProjectionExpression": PLACE}
    return _readable(table.query(condition, values, **index, Limit=page))


def read_few(table: Table, limit: int) -> list[Wake] | None:
    """One request. Where many have been, DynamoDB may say that there is more when there is none:
    then nobody learns that they are few, and nothing worse follows."""
    rows, more = table.scan(schema.WAKE_INDEX, limit + 1, ProjectionExpression=PLACE)
    if more or len(rows) > limit:
        return None
    return list(_readable(sorted(rows, key=_place)))


def _readable(rows: Iterable[Item]) -> Iterator[Wake]:
    for bucket, key in map(_place, rows):
        try:
            yield parse_wake(bucket, key)
        except (ValueError, IndexError):  # it must not hold up the rest of its bucket
            log.exception("unreadable wake", extra={"wake_bucket": bucket, "wake_key": key})


def _place(row: Item) -> tuple[str, str]:
    return row[schema.WAKE_BUCKET]["S"], row[schema.WAKE_KEY]["S"]
