"""A queue in which groups take turns.

An item becomes ready at a time. Among the items that are ready, each group gives one in turn, its
oldest first. A group with many items therefore delays the single item of another group by one
item of each group, not by all that came before.

A group that arrives gets the next turn. Between two that arrive, one of the others has its turn, so
groups that come and go hold up no one.
"""

from collections import deque
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

from duetime.core.times import Millis

T = TypeVar("T")
Heap = list[tuple[Millis, int, T]]  # when each item is ready, and its number


class FairQueue(Generic[T]):
    """A push and a pop take the logarithm of the number of items, however many become ready at
    once: each item stays in the heap of its group until it is taken."""

    def __init__(self) -> None:
        self._groups: dict[str, Heap[T]] = {}
        self._turns: deque[str] = deque()  # groups with a ready item when last seen; next first
        self._in_turn: set[str] = set()  # the same groups
        self._arrived: str | None = None  # the group that was put first when it arrived
        self._may_go_first = True  # whether another one may be
        # When the other groups have their first item ready: a heap, with outdated entries.
        self._coming: list[tuple[Millis, int, str]] = []
        self._numbers = count()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def push(self, item: T, group: str, at: Millis) -> None:
        """Adds an item that is ready from `at` on."""
        number = next(self._numbers)
        heap = self._groups.setdefault(group, [])
        heappush(heap, (at, number, item))
        self._size += 1
        if group not in self._in_turn and heap[0][1] == number:
            heappush(self._coming, (at, number, group))

    def pop(self, now: Millis) -> T | None:
        """Returns the item whose turn it is; None if none is ready."""
        if not self._size:
            return None
        self._begin_turns(now)
        while self._turns:
            heap = self._groups[self._turns[0]]
            if heap and heap[0][0] <= now:
                self._may_go_first = self._turns[0] != self._arrived
                self._arrived = None
                if len(self._turns) > 1:
                    self._turns.rotate(-1)
                self._size -= 1
                return heappop(heap)[2]
            self._end_turn()
        return None

    def ready(self, now: Millis, limit: int | None = None) -> int:
        """Returns how many items are ready, or `limit` if there are more."""
        if not self._size:
            return 0
        self._begin_turns(now)
        found = 0
        for group in self._turns:
            found += _ready_in(self._groups[group], now, None if limit is None else limit - found)
            if found == limit:
                break
        return found

    def oldest(self, now: Millis) -> Millis | None:
        """Returns since when the oldest ready item is ready; None if none is."""
        at = self.next_at()
        return None if at is None or at > now else at

    def next_at(self) -> Millis | None:
        """Returns when the first item is ready, which may have passed; None if there is none."""
        while self._coming and self._is_outdated(self._coming[0]):
            heappop(self._coming)
        times = [heap[0][0] for group in self._turns if (heap := self._groups[group])]
        times += [self._coming[0][0]] if self._coming else []
        return min(times, default=None)

    def _begin_turns(self, now: Millis) -> None:
        while self._coming and self._coming[0][0] <= now:
            entry = heappop(self._coming)
            if not self._is_outdated(entry):
                self._add_turn(entry[2])

    def _add_turn(self, group: str) -> None:
        self._in_turn.add(group)
        if not self._turns or not self._may_go_first:
            self._turns.append(group)
            return
        self._turns.appendleft(group)
        self._arrived, self._may_go_first = group, False

    def _end_turn(self) -> None:
        """Ends the turns of the next group, which has no ready item."""
        group = self._turns.popleft()
        self._in_turn.discard(group)
        if heap := self._groups[group]:
            heappush(self._coming, (heap[0][0], heap[0][1], group))
        else:
            del self._groups[group]

    def _is_outdated(self, entry: tuple[Millis, int, str]) -> bool:
        _, number, group = entry
        heap = self._groups.get(group)
        return group in self._in_turn or not heap or heap[0][1] != number


def _ready_in(heap: Heap[T], now: Millis, limit: int | None) -> int:
    """Counts from the root: an item that is not ready has none below it that is."""
    found, places = 0, [0]
    while places and found != limit:
        place = places.pop()
        if place < len(heap) and heap[place][0] <= now:
            found += 1
            places += (2 * place + 1, 2 * place + 2)
    return found
