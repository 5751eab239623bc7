"""Lists of tasks, newest first: UTC day by day backwards, each day merged from its shards.

The ids of a task's children begin with the time of its creation (duetime.core.child_ids), so a list
of them reads that one millisecond of each day since."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from duetime.aws import schema
from duetime.aws.clients import translate_errors
from duetime.aws.item_reader import TaskReader
from duetime.aws.parallel import ParallelCalls
from duetime.aws.table import Table
from duetime.aws.task_items import Item
from duetime.core.ids import created_at, new_id
from duetime.core.list_positions import Newest, newest_from
from duetime.core.listings import Listing, Page
from duetime.core.ports import Shards
from duetime.core.task import Task
from duetime.core.task_filter import IDS_AHEAD, TaskFilter
from duetime.core.times import DAY, MINUTE, SECOND, Millis
from duetime.core.value import value
from duetime.core.wakes import shard_of

T = TypeVar("T")
Keys = tuple[list[str], bool]  # the newest first; and whether there may be more

MAX_QUERIES = 128  # of the index, for one page; at least one for each bucket of a day
MAX_TASKS_READ = 500  # or runs, for one page
CLOCK_SKEW: Millis = 5 * MINUTE  # between the clocks of the writers


def listing_bucket(task: Task, shards: int) -> str | None:
    """Returns None for the task of a step: its run shows it. Its id has the time of the run, so it
    would be listed under the wrong day, and the items of a map would fill every list."""
    if task.spec.step:
        return None
    return day_bucket(task.spec.namespace, task.created_at // DAY, shard_of(task.id, shards))


@value(frozen=True, kw_only=True, slots=True)
class _Span:
    """Ids from `first` to `below`, of tasks that were created since a time."""

    since: Millis = 0
    first: str | None = None
    below: str | None = None


class Lister:
    def __init__(self, table: Table, parallel: ParallelCalls, reader: TaskReader) -> None:
        self._table = table
        self._parallel = parallel
        self._reader = reader

    def page(
        self, listing: Listing, namespaces: Sequence[str], *, shards: Shards, now: Millis
    ) -> Page:
        wanted = listing.filter
        span = self._children_span(wanted.parent_id) if wanted.parent_id else _Span()
        latest, oldest = days_of(wanted, shards, now)
        oldest = max(oldest, (span.since - CLOCK_SKEW) // DAY)
        position = newest_from(listing.cursor, latest=latest)
        buckets = [(name, shard) for name in namespaces for shard in range(shards.count)]
        found, cursor = newest_page(
            position,
            oldest=oldest,
            limit=listing.limit,
            queries=len(buckets),
            ids=lambda position: self._ids(listing, position, buckets, span),
            read=lambda ids: self._reader.readable(ids, summary=listing.summary),
            wants=wanted.wants,
        )
        return Page(tasks=found, cursor=cursor)

    def _children_span(self, parent_id: str) -> _Span:
        """Returns where the children of a task are. Of a parent that was removed only its id is
        known: they are no older than that."""
        parent = self._reader.readable([parent_id], summary=True).get(parent_id)
        if parent is None:
            return _Span(since=created_at(parent_id) - IDS_AHEAD)
        at = parent.created_at
        return _Span(since=at, first=new_id(at, 0), below=new_id(at + 1, 0))

    def _ids(
        self,
        listing: Listing,
        position: Newest,
        buckets: Sequence[tuple[str, int]],
        span: _Span,
    ) -> Keys:
        """Returns the next ids of a day, newest first, and whether the day may have more."""
        share = listing.limit // len(buckets) + 2
        # A run may have been created the day before its fire time, and is in that day's bucket.
        bounds = (position.below, listing.filter.below, span.below)
        below = min((bound for bound in bounds if bound is not None), default=None)
        if span.first is not None and below is not None and below <= span.first:
            return [], False
        return merge_shards(
            self._parallel.each(
                lambda at: self._shard_ids(
                    day_bucket(at[0], position.day, at[1]), below, share, span.first
                ),
                buckets,
            )
        )

    def _shard_ids(self, bucket: str, below: str | None, share: int, first: str | None) -> Keys:
        condition, values = f"{schema.LISTING_BUCKET} = :bucket", {":bucket": bucket}
        if below is not None:
            condition += f" AND {schema.PK} < :below"
            values[":below"] = schema.task_pk(below)
        if first is not None:  # a key has one condition: BETWEEN has `below` too
            condition = condition.replace("< :below", "BETWEEN :first AND :below")
            values[":first"] = schema.task_pk(first)
        rows, more = newest_rows(self._table, schema.LISTING_INDEX, condition, values, share)
        return [task_id for row in rows if (task_id := _id(row)) != below], more


def newest_page(
    position: Newest,
    *,
    oldest: int,
    limit: int,
    queries: int,
    ids: Callable[[Newest], Keys],
    read: Callable[[Sequence[str]], Mapping[str, T]],
    wants: Callable[[T], bool],
) -> tuple[list[T], str | None]:
    """Returns the next wanted rows, newest first, and the cursor behind them. It reads day by day
    back to the `oldest`; `ids` takes so many `queries` for each day. A page ends early, with a
    cursor, if many rows are not wanted."""
    found: list[T] = []
    looked_at = 0
    for _ in range(max(MAX_QUERIES // queries, 1)):
        if position.day < oldest:
            return found, None
        names, more = ids(position)
        rows = read(names)
        looked_at += len(names)
        for name in names:
            position = Newest(day=position.day, below=name)
            row = rows.get(name)
            if row is not None and wants(row):
                found.append(row)
            if len(found) == limit:
                return found, position.cursor()
        if not more:
            position = Newest(day=position.day - 1)
        if looked_at >= MAX_TASKS_READ:
            break
    return found, position.cursor()


def days_of(wanted: TaskFilter, shards: Shards, now: Millis) -> tuple[int, int]:
    """Returns the last and the first day on which a wanted task may have been created."""
    latest, oldest = now + CLOCK_SKEW, shards.since - CLOCK_SKEW
    if wanted.created_before is not None:
        latest = min(latest, wanted.created_before - 1)
    if wanted.created_since is not None:
        oldest = max(oldest, wanted.created_since)
    return latest // DAY, oldest // DAY


def day_bucket(namespace: str, day: int, shard: int) -> str:
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
