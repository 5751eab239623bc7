"""A queue in which groups take turns.

An item becomes ready at a time. Among the items that are ready, each group gives one in turn, its
oldest first. A group with many items therefore delays the single item of another group by one
item of each group, not by all that came before.
"""

from collections import deque
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

from duetime.core.times import Millis

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Every operation takes at most the logarithm of its size, `oldest` as long as there are
    groups."""

    def __init__(self) -> None:
        self._coming: list[tuple[Millis, int, str, T]] = []  # a heap: not ready when last asked
        self._groups: dict[str, list[tuple[Millis, int, T]]] = {}  # heaps of what is ready
        self._turns: deque[str] = deque()  # the names of `_groups`, the next in turn first
        self._numbers = count()
        self._ready = 0

    def __len__(self) -> int:
        return len(self._coming) + self._ready

    def push(self, item: T, group: str, at: Millis) -> None:
        """Adds an item that is ready from `at` on."""
        heappush(self._coming, (at, next(self._numbers), group, item))

    def pop(self, now: Millis) -> T | None:
        """Returns the item whose turn it is; None if none is ready."""
        if not self.ready(now):
            return None
        group = self._turns[0]
        heap = self._groups[group]
        _, _, item = heappop(heap)
        self._ready -= 1
        if heap:
            self._turns.rotate(-1)
        else:
            self._turns.popleft()
            del self._groups[group]
        return item

    def ready(self, now: Millis) -> int:
        """Returns how many items are ready."""
        while self._coming and self._coming[0][0] <= now:
            at, number, group, item = heappop(self._coming)
            if group not in self._groups:
                self._groups[group] = []
                self._turns.append(group)
            heappush(self._groups[group], (at, number, item))
            self._ready += 1
        return self._ready

    def oldest(self, now: Millis) -> Millis | None:
        """Returns since when the oldest ready item is ready; None if none is."""
        self.ready(now)
        return min((heap[0][0] for heap in self._groups.values()), default=None)

    def next_at(self) -> Millis | None:
        """Returns when the first item is ready, which may have passed; None if there is none."""
        times = [heap[0][0] for heap in self._groups.values()]
        times += [self._coming[0][0]] if self._coming else []
        return min(times, default=None)
