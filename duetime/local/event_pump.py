"""The event pump: what EventBridge, the SQS pollers and the table's stream do when deployed.

It owns no rule of its own. It calls the scanner at every tick, hands each lane's messages to
that lane's crew, and passes status changes on to the relay. None of its threads may end unnoticed:
see supervisor.py. A bookkeeper is not started again: nobody else knows which runs it began.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from queue import SimpleQueue
from time import monotonic

from duetime.local.supervisor import RESTARTS, OnFailure, SupervisedThread
from duetime.local.threads import starting_threads
from lambdas.api.health import Check
from lambdas.clock_jumps import ClockJumps
from lambdas.core.errors import Unavailable
from lambdas.core.events import StatusChange
from lambdas.core.lanes import Lane
from lambdas.core.lease import HEARTBEAT
from lambdas.core.ports import Clock, LaneQueue
from lambdas.core.times import SECOND
from lambdas.executor.crew import Crew
from lambdas.relay.relay import Relay
from lambdas.scanner.scanner import Scanner

log = logging.getLogger(__name__)

Changes = SimpleQueue[Sequence[StatusChange] | None]  # what the change feed brings
Feed = Callable[[], Sequence[StatusChange]]

RECEIVED_AT_ONCE = 100
RENEWED_WITHIN = HEARTBEAT / SECOND  # how long leases may go by a wall clock that has been set
SOON = 1.0  # seconds until the next tick when one left work behind
FEED_PAUSE = 0.5
LATE, LATEST = 3, 60.0  # no tick for three of them, and for a minute, is no delay any more


class Pump:
    """`feed` reads status changes where the store does not bring them itself. `on_failure` is
    called with the reason, from any thread, when the runner must end."""

    def __init__(
        self,
        *,
        scanner: Scanner,
        crews: Mapping[Lane, Crew],
        lanes: LaneQueue,
        relay: Relay,
        changes: Changes,
        clock: Clock,
        tick: float,
        poll: float,
        on_failure: OnFailure,
        feed: Feed | None = None,
    ) -> None:
        self._scanner = scanner
        self._crews = crews
        self._lanes = lanes
        self._relay = relay
        self._clock_jumps = ClockJumps(clock)
        self._tick = tick
        self._poll = poll
        self._on_failure = on_failure
        self._ready = False
        self._started = threading.Event()
        self._stopping = threading.Event()
        self._drained = threading.Event()
        self._changes = changes
        self._feeding = [self._thread(self._tick_on, "tick")]
        self._feeding += [self._thread(partial(self._poll_lane, n), f"poll-{n}") for n in crews]
        self._running = [
            self._thread(crew.run, f"crew-{lane}", restarts=0) for lane, crew in crews.items()
        ]
        self._relaying = [self._thread(self._relay_on, "relay")]
        if feed:
            self._relaying.insert(0, self._thread(partial(self._follow, feed), "change-feed"))
        self._ticked_at = monotonic()  # when a tick last succeeded
        self._tick_failure: str | None = None

    def start_threads(self) -> None:
        """Nothing is taken in before every thread is there: a runner that cannot start must not
        have begun any attempt."""
        with starting_threads():
            for crew in self._crews.values():
                crew.start()
            for thread in self._threads:
                thread.start()
        self._ready = True

    def start(self) -> None:
        if not self._ready:
            self.start_threads()
        self._started.set()

    def stop(self, grace: float) -> int:
        """Take in nothing more, let what runs finish; returns how many runs were left behind."""
        self._stopping.set()
        self._started.set()
        _join(self._feeding, grace)
        for crew in self._crews.values():
            crew.close()
        _join(self._running, grace)
        self._drained.set()
        self._changes.put(None)
        _join(self._relaying, grace)
        return sum(crew.running for crew in self._crews.values())

    @property
    def tick_age(self) -> float:
        """Seconds since a tick last succeeded, or since the start."""
        return monotonic() - self._ticked_at

    def checks(self) -> list[Check]:
        """Whether every thread runs, and the scanner ticks."""
        tick, *polling = self._feeding
        lanes = zip(self._crews, self._running, polling, strict=True)
        return [
            Check(name="scanner", reason=tick.trouble or self._late()),
            *(
                Check(name=f"lane {n}", reason=crew.trouble or poll.trouble)
                for n, crew, poll in lanes
            ),
            *(Check(name=thread.name, reason=thread.trouble) for thread in self._relaying),
        ]

    def _late(self) -> str | None:
        if self.tick_age <= max(LATE * self._tick, LATEST):
            return None
        why = f"; the last one failed: {self._tick_failure}" if self._tick_failure else ""
        return f"no tick for {self.tick_age:.0f} s{why}"

    @property
    def _threads(self) -> list[SupervisedThread]:
        return [*self._relaying, *self._running, *self._feeding]

    def _tick_on(self) -> None:
        self._started.wait()
        wait = 0.0
        while not self._stopping.wait(wait):
            wait = self._tick
            if self._clock_jumps.seen():
                # To a tick at this moment the leases of running attempts may look run out.
                wait = RENEWED_WITHIN
                continue
            try:
                report = self._scanner.tick()
            except Exception as error:  # noqa: BLE001 - it is logged, and tried again
                self._tick_failure = str(error) or type(error).__name__
                _log_failure("tick failed", error, step="scan")
                continue
            self._ticked_at, self._tick_failure = monotonic(), None
            log.debug("tick: %s", report)
            if report.unfinished:
                wait = min(SOON, self._tick)

    def _poll_lane(self, lane: Lane) -> None:
        crew = self._crews[lane]
        self._started.wait()
        while not self._stopping.is_set():
            free = crew.wait_for_slots(self._poll)
            if not free:
                continue
            try:
                messages = self._lanes.receive(lane, min(free, RECEIVED_AT_ONCE), self._poll)
            except Exception as error:  # noqa: BLE001 - it is logged, and tried again
                _log_failure("lane not read", error, step="receive", lane=lane)
                self._stopping.wait(SOON)
                continue
            if messages:
                crew.offer(messages)

    def _relay_on(self) -> None:
        while (changes := self._changes.get()) is not None:
            self._relay.relay(changes)

    def _follow(self, feed: Feed) -> None:
        while not self._drained.wait(FEED_PAUSE):
            try:
                changes = feed()
            except Exception as error:  # noqa: BLE001 - it is logged, and tried again
                _log_failure("change feed not read", error, step="relay")
                continue
            if changes:
                self._changes.put(changes)

    def _thread(
        self, act: Callable[[], None], name: str, restarts: int = RESTARTS
    ) -> SupervisedThread:
        return SupervisedThread(
            act, name, stopping=self._stopping, on_failure=self._on_failure, restarts=restarts
        )


def _log_failure(what: str, error: Exception, **fields: object) -> None:
    """A store that does not answer is no mistake in the code, so it gets no traceback."""
    trace = None if isinstance(error, Unavailable) else error
    log.error("%s: %s", what, error, exc_info=trace, extra=fields)


def _join(threads: Sequence[SupervisedThread], grace: float) -> None:
    until = monotonic() + grace
    for thread in threads:
        thread.join(max(until - monotonic(), 0))
