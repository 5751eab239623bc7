"""The shard count as a warm function knows it."""

from lambdas.core.ports import Clock, CursorStore, Shards
from lambdas.core.times import MINUTE, Millis

KNOWN_FOR: Millis = MINUTE


class KnownShards:
    """Read again when it is a minute old: who lists tasks by their shards must learn that there
    are more of them, however long it has been warm."""

    def __init__(self, cursors: CursorStore, clock: Clock) -> None:
        self._cursors = cursors
        self._clock = clock
        self._read_at = clock.now()
        self._shards = cursors.shards(self._read_at)

    def __call__(self) -> Shards:
        now = self._clock.now()
        if now - self._read_at >= KNOWN_FOR:
            self._shards = self._cursors.shards(now)
            self._read_at = now
        return self._shards
