"""Which status changes the local runner shows: ends, failures, and runs that take over a second."""

from collections.abc import Callable
from threading import Event, Lock, Thread
from time import monotonic
from typing import Protocol

from lambdas.core.events import StatusChange
from lambdas.core.lifecycle import Status

SHOWN = frozenset(
    {Status.SUCCEEDED, Status.RETRYING, Status.DEAD, Status.CANCELLED, Status.EXPIRED}
)
LONG_RUN = 1.0  # seconds after which a run is shown while it goes on
LOOK_EVERY = 0.25  # seconds between two looks for long runs


class Events(Protocol):
    """Where events go: lines of a terminal, or records of a log."""

    a_second: int  # how many are shown in a second; more are counted

    def show(self, change: StatusChange) -> None: ...

    def show_left_out(self, count: int) -> None: ...


class Activity:
    """A busy runner must not drown in its own lines, so what is too much is only counted."""

    def __init__(self, events: Events, clock: Callable[[], float] = monotonic) -> None:
        self._events = events
        self._clock = clock
        self._turn = Lock()
        self._running: dict[str, tuple[float, StatusChange]] = {}  # the oldest first
        self._second = 0
        self._shown = 0
        self._hidden = 0
        self._ended = Event()

    def start(self) -> None:
        Thread(target=self._watch, name="activity", daemon=True).start()

    def stop(self) -> None:
        self._ended.set()
        with self._turn:
            self._show_left_out()

    def notify(self, change: StatusChange) -> None:
        with self._turn:
            self._running.pop(change.task_id, None)
            if change.after is Status.RUNNING:
                self._running[change.task_id] = (self._clock(), change)
            elif change.after in SHOWN:
                self._show(change)

    def show_long_runs(self) -> None:
        """Each once, when it has gone on for a second."""
        with self._turn:
            before = self._clock() - LONG_RUN
            long = [i for i, (since, _) in self._running.items() if since <= before]
            for task_id in long:
                self._show(self._running.pop(task_id)[1])

    def _watch(self) -> None:
        while not self._ended.wait(LOOK_EVERY):
            self.show_long_runs()

    def _show(self, change: StatusChange) -> None:
        second = int(self._clock())
        if second != self._second:
            self._show_left_out()
            self._second, self._shown = second, 0
        if self._shown < self._events.a_second:
            self._shown += 1
            self._events.show(change)
        else:
            self._hidden += 1

    def _show_left_out(self) -> None:
        if self._hidden:
            self._events.show_left_out(self._hidden)
        self._hidden = 0
