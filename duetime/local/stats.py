"""What the local runner counts: the minute rows, and the totals since its start.

The relay's thread counts in memory. Another one writes once a second, so that neither the relay
nor a task waits for that write; a kill loses at most what was counted since.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Event, Lock, Thread

from duetime.core.events import StatusChange
from duetime.core.lanes import Lane
from duetime.core.metrics import metrics_of
from duetime.core.stats.counts import Counts, LaneCounts
from duetime.core.stats.ports import StatsStore
from duetime.engine.stats import StatsCounter

log = logging.getLogger(__name__)

FLUSH_INTERVAL = 1.0  # seconds


class RunnerStats:
    """A sink of the relay. Without a store it counts the totals only."""

    def __init__(self, store: StatsStore | None) -> None:
        self._store = store
        self._counter = StatsCounter(self._write)
        self._totals: dict[str, Counts] = {lane.value: Counts() for lane in Lane}
        self._failed = False
        self._flushing = Lock()  # a scrape flushes, too
        self._ended = Event()

    def start(self) -> None:
        Thread(target=self._run, name="stats", daemon=True).start()

    def stop(self) -> None:
        """Write what is left. Call it when the relay has ended, before the store is closed."""
        self._ended.set()
        self.flush()

    def notify(self, change: StatusChange) -> None:
        self.notify_all([change])

    def notify_all(self, changes: Sequence[StatusChange]) -> None:
        """Tasks that are written together mostly have equal metrics."""
        for metrics, times in Counter(map(metrics_of, changes)).items():
            if metrics is not None:
                self._counter.add(metrics, times)

    def flush(self) -> None:
        """Logs the first of several failures in a row: the store logs its own faults, too."""
        with self._flushing:
            try:
                self._counter.flush()
                self._failed = False
            except Exception as error:  # noqa: BLE001 - logged and retried
                if not self._failed:
                    log.warning("statistics not written: %s", error, extra={"step": "relay"})
                self._failed = True

    def totals(self) -> Mapping[str, Counts]:
        """Returns what was counted since the start, until now."""
        self.flush()
        return self._totals

    def _run(self) -> None:
        while not self._ended.wait(FLUSH_INTERVAL):
            self.flush()

    def _write(self, counted: Sequence[LaneCounts]) -> None:
        if self._store:
            self._store.add(counted)
        for row in counted:
            self._totals.setdefault(row.lane, Counts()).merge(row.counts)
