"""How long something takes that many threads do: a histogram with the buckets of all others."""

from collections.abc import Sequence
from math import ceil
from threading import Lock

from duetime.core.stats.histogram import BUCKETS, bucket_of
from duetime.core.times import SECOND


class DurationCounts:
    """Durations since the start of a process, added by any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts = [0] * BUCKETS
        self._seconds = 0.0

    def add(self, seconds: float, count: int = 1) -> None:
        """Adds `count` equal durations."""
        bucket = bucket_of(ceil(seconds * SECOND))
        with self._lock:
            self._counts[bucket] += count
            self._seconds += seconds * count

    def read(self) -> tuple[Sequence[int], float]:
        """Returns how many are in each bucket, and the sum in seconds."""
        with self._lock:
            return tuple(self._counts), self._seconds
