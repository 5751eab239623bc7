"""The status changes that the local runner shows: outcomes, failed attempts and long runs."""

from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread
from time import monotonic
from typing import Protocol

from duetime.core.events import StatusChange
from duetime.core.lifecycle import Status

SHOWN = frozenset(
    {Status.SUCCEEDED, Status.RETRYING, Status.DEAD, Status.CANCELLED, Status.EXPIRED}
)
LONG_RUN = 1.0  # seconds after which a run is shown while it is running
CHECK_INTERVAL = 0.25  # seconds between two searches for long runs


class Events(Protocol):
    """An output for events: lines on a terminal, or log records."""

    max_per_second: int  # events beyond this are only counted

    def show(self, change: StatusChange) -> None: ...

    def show_omitted(self, count: int) -> None: ...


class Activity:
    """Limits the events shown per second and counts the rest: a busy runner has too many."""

    def __init__(self, events: Events, clock: Callable[[], float] = monotonic) -> None:
        self._events = events
        self._clock = clock
        self._lock = Lock()
        self._running: dict[str, tuple[float, StatusChange]] = {}  # the oldest first
        self._second = 0
        self._shown = 0
        self._hidden = 0
        self._ended = Event()

    def start(self) -> None:
        Thread(target=self._watch, name="activity", daemon=True).start()

    def stop(self) -> None:
        self._ended.set()
        with self._lock:
            self._show_omitted()

    def notify(self, change: StatusChange) -> None:
        self.notify_all([change])

    def notify_all(self, changes: Sequence[StatusChange]) -> None:
        with self._lock:
            now = self._clock()
            for change in changes:
                after = change.after
                self._running.pop(change.task_id, None)
                if after is Status.RUNNING:
                    self._running[change.task_id] = (now, change)
                elif after in SHOWN:
                    self._show(change, now)

    def show_long_runs(self) -> None:
        """Show each long run once."""
        with self._lock:
            before = self._clock() - LONG_RUN
            long = [i for i, (since, _) in self._running.items() if since <= before]
            for task_id in long:
                self._show(self._running.pop(task_id)[1], self._clock())

    def _watch(self) -> None:
        while not self._ended.wait(CHECK_INTERVAL):
            self.show_long_runs()

    def _show(self, change: StatusChange, now: float) -> None:
        second = int(now)
        if second != self._second:
            self._show_omitted()
            self._second, self._shown = second, 0
        if self._shown < self._events.max_per_second:
            self._shown += 1
            self._events.show(change)
        else:
            self._hidden += 1

    def _show_omitted(self) -> None:
        if self._hidden:
            self._events.show_omitted(self._hidden)
        self._hidden = 0
