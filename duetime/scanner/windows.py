"""Which buckets a tick reads: the window around now, the minutes behind it, a few older ones."""

from collections.abc import Iterable, Iterator, Mapping

from lambdas.core.ports import Shards
from lambdas.core.times import DAY, MINUTE, Millis
from lambdas.core.values import value
from lambdas.core.wakes import minute_of

LOOK_BACK = 5  # minutes behind now that every tick reads: an index lags, clocks differ
FRESH = 1  # minutes behind now in which work that is not overdue may still stand
SWEPT_A_TICK = 3  # older minutes read in turn: a day is swept three times a day
DAY_IN_MINUTES = DAY // MINUTE


@value(frozen=True, kw_only=True, slots=True)
class Window:
    """The minutes of one shard that a tick is to read, in order."""

    shard: int
    look_back: int  # the newest minute in which the cursor may stand
    behind: range  # from the cursor up to what may be fresh
    near: range  # from there to the horizon

    def cursor(self, reached: int) -> int:
        """Where the cursor may stand when every minute before `reached` was seen empty."""
        return min(max(reached, self.behind.start), self.look_back)


def window(shard: int, cursor: int, *, now: Millis, horizon: Millis) -> Window:
    look_back = minute_of(now) - LOOK_BACK
    fresh = minute_of(now) - FRESH
    return Window(
        shard=shard,
        look_back=look_back,
        behind=range(min(cursor, look_back), fresh),
        near=range(fresh, minute_of(now + horizon) + 1),
    )


def lag(windows: Iterable[Window], cursors: Mapping[int, int]) -> Millis:
    """How far the oldest cursor stands behind the look-back, where all would stand."""
    return MINUTE * max((w.look_back - cursors[w.shard] for w in windows), default=0)


def sweep(swept: int, shards: Shards, *, now: Millis) -> Iterator[int]:
    """The next few minutes of the past day, in turn: a row that a frozen process wrote late
    into a minute that the cursor has left is delayed, not lost."""
    newest = minute_of(now) - LOOK_BACK - 1
    oldest = max(newest - DAY_IN_MINUTES, minute_of(shards.since) - LOOK_BACK)
    minute = swept
    for _ in range(min(SWEPT_A_TICK, newest - oldest + 1)):
        minute = minute + 1 if oldest <= minute < newest else oldest
        yield minute
