"""How many tasks come due in each minute, for forecasts: counted in the wake index.

A task that is still to be sent has its wake at its due time, and the key of the wake has the lane.
So buckets are counted without reading tasks; only those that were sent already are read (see
duetime.aws.soonest). A count of one namespace has to read all its tasks, page by page.

An index of at most WHOLE_INDEX wakes is read as a whole, with one request. Of a larger one
MAX_QUERIES are made, and the counts end where they are used up.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field
from itertools import islice

from duetime.aws import schema
from duetime.aws.parallel import ParallelCalls
from duetime.aws.soonest import SoonestLister
from duetime.aws.table import Table
from duetime.aws.wake_index import WAKE_ATTRIBUTES, read_bucket, read_few, readable_wakes
from duetime.core.forecast import MAX_SCHEDULES, DueCounts, DueSpan, Place
from duetime.core.lanes import Lane
from duetime.core.list_positions import LAST
from duetime.core.listings import Listing, ListOrder
from duetime.core.task import Task
from duetime.core.task_filter import TaskFilter
from duetime.core.times import MINUTE, Millis
from duetime.core.value import value
from duetime.core.wake_policy import LONGEST_HORIZON
from duetime.core.wakes import Wake, WakeKind, bucket_of, minute_of

WHOLE_INDEX = 8_000  # wakes; their keys fit into the megabyte of one response
MAX_QUERIES = 1_920  # of the index, for one forecast: two hours of 16 shards
MAX_SENT = 2_000  # tasks that were sent and are read
MAX_PAGES = 3  # of the tasks of one namespace; each reads at most 500
BUCKET_LIMIT = 500  # keys of a bucket in one response
COUNT_PAGES = 10  # megabytes of keys of one bucket and lane: about 100,000
WINDOW = 15  # minutes that are read at once
LOOK_BACK = 5  # past minutes in which a schedule may still wait for the scanner


@value(kw_only=True, slots=True)
class _Found:
    """What a part of the index has."""

    tasks: Counter[Place] = field(default_factory=Counter)
    schedules: list[Wake] = field(default_factory=list)
    until: Millis
    queries: int = 1

    def add(self, part: "_Found") -> None:
        self.tasks += part.tasks
        self.schedules += part.schedules
        self.queries += part.queries


class DueCounter:
    def __init__(self, table: Table, parallel: ParallelCalls, lister: SoonestLister) -> None:
        self._table = table
        self._parallel = parallel
        self._lister = lister

    def count(self, span: DueSpan, *, shards: int, now: Millis) -> DueCounts:
        few = read_few(self._table, WHOLE_INDEX)
        index = self._by_minute(span, shards) if few is None else _in_all(span, few)
        if span.namespace is not None:
            looked_from, tasks, until = self._of_namespace(span, shards, now)
        else:
            until = index.until
            sent = self._sent(span, few, shards, now)
            looked_from = span.start if sent is not None else min(now + LONGEST_HORIZON, span.end)
            tasks = index.tasks + _counted(sent or [], span)
        return DueCounts(
            tasks={place: n for place, n in tasks.items() if place[0] >= minute_of(looked_from)},
            wakes=sorted(index.schedules, key=lambda wake: wake.at)[: MAX_SCHEDULES + 1],
            looked_from=looked_from,
            looked_until=min(until, index.until),
        )

    def _by_minute(self, span: DueSpan, shards: int) -> _Found:
        """Reads window after window, until the queries are used up."""
        found = _Found(until=span.end, queries=0)
        first, end = span.minutes.start - LOOK_BACK, span.minutes.stop
        while first < end:
            if found.queries >= MAX_QUERIES + LOOK_BACK * shards:
                found.until = max(first * MINUTE, span.start)
                break
            minutes = range(first, min(first + WINDOW, end))
            buckets = [(minute, shard) for minute in minutes for shard in range(shards)]
            for part in self._parallel.each(lambda at: self._bucket(*at, span), buckets):
                found.add(part)
            first = minutes.stop
        return found

    def _bucket(self, minute: int, shard: int, span: DueSpan) -> _Found:
        """A short bucket is read with one query. Of a long one the tasks of each lane are counted,
        and the schedules are read."""
        bucket = bucket_of(minute, shard)
        index = {"IndexName": schema.WAKE_INDEX, "ProjectionExpression": WAKE_ATTRIBUTES}
        of_bucket, values = f"{schema.WAKE_BUCKET} = :bucket", {":bucket": bucket}
        rows = self._table.query(of_bucket, values, **index, Limit=BUCKET_LIMIT + 1)
        wakes = list(readable_wakes(islice(rows, BUCKET_LIMIT + 1)))
        if len(wakes) <= BUCKET_LIMIT:
            return _in_all(span, wakes)
        schedules = read_bucket(self._table, bucket, WakeKind.SCHEDULE, MAX_SCHEDULES)
        return _Found(
            tasks=Counter(
                {(minute, lane): n for lane in Lane if (n := self._in_lane(bucket, lane, span))}
            ),
            schedules=list(islice(schedules, MAX_SCHEDULES + 1)),
            until=span.end,
            queries=2 + len(Lane),
        )

    def _in_lane(self, bucket: str, lane: Lane, span: DueSpan) -> int:
        dispatches = f"{WakeKind.DISPATCH}#{lane.rank}#"
        return self._table.count(
            f"{schema.WAKE_BUCKET} = :bucket AND {schema.WAKE_KEY} BETWEEN :start AND :end",
            {
                ":bucket": bucket,
                ":start": f"{dispatches}{span.start:013d}",
                ":end": f"{dispatches}{LAST}",
            },
            COUNT_PAGES,
            IndexName=schema.WAKE_INDEX,
        )

    def _sent(
        self, span: DueSpan, few: Sequence[Wake] | None, shards: int, now: Millis
    ) -> Sequence[Task] | None:
        """Returns the tasks that were sent and are to start in the span; None if there are too many
        to read."""
        if few is None:
            return self._lister.sent(_listing(span), span.start, shards, now, most=MAX_SENT)
        watches = [wake.task_id for wake in few if wake.kind is WakeKind.WATCH]
        return self._lister.tasks(_listing(span), watches) if len(watches) <= MAX_SENT else None

    def _of_namespace(
        self, span: DueSpan, shards: int, now: Millis
    ) -> tuple[Millis, Counter[Place], Millis]:
        """Returns from when on the tasks are counted, the tasks, and until when."""
        listing, tasks = _listing(span), list[Task]()
        looked_from, until = span.start, span.start
        for number in range(MAX_PAGES):
            page = self._lister.page(listing, shards=shards, now=now)
            tasks += page.tasks
            until = span.end if page.looked_until is None else page.looked_until
            if number == 0:
                looked_from = page.looked_from or span.start
            if page.cursor is None or until >= span.end:
                break
            listing = _listing(span, page.cursor)
        return min(looked_from, span.end), _counted(tasks, span), min(until, span.end)


def _listing(span: DueSpan, cursor: str | None = None) -> Listing:
    return Listing(
        filter=TaskFilter(namespace=span.namespace),
        order=ListOrder.SOONEST,
        due_from=span.start,
        summary=True,
        limit=500,
        cursor=cursor,
    )


def _in_all(span: DueSpan, wakes: Iterable[Wake]) -> _Found:
    found = _Found(until=span.end)
    for wake in wakes:
        if wake.kind is WakeKind.SCHEDULE and wake.at < span.end:
            found.schedules.append(wake)
        elif wake.kind is WakeKind.DISPATCH and span.has(wake.at):
            found.tasks[minute_of(wake.at), wake.lane] += 1
    return found


def _counted(tasks: Iterable[Task], span: DueSpan) -> Counter[Place]:
    return Counter((minute_of(t.due_at), t.lane) for t in tasks if span.has(t.due_at))
