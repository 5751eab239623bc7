"""The tasks that a handler process was sent and has not begun.

A task leaves the list once: a thread begins it, or the executor recalls it. Both happen under one
lock, so what the process confirms as recalled is never begun. A task that begins is marked in
memory that the executor reads too, and has cleared before it sent the task.
"""

from collections import deque
from collections.abc import Iterable
from threading import Lock
from typing import Any, Protocol

from duetime.core.value import value


@value(slots=True)
class Item:
    number: int
    place: int
    task: Any
    received_at: float = 0.0


class Marks(Protocol):
    """Memory that is shared with the executor."""

    def __setitem__(self, place: int, value: int, /) -> None: ...


class TaskList:
    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._items: deque[Item] = deque()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def oldest(self) -> float | None:
        """When the first task arrived; None if there is none."""
        try:
            return self._items[0].received_at
        except IndexError:  # a thread has just begun it
            return None

    def add(self, item: Item) -> None:
        self._items.append(item)

    def begin(self) -> Item | None:
        """Returns the next task, which the caller now runs."""
        with self._lock:
            if not self._items:
                return None
            item = self._items.popleft()
            self._marks[item.place] = 1
            return item

    def withdraw(self, numbers: Iterable[int]) -> list[Item]:
        """Returns those of these tasks that have not begun. They never begin."""
        wanted = set(numbers)
        with self._lock:
            withdrawn = [item for item in self._items if item.number in wanted]
            kept = [item for item in self._items if item.number not in wanted]
            self._items.clear()
            self._items.extend(kept)
            return withdrawn
