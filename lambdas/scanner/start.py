"""Where the shards of a slice are to be read from.

A slice keeps the cursors of its own shards. When the number of slices changes, or that of shards
grows, it meets shards of which it knows nothing, or only what it knew long ago; then the other
slices tell. Whoever wrote a cursor, it stays true that nothing is left before it.
"""

from collections.abc import Iterable, Mapping, Sequence

from lambdas.core.ports import CursorStore, Shards
from lambdas.core.times import Millis
from lambdas.core.wakes import minute_of
from lambdas.scanner.window import DAY_IN_MINUTES, LOOK_BACK

Cursors = Mapping[int, int]  # shard → minute


def starting_points(
    cursors: CursorStore, own: Cursors, mine: Sequence[int], shards: Shards, now: Millis
) -> Cursors:
    """What nobody knows is new: it has no wakes older than a day, or than the outage during which
    it came."""
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
