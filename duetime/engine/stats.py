"""The counter between the relay and the store of statistics."""

from collections.abc import Callable, Sequence
from threading import Lock

from duetime.core.metrics import ChangeMetrics
from duetime.core.stats.counts import LaneCounts, MinuteCounts

Write = Callable[[Sequence[LaneCounts]], object]


class StatsCounter:
    """Adds metrics up in memory, and writes them with `write` when it is flushed. One thread may
    count while another one flushes."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._counts = MinuteCounts()
        self._lock = Lock()

    def add(self, metrics: ChangeMetrics, times: int = 1) -> None:
        with self._lock:
            self._counts.add(metrics, times)

    def flush(self) -> None:
        """Writes what was counted; nothing if there is none. If the store does not answer, it is
        kept for the next flush, which counts it twice if the write was made after all."""
        with self._lock:
            counts, self._counts = self._counts, MinuteCounts()
        if not counts:
            return
        try:
            self._write(counts.rows())
        except Exception:
            with self._lock:
                self._counts.merge(counts.rows())
            raise
