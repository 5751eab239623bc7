"""Lists of tasks, newest first: UTC day by day backwards, each day merged from its shards."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from duetime.aws import schema
from duetime.aws.clients import translate_errors
from duetime.aws.parallel import ParallelCalls
from duetime.aws.table import Table
from duetime.aws.task_items import Item
from duetime.core.ids import is_id
from duetime.core.ports import Listing, Page, Shards
from duetime.core.task import Task
from duetime.core.times import DAY, MINUTE, SECOND, Millis
from duetime.core.value import value
from duetime.core.wakes import shard_of

Keys = tuple[list[str], bool]  # the newest first; and whether there may be more

MAX_QUERY_ROUNDS = 32  # of parallel queries for one page
MAX_TASKS_READ = 500  # for one page
CLOCK_SKEW: Millis = 5 * MINUTE  # between the clocks of the writers


def listing_bucket(task: Task, shards: int) -> str:
    return _bucket(task.spec.namespace, task.created_at // DAY, shard_of(task.id, shards))


@value(frozen=True, kw_only=True, slots=True)
class Position:
    """How far a list has been read: down to a day, and within it down to an id."""

    day: int
    below: str | None = None

    def cursor(self) -> str:
        return urlsafe_b64encode(f"{self.day}/{self.below or ''}".encode()).decode()


def parse_cursor(cursor: str, *, latest: int) -> Position:
    try:
        day, _, below = urlsafe_b64decode(cursor.encode()).decode().partition("/")
        position = Position(day=int(day), below=below or None)
    except ValueError:
        raise ValueError("not a cursor of this list") from None
    known = position.below is None or is_id(position.below)
    if not known or position.cursor() != cursor or not 0 <= position.day <= latest:
        raise ValueError("not a cursor of this list")
    return position


class Lister:
    def __init__(
        self,
        table: Table,
        parallel: ParallelCalls,
        load: Callable[[Sequence[str]], Mapping[str, Task]],
    ) -> None:
        self._table = table
        self._parallel = parallel
        self._load = load

    def page(self, listing: Listing, *, shards: Shards, now: Millis) -> Page:
        latest, oldest = (now + CLOCK_SKEW) // DAY, (shards.since - CLOCK_SKEW) // DAY
        position = (
            parse_cursor(listing.cursor, latest=latest) if listing.cursor else Position(day=latest)
        )
        found: list[Task] = []
        looked_at = 0
        for _ in range(MAX_QUERY_ROUNDS):
            if position.day < oldest:
                return Page(tasks=found, cursor=None)
            ids, more = self._ids(listing, position, shards.count)
            tasks = self._load(ids)
            looked_at += len(ids)
            for task_id in ids:
                position = Position(day=position.day, below=task_id)
                task = tasks.get(task_id)
                if task is not None and listing.wants(task):
                    found.append(task)
                if len(found) == listing.limit:
                    return Page(tasks=found, cursor=position.cursor())
            if not more:
                position = Position(day=position.day - 1)
            if looked_at >= MAX_TASKS_READ:
                break
        return Page(tasks=found, cursor=position.cursor())

    def _ids(self, listing: Listing, position: Position, shards: int) -> Keys:
        """Returns the next ids of a day, newest first, and whether the day may have more."""
        share = listing.limit // shards + 2
        # A run may have been created the day before its fire time, and is in that day's bucket.
        below = min((i for i in (position.below, listing.below) if i is not None), default=None)
        return merge_shards(
            self._parallel.each(
                lambda shard: self._shard_ids(
                    _bucket(listing.namespace, position.day, shard), below, share
                ),
                range(shards),
            )
        )

    def _shard_ids(self, bucket: str, below: str | None, share: int) -> Keys:
        condition, values = f"{schema.LISTING_BUCKET} = :bucket", {":bucket": bucket}
        if below is not None:
            condition += f" AND {schema.PK} < :below"
            values[":below"] = schema.task_pk(below)
        rows, more = newest_rows(self._table, schema.LISTING_INDEX, condition, values, share)
        return [_id(row) for row in rows], more


def _bucket(namespace: str, day: int, shard: int) -> str:
    return f"{namespace}#{datetime.fromtimestamp(day * DAY // SECOND, UTC):%Y%m%d}#{shard:02d}"


def _id(row: Item) -> str:
    return schema.task_id_of(row[schema.PK]["S"])


def newest_rows(
    table: Table, index: str, condition: str, values: Mapping[str, str], limit: int
) -> tuple[Sequence[Item], bool]:
    """Returns the newest rows of an index that meet a condition, and whether there may be more."""
    named: Any = {name: {"S": value} for name, value in values.items()}
    with translate_errors():
        answer = table.client.query(
            TableName=table.name,
            IndexName=index,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=named,
            ScanIndexForward=False,
            Limit=limit,
        )
    return answer["Items"], "LastEvaluatedKey" in answer


def merge_shards(shards: Sequence[Keys]) -> Keys:
    """Returns the keys of all shards, newest first, as far down as none can be missing."""
    # Below the last key of a shard that has more, keys of that shard may be missing.
    floor = max((keys[-1] for keys, more in shards if more and keys), default="")
    keys = sorted((key for keys, _ in shards for key in keys if key >= floor), reverse=True)
    return keys, any(more for _, more in shards)
