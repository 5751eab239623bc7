"""How a tick reads the wake index: with one request while it is small, else bucket by bucket.

Every read is billed, even an empty one, and most minutes are empty. So a tick first requests the
whole index. What it reads is never older than the tick, which reads its clock first.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Protocol

from duetime.core.ports import TaskStore
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.wakes import Wake, WakeKind, bucket_of, minute_of
from duetime.scanner.pacing import Pacer, due_at
from duetime.scanner.windows import Window

SMALL_INDEX = 500  # wakes; reading so many costs less than the hundreds of buckets of a tick


class WakeIndex(Protocol):
    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> Iterable[Wake]:
        """See TaskStore.wakes."""
        ...


class SmallIndex:
    """The whole index in memory."""

    def __init__(self, wakes: Iterable[Wake]) -> None:
        self._buckets: dict[str, list[Wake]] = {}
        for found in wakes:
            self._buckets.setdefault(found.bucket, []).append(found)

    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> list[Wake]:
        bucket = self._buckets.get(bucket_of(minute, shard), [])
        return [found for found in bucket if kind in (None, found.kind)]


def read_index(store: TaskStore) -> WakeIndex:
    few = store.few_wakes(SMALL_INDEX)
    return store if few is None else SmallIndex(few)


MAX_WAKES = 50_000  # of each kind of work that a tick reads at once


@value(kw_only=True, slots=True)
class NearWakes:
    """The wakes around now, by kind of work, so that much of one kind never displaces another:
    watches find today's dead executors while a backlog is processed."""

    fresh: list[Wake] = field(default_factory=list)  # dispatches
    schedules: list[Wake] = field(default_factory=list)  # that are due
    watches: list[Wake] = field(default_factory=list)  # that are due, of tasks, lines and runs
    overdue: list[Wake] = field(default_factory=list)  # of any kind
    left: int = 0  # beyond MAX_WAKES and not fresh: the next tick finds them
    more: bool = False  # there may be more fresh work

    def add(self, found: Wake, kind: list[Wake]) -> None:
        if len(kind) < MAX_WAKES:
            kind.append(found)
        else:
            self.left += 1


def read_near(
    index: WakeIndex, windows: Sequence[Window], pacer: Pacer, *, now: Millis, horizon: Millis
) -> NearWakes:
    near = NearWakes()
    for found in _wakes(index, windows, now):
        if pacer.overdue(due_at(found, horizon)):
            near.add(found, near.overdue)
        elif found.kind is not WakeKind.DISPATCH:
            if found.at <= now:
                schedule = found.kind is WakeKind.SCHEDULE
                near.add(found, near.schedules if schedule else near.watches)
        elif found.at <= now + horizon:
            near.fresh.append(found)
        if len(near.fresh) == MAX_WAKES:
            near.more = True
            break
    return near


def _wakes(index: WakeIndex, windows: Sequence[Window], now: Millis) -> Iterator[Wake]:
    """Yields the wakes minute by minute. Future watches are not read."""
    for minute in sorted({minute for w in windows for minute in w.near}):
        kind = WakeKind.DISPATCH if minute > minute_of(now) else None
        for w in windows:
            yield from index.wakes(minute, w.shard, kind)


class Backlog:
    """The minutes behind the window of one tick. The cursor of a shard stays at the oldest minute
    that was not empty."""

    def __init__(self, windows: Sequence[Window]) -> None:
        self.windows = windows
        self.left: list[Wake] = []  # of the last minute that was read
        self.processed = 0
        self._reached = min((w.behind.start for w in windows), default=0)
        self._end = max((w.behind.stop for w in windows), default=0)
        self._found_in: dict[int, int] = {}

    @property
    def done(self) -> bool:
        return self._reached >= self._end and not self.left

    @property
    def moved(self) -> bool:
        cursors = self.cursors()
        return any(cursors[w.shard] > w.behind.start for w in self.windows)

    def read_next(self, index: WakeIndex) -> list[Wake]:
        """Returns the wakes of the next minute, of all shards."""
        wakes: list[Wake] = []
        for w in self.windows:
            if self._reached in w.behind and (some := list(index.wakes(self._reached, w.shard))):
                self._found_in.setdefault(w.shard, self._reached)
                wakes += some
        self._reached += 1
        return wakes

    def cursors(self) -> dict[int, int]:
        """Returns the oldest minute of each shard that was not seen empty."""
        return {w.shard: w.cursor(self._found_in.get(w.shard, self._reached)) for w in self.windows}
