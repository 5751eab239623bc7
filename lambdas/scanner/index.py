"""The wake index as one tick reads it: at one go while it is small, else bucket by bucket.

Every read is billed, an empty one too, and most minutes are empty. So a tick first asks for the
whole index. What it then knows is as old as the tick itself, no older: its time is taken first.
"""

from collections.abc import Iterable
from typing import Protocol

from lambdas.core.ports import TaskStore
from lambdas.core.wakes import Wake, WakeKind, bucket_of

FEW = 500  # wakes that are read for less than the hundreds of buckets of a tick cost


class WakeIndex(Protocol):
    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> Iterable[Wake]:
        """As in TaskStore."""
        ...


class SmallIndex:
    """All of it, in memory."""

    def __init__(self, wakes: Iterable[Wake]) -> None:
        self._buckets: dict[str, list[Wake]] = {}
        for found in wakes:
            self._buckets.setdefault(found.bucket, []).append(found)

    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> list[Wake]:
        bucket = self._buckets.get(bucket_of(minute, shard), [])
        return [found for found in bucket if kind in (None, found.kind)]


def read_index(store: TaskStore) -> WakeIndex:
    few = store.few_wakes(FEW)
    return store if few is None else SmallIndex(few)
