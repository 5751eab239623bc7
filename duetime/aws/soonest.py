"""Lists of tasks, soonest first, from the wake index.

A task that is still to be sent has its wake at its due time. One that was sent has a watch shortly
after its due time, which does not show the due time itself; it is due within the longest horizon.
So a page reads the watches of the coming minutes as a whole, and the others minute by minute.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from duetime.aws import schema
from duetime.aws.clients import translate_errors
from duetime.aws.item_reader import TaskReader
from duetime.aws.parallel import ParallelCalls
from duetime.aws.table import Table
from duetime.aws.wake_index import read_bucket, read_few
from duetime.core.lanes import Lane
from duetime.core.lifecycle import TO_START
from duetime.core.list_positions import LAST, Soonest, soonest_from
from duetime.core.listings import Listing, Page
from duetime.core.task import Task
from duetime.core.times import DAY, MINUTE, Millis
from duetime.core.wake_policy import FIRST_WATCH, LONGEST_HORIZON, WATCH_SPREAD
from duetime.core.wakes import TASK_WAKES, WakeKind, bucket_of, minute_of, parse_wake

FEW_WAKES = 500  # an index of at most so many is read as a whole
MAX_SENT = 500  # tasks that were sent and are not due yet
MAX_QUERIES = 960  # of the index, for one page
MAX_TASKS_READ = 500  # for one page
AHEAD: Millis = DAY  # how far a list looks in a larger index
BUCKET_LIMIT = 500  # keys of a bucket in one response
FIRST_WINDOW, LONGEST_WINDOW = 4, 64  # minutes that are read at once

Key = tuple[Millis, str]  # the due time, the id
Keys = tuple[list[Key], bool]  # the soonest first; and whether there may be more


class SoonestLister:
    def __init__(self, table: Table, parallel: ParallelCalls, reader: TaskReader) -> None:
        self._table = table
        self._parallel = parallel
        self._reader = reader

    def page(self, listing: Listing, *, shards: int, now: Millis) -> Page:
        position = soonest_from(listing.cursor, earliest=listing.due_from)
        few = read_few(self._table, FEW_WAKES)
        if few is not None:
            ids = [wake.task_id for wake in few if wake.kind in TASK_WAKES]
            return _page_of_all(listing, position, _listed(self.tasks(listing, ids)))
        return self._page_of_windows(listing, position, shards=shards, now=now)

    def _page_of_windows(
        self, listing: Listing, position: Soonest, *, shards: int, now: Millis
    ) -> Page:
        """Reads window after window, until the page is full or its limits are reached."""
        sent = self.sent(listing, position.due_at, shards, now, most=MAX_SENT)
        if sent is None:
            sent, position = [], Soonest(due_at=now + LONGEST_HORIZON)
        looked_from, place = position.due_at, position.key
        end = max(now, listing.due_from) + AHEAD
        if listing.filter.due_before is not None:
            end = min(end, listing.filter.due_before)
        found: list[Task] = []
        minutes, queries, looked_at = FIRST_WINDOW, 0, 0
        while place[0] < end and queries < MAX_QUERIES and looked_at < MAX_TASKS_READ:
            until = min((minute_of(place[0]) + minutes) * MINUTE, end)
            keys, reached = self._window(place, until, shards, MAX_TASKS_READ - looked_at)
            queries += minutes * shards
            minutes = min(2 * minutes, LONGEST_WINDOW)
            looked_at += len(keys)
            tasks = _listed([*self.tasks(listing, [task_id for _, task_id in keys]), *sent])
            here = {t.id: t for t in tasks if place < due_key(t) <= reached}
            found += sorted(here.values(), key=due_key)
            place = reached
            if len(found) >= listing.limit:
                return _cut(found, listing.limit, looked_from, place)
        cursor = Soonest(due_at=place[0], above=place[1]).cursor() if place[0] < end else None
        return Page(tasks=found, cursor=cursor, looked_from=looked_from, looked_until=place[0])

    def sent(
        self, listing: Listing, start: Millis, shards: int, now: Millis, *, most: int
    ) -> list[Task] | None:
        """Returns the wanted tasks that were sent and are due from `start` on; None if more than
        `most` would have to be read."""
        horizon = now + LONGEST_HORIZON
        if start >= horizon:
            return []
        first, last = minute_of(start), minute_of(horizon + FIRST_WATCH + WATCH_SPREAD)
        buckets = [bucket_of(m, shard) for m in range(first, last + 1) for shard in range(shards)]
        watches = self._parallel.each(lambda bucket: self._watched(bucket, most), buckets)
        ids = [task_id for bucket in watches for task_id in bucket]
        if len(ids) > most:
            return None
        return [task for task in self.tasks(listing, ids) if task.due_at >= start]

    def _watched(self, bucket: str, most: int) -> list[str]:
        wakes = read_bucket(self._table, bucket, WakeKind.WATCH, most + 1)
        return [wake.task_id for wake in islice(wakes, most + 1)]

    def _window(self, after: Key, until: Millis, shards: int, limit: int) -> tuple[list[Key], Key]:
        """Returns the first keys of a window past `after`, and the key up to which none is
        missing."""
        first, end = minute_of(after[0]), minute_of(until - 1) + 1
        buckets = [(m, shard) for m in range(first, end) for shard in range(shards)]
        parts = self._parallel.each(lambda at: self._bucket(bucket_of(*at), after), buckets)
        keys, more = merged(parts)
        inside = [key for key in keys if after < key and key[0] < until]
        if len(inside) > limit:
            return inside[:limit], inside[limit - 1]
        return inside, inside[-1] if more and inside else (until, "")

    def _bucket(self, bucket: str, after: Key) -> Keys:
        """A bucket is sorted by lane first: if it is long, each lane is read on its own."""
        keys, more = self._keys(bucket, "d#", f"d#{LAST}")
        if not more:
            return sorted(keys), False
        lanes = [f"d#{lane.rank}#" for lane in Lane]
        start = f"{after[0]:013d}#{after[1]}"
        return merged([self._keys(bucket, lane + start, lane + LAST) for lane in lanes])

    def _keys(self, bucket: str, start: str, end: str) -> Keys:
        names: Any = {":bucket": {"S": bucket}, ":start": {"S": start}, ":end": {"S": end}}
        condition = f"{schema.WAKE_BUCKET} = :bucket AND {schema.WAKE_KEY} BETWEEN :start AND :end"
        with translate_errors():
            answer = self._table.client.query(
                TableName=self._table.name,
                IndexName=schema.WAKE_INDEX,
                KeyConditionExpression=condition,
                ExpressionAttributeValues=names,
                Limit=BUCKET_LIMIT,
            )
        wakes = [parse_wake(bucket, row[schema.WAKE_KEY]["S"]) for row in answer["Items"]]
        return [(wake.at, wake.task_id) for wake in wakes], "LastEvaluatedKey" in answer

    def tasks(self, listing: Listing, ids: Sequence[str]) -> list[Task]:
        """Returns the wanted tasks of these ids that are still to start."""
        tasks = self._reader.readable(ids, summary=listing.summary).values()
        return [t for t in tasks if t.status in TO_START and listing.filter.wants(t)]


def _listed(tasks: Sequence[Task]) -> list[Task]:
    """Returns the tasks that lists show. A forecast counts those of steps, too."""
    return [task for task in tasks if task.spec.step is None]


def due_key(task: Task) -> Key:
    return task.due_at, task.id


def merged(parts: Sequence[Keys]) -> Keys:
    """Returns the keys of all parts, the soonest first, as far as none can be missing."""
    ceiling = min((keys[-1] for keys, more in parts if more and keys), default=None)
    keys = sorted(key for part, _ in parts for key in part if ceiling is None or key <= ceiling)
    return keys, any(more for _, more in parts)


def _page_of_all(listing: Listing, position: Soonest, tasks: Sequence[Task]) -> Page:
    ahead = sorted((task for task in tasks if due_key(task) > position.key), key=due_key)
    return _cut(ahead, listing.limit, position.due_at, None)


def _cut(found: Sequence[Task], limit: int, looked_from: Millis, reached: Key | None) -> Page:
    """Returns the first tasks. Without more of them, the list goes on at `reached`, if anywhere."""
    place = due_key(found[limit - 1]) if len(found) > limit else reached
    return Page(
        tasks=found[:limit],
        cursor=Soonest(due_at=place[0], above=place[1]).cursor() if place else None,
        looked_from=looked_from,
        looked_until=place[0] if place else None,
    )
