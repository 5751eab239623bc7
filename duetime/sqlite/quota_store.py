"""The state of the quotas in the local runner: the SQLite backend's QuotaStore.

Buckets are in memory: a restart fills them. The numbers of stored tasks are counted once, when the
store is opened, and then follow every commit: the runner is the only writer.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable
from threading import Lock

from duetime.core.ports import Clock
from duetime.core.quotas import Grant, Nanos, Rate, nanos

MAX_BUCKETS = 1_000  # before those that are full again are forgotten


class NamespaceCounts:
    """The number of stored tasks of each namespace, without what is not committed. The store calls
    all methods but `of` in its writing thread."""

    def __init__(self) -> None:
        self._stored: Counter[str] | None = None  # None: not counted yet
        self._uncommitted: Counter[str] = Counter()

    def count(self, connection: sqlite3.Connection) -> None:
        """Reads an index: about 0.1 s for a million tasks."""
        rows = connection.execute("SELECT namespace, count(*) FROM tasks GROUP BY namespace")
        self._stored = Counter(dict(rows.fetchall()))

    def of(self, namespace: str) -> int:
        return self._stored[namespace] if self._stored else 0

    def note(self, namespace: str, change: int) -> None:
        if self._stored is not None:
            self._uncommitted[namespace] += change

    def commit(self) -> None:
        if self._stored is not None and self._uncommitted:
            self._stored.update(self._uncommitted)
            self._uncommitted.clear()

    def discard(self) -> None:
        self._uncommitted.clear()


class SqliteQuotaStore:
    """`stored` returns the number of stored tasks of a namespace."""

    def __init__(self, stored: Callable[[str], int], clock: Clock) -> None:
        self._stored = stored
        self._clock = clock
        self._full_at: dict[str, Nanos] = {}
        self._lock = Lock()  # requests run concurrently

    def take(self, namespace: str, rate: Rate, wanted: int) -> Grant:
        now = nanos(self._clock.monotonic())
        with self._lock:
            taken = rate.take(self._full_at.get(namespace, 0), now, wanted)
            if taken.granted:
                self._forget_full(now)
                self._full_at[namespace] = taken.full_at
        wait = rate.wait(taken.full_at, now) if taken.granted < wanted else 0
        return Grant(granted=taken.granted, wait=wait)

    def admit(self, namespace: str, limit: int, wanted: int) -> int:
        """Requests that are being stored at the same time are not counted yet."""
        return min(max(limit - self._stored(namespace), 0), wanted)

    def stored(self, namespace: str) -> int | None:
        return self._stored(namespace)

    def _forget_full(self, now: Nanos) -> None:
        if len(self._full_at) >= MAX_BUCKETS:
            self._full_at = {name: at for name, at in self._full_at.items() if at > now}
