"""What lies behind the present: the minutes from the cursors on, read the oldest first."""

from collections.abc import Sequence

from lambdas.core.wakes import Wake
from lambdas.scanner.index import WakeIndex
from lambdas.scanner.window import Window


class Backlog:
    """For one tick. A shard's cursor stays at the oldest minute that was not seen empty."""

    def __init__(self, windows: Sequence[Window]) -> None:
        self.windows = windows
        self.left: list[Wake] = []  # of the minute that was read last
        self.taken = 0
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

    def read_on(self, index: WakeIndex) -> list[Wake]:
        """The next minute of all shards."""
        wakes: list[Wake] = []
        for w in self.windows:
            if self._reached in w.behind and (some := list(index.wakes(self._reached, w.shard))):
                self._found_in.setdefault(w.shard, self._reached)
                wakes += some
        self._reached += 1
        return wakes

    def cursors(self) -> dict[int, int]:
        """Of each shard the oldest minute not yet seen empty."""
        return {w.shard: w.cursor(self._found_in.get(w.shard, self._reached)) for w in self.windows}
