"""The buckets that a tick reads: the window around now, the minutes behind it, and a few older."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from duetime.core.ports import CursorStore, Shards
from duetime.core.times import DAY, MINUTE, Millis
from duetime.core.value import value
from duetime.core.wakes import minute_of

LOOK_BACK = 5  # past minutes that every tick reads: an index lags, clocks differ
FRESH = 1  # past minutes that may still hold work that is not overdue
SWEPT_A_TICK = 3  # older minutes read in turn: a day is swept three times a day
DAY_IN_MINUTES = DAY // MINUTE


@value(frozen=True, kw_only=True, slots=True)
class Window:
    """The minutes of one shard that a tick is to read, in order."""

    shard: int
    look_back: int  # the newest minute that the cursor may reach
    behind: range  # from the cursor up to what may be fresh
    near: range  # from there to the horizon

    def cursor(self, reached: int) -> int:
        """Returns the cursor if every minute before `reached` was seen empty."""
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
    """Returns how far the oldest cursor is behind the look-back, its normal position."""
    return MINUTE * max((w.look_back - cursors[w.shard] for w in windows), default=0)


def sweep(swept: int, shards: Shards, *, now: Millis) -> Iterator[int]:
    """Yields the next few minutes of the past day, in turn. A frozen process may write a row late,
    into a minute that the cursor has passed; the sweep finds it, so it is delayed, not lost."""
    newest = minute_of(now) - LOOK_BACK - 1
    oldest = max(newest - DAY_IN_MINUTES, minute_of(shards.since) - LOOK_BACK)
    minute = swept
    for _ in range(min(SWEPT_A_TICK, newest - oldest + 1)):
        minute = minute + 1 if oldest <= minute < newest else oldest
        yield minute


Cursors = Mapping[int, int]  # shard → minute


def starting_points(
    cursors: CursorStore, own: Cursors, mine: Sequence[int], shards: Shards, now: Millis
) -> Cursors:
    """Returns the cursor of each shard of this slice. A shard that no slice has a cursor for is
    new: it has no wakes older than a day, or than the outage in which it was added."""
    a_day_back = max(minute_of(now) - DAY_IN_MINUTES, minute_of(shards.since) - LOOK_BACK)
    if all(own.get(shard, 0) >= a_day_back for shard in mine):
        return own
    known = _newest(cursors.load(number).cursors for number in range(shards.count))
    new = min([a_day_back, *known.values()])
    return {shard: known.get(shard, new) for shard in mine}


def _newest(slices: Iterable[Cursors]) -> dict[int, int]:
    newest: dict[int, int] = {}
    for cursors in slices:
        for shard, minute in cursors.items():
            newest[shard] = max(minute, newest.get(shard, 0))
    return newest
