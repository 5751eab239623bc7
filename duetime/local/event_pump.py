"""The event pump: does what EventBridge, the SQS pollers and the table's stream do when deployed.

It has no rules of its own. It calls the scanner at every tick, passes messages to the worker pool
as it has slots, by the weights of their lanes, and passes status changes to the relay. None of its
threads may end unnoticed: see supervisor.py. The thread of the worker pool is not restarted: only
that thread knows which runs it has started.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic

from duetime.api.health import Check
from duetime.core.delivery import Message
from duetime.core.errors import Unavailable
from duetime.core.events import StatusChange
from duetime.core.lanes import Lane
from duetime.core.ports import Clock
from duetime.core.shares import Shares
from duetime.core.steps.lease import HEARTBEAT
from duetime.core.times import SECOND, Millis
from duetime.engine.clock import ClockJumps
from duetime.executor.attempt_loop import LONGEST_STOP
from duetime.executor.lane_sources import LaneSource
from duetime.executor.worker_pool import WorkerPool
from duetime.local.late_follow_ups import LateFollowUps
from duetime.relay import Relay
from duetime.scanner.report import TickReport
from duetime.scanner.scanner import Scanner
from duetime.supervised_threads import MAX_RESTARTS, OnFailure, SupervisedThread, starting_threads

log = logging.getLogger(__name__)

Changes = SimpleQueue[Sequence[StatusChange] | None]  # None ends the relay
Feed = Callable[[], Sequence[StatusChange]]
Sweep = Callable[[], Millis]
OnTick = Callable[[TickReport], None]

RECEIVE_BATCH = 100
CLOCK_JUMP_PAUSE = HEARTBEAT / SECOND  # by then every running attempt has renewed its lease
SHORT_PAUSE = 1.0  # seconds, after an unfinished tick or a lane that was not read
FEED_PAUSE = 0.5
# After so many changes at once the relay waits for more: each wake-up of its thread takes time from
# the threads that start tasks.
FLOOD, FLOOD_PAUSE = 50, 0.005
FAILED_SWEEP_PAUSE = 60.0
LINES_PAUSE: Millis = 2 * SECOND
LEASES_PAUSE = 1.0
# The scanner is unhealthy after this many missed ticks, and at least this many seconds.
LATE_TICKS, LATE_SECONDS = 3, 60.0


class Pump:
    """Drives the roles.

    Args:
        source: Where the messages of the lanes come from.
        shares: Decides which lane gets a free slot of the pool.
        tick: Seconds between two ticks of the scanner.
        poll: Seconds that one wait for messages or for a slot takes at most.
        on_failure: Called with the reason, from any thread, when the runner must end.
        on_tick: Called with the report of each tick.
        feed: Polls status changes, if the store does not publish them.
        sweep: Removes tasks after their retention, if the store does not do that by itself. Returns
            how long to wait for its next call.
        look_at_lines: Gives free slots to tasks that wait for a limit.
        late_follow_ups: Those that the relay has put off.
        end_expired_leases: Ends the attempts of HTTP workers that have died."""

    def __init__(
        self,
        *,
        scanner: Scanner,
        pool: WorkerPool,
        source: LaneSource,
        shares: Shares,
        relay: Relay,
        changes: Changes,
        clock: Clock,
        tick: float,
        poll: float,
        on_failure: OnFailure,
        on_tick: OnTick | None = None,
        feed: Feed | None = None,
        sweep: Sweep | None = None,
        look_at_lines: Callable[[], object] | None = None,
        late_follow_ups: LateFollowUps | None = None,
        end_expired_leases: Callable[[], object] | None = None,
    ) -> None:
        self._scanner = scanner
        self._pool = pool
        self._source = source
        self._shares = shares
        self._relay = relay
        self._late_follow_ups = late_follow_ups
        self._clock = clock
        self._clock_jumps = ClockJumps(clock)
        self._tick = tick
        self._poll = poll
        self._on_failure = on_failure
        self._on_tick = on_tick
        self._ready = False
        self._started = threading.Event()
        self._stopping = threading.Event()
        self._drained = threading.Event()
        self._changes = changes
        self._relaying: Sequence[StatusChange] = ()
        self._tick_thread = self._thread(self._run_ticks, "tick")
        self._intake_thread = self._thread(self._run_intake, "intake")
        self._poll_threads = {
            lane: self._thread(partial(self._poll_lane, lane), f"poll-{lane}")
            for lane in source.polled
        }
        self._sweep_threads = (
            [self._thread(partial(self._run_sweeps, sweep), "retention")] if sweep else []
        )
        if look_at_lines:
            lines = self._thread(partial(self._watch_lines, look_at_lines), "lines")
            self._sweep_threads.append(lines)
        if end_expired_leases:
            leases = self._thread(partial(self._watch_leases, end_expired_leases), "leases")
            self._sweep_threads.append(leases)
        self._taking = threading.Lock()
        pool.refill = self._take_messages
        pool.take_for_new = self._take_slots
        self._pool_thread = self._thread(pool.run, "pool", restarts=0)
        self._relay_threads = [self._thread(self._run_relay, "relay")]
        if feed:
            self._relay_threads.insert(
                0, self._thread(partial(self._poll_feed, feed), "change-feed")
            )
        self._ticked_at = monotonic()  # when the last tick succeeded
        self._tick_failure: str | None = None

    def start_threads(self) -> None:
        """Start every thread; none receives messages yet. A runner that cannot start all of them
        must not have started any attempt."""
        with starting_threads():
            self._pool.start()
            for thread in self._threads:
                thread.start()
        self._ready = True

    def start(self) -> None:
        if not self._ready:
            self.start_threads()
        self._started.set()

    def stop(self, grace: float) -> int:
        """Stop receiving, and drain the pool: what does not end within `grace` is interrupted.
        Returns how many attempts still run."""
        self._stopping.set()
        self._started.set()
        _join(self._threads_until_stop, grace)
        with self._taking:  # the pool takes none from now on
            self._source.close()
        self._pool.drain(grace)
        _join([self._pool_thread], grace and grace + LONGEST_STOP / SECOND + SHORT_PAUSE)
        self._drained.set()
        self._changes.put(None)
        _join(self._relay_threads, grace)
        return self._pool.running + self._pool.not_stopped

    @property
    def tick_age(self) -> float:
        """Seconds since the last tick that succeeded, or since the start."""
        return monotonic() - self._ticked_at

    @property
    def relay_age(self) -> float:
        """The age of the change that the relay handles now, in seconds; 0 if it is idle."""
        changes = self._relaying
        return max(self._clock.now() - changes[0].at, 0) / SECOND if changes else 0.0

    def checks(self) -> list[Check]:
        """Returns whether every thread is running and the scanner is ticking."""
        return [
            Check(name="scanner", reason=self._tick_thread.failure_reason or self._late()),
            *(Check(name=f"lane {lane}", reason=self._not_served(lane)) for lane in Lane),
            *(
                Check(name=thread.name, reason=thread.failure_reason)
                for thread in (*self._relay_threads, *self._sweep_threads)
            ),
        ]

    def _not_served(self, lane: Lane) -> str | None:
        poll = self._poll_threads.get(lane)
        threads = [self._pool_thread, self._intake_thread, *([poll] if poll else [])]
        return next((reason for t in threads if (reason := t.failure_reason)), None)

    def _late(self) -> str | None:
        if self.tick_age <= max(LATE_TICKS * self._tick, LATE_SECONDS):
            return None
        why = f"; the last one failed: {self._tick_failure}" if self._tick_failure else ""
        return f"no tick for {self.tick_age:.0f} s{why}"

    @property
    def _threads(self) -> list[SupervisedThread]:
        return [*self._relay_threads, self._pool_thread, *self._threads_until_stop]

    @property
    def _threads_until_stop(self) -> list[SupervisedThread]:
        intake = [self._intake_thread, *self._poll_threads.values()]
        return [self._tick_thread, *intake, *self._sweep_threads]

    def _run_ticks(self) -> None:
        self._started.wait()
        wait = 0.0
        while not self._stopping.wait(wait):
            wait = self._tick
            if self._clock_jumps.seen():
                # The leases of running attempts may look expired until they are renewed.
                wait = CLOCK_JUMP_PAUSE
                continue
            try:
                report = self._scanner.tick()
            except Exception as error:  # noqa: BLE001 - logged and retried
                self._tick_failure = str(error) or type(error).__name__
                _log_failure("tick failed", error, step="scan")
                continue
            self._ticked_at, self._tick_failure = monotonic(), None
            log.debug("tick finished", extra={"step": "scan", **report.as_dict()})
            if self._on_tick:
                self._on_tick(report)
            if report.unfinished:
                wait = min(SHORT_PAUSE, self._tick)

    def _run_sweeps(self, sweep: Sweep) -> None:
        self._started.wait()
        wait = SHORT_PAUSE
        while not self._stopping.wait(wait):
            try:
                wait = sweep() / SECOND
            except Exception as error:  # noqa: BLE001 - logged and retried
                _log_failure("tasks not removed", error, step="remove")
                wait = FAILED_SWEEP_PAUSE

    def _watch_lines(self, look: Callable[[], object]) -> None:
        """On one machine a line is looked at every few seconds, not only by a tick."""
        self._started.wait()
        while not self._stopping.wait(LINES_PAUSE / SECOND):
            try:
                look()
            except Exception as error:  # noqa: BLE001 - logged and retried
                _log_failure("lines not checked", error, step="watch")

    def _watch_leases(self, end_expired: Callable[[], object]) -> None:
        """The attempt of a worker that has died is retried when its lease has run out, not only at
        the next tick. After a jump of the wall clock its lease may look expired."""
        self._started.wait()
        jumps, wait = ClockJumps(self._clock), LEASES_PAUSE
        while not self._stopping.wait(wait):
            wait = CLOCK_JUMP_PAUSE if jumps.seen() else LEASES_PAUSE
            if wait == LEASES_PAUSE:
                try:
                    end_expired()
                except Exception as error:  # noqa: BLE001 - logged and retried
                    _log_failure("leases not checked", error, step="watch")

    def _run_intake(self) -> None:
        """Pass messages to the pool as they get ready, while it has slots."""
        self._started.wait()
        while not self._stopping.is_set():
            if self._pool.wait_for_slots(self._poll) and self._source.ready(self._poll, 1):
                self._take_messages()

    def _take_messages(self) -> None:
        """Pass the messages that are ready to the pool, as far as it has slots. The pool calls this
        too, when slots become free."""
        with self._taking:
            free = min(self._pool.wait_for_slots(0), RECEIVE_BATCH)
            if not free or self._stopping.is_set():
                return
            ready = self._source.ready(0, free)
            messages: list[Message] = []
            for lane, count in self._shares.hand_out(free, ready).items():
                messages += self._source.take(lane, count)
            if messages:
                self._pool.offer(messages)

    def _take_slots(self, most: int) -> int:
        """Takes up to so many free slots of the pool for tasks that start with their submission:
        none while other tasks are ready."""
        with self._taking:
            if self._stopping.is_set() or self._source.ready(0, 1):
                return 0
            return self._pool.take_slots(most)

    def _poll_lane(self, lane: Lane) -> None:
        self._started.wait()
        while not self._stopping.is_set():
            try:
                self._source.poll(lane, self._poll)
            except Exception as error:  # noqa: BLE001 - logged and retried
                _log_failure("lane not read", error, step="receive", lane=lane)
                self._stopping.wait(SHORT_PAUSE)

    def _run_relay(self) -> None:
        while (changes := self._next_changes()) is not None:
            self._relaying = changes
            self._relay.relay(changes)
            self._relaying = ()
            if self._late_follow_ups:
                self._late_follow_ups.run_due()
            if len(changes) >= FLOOD:
                self._drained.wait(FLOOD_PAUSE)

    def _next_changes(self) -> Sequence[StatusChange] | None:
        """Waits for changes, but not longer than until a follow-up is due, and takes all that have
        come."""
        try:
            first = self._changes.get(
                timeout=late.wait if (late := self._late_follow_ups) else None
            )
        except Empty:
            return ()
        if first is None or self._changes.empty():
            return first
        changes = [*first]
        while not self._changes.empty():  # nobody else takes any
            more = self._changes.get()
            if more is None:
                self._changes.put(None)
                break
            changes += more
        return changes

    def _poll_feed(self, feed: Feed) -> None:
        while not self._drained.wait(FEED_PAUSE):
            try:
                changes = feed()
            except Exception as error:  # noqa: BLE001 - logged and retried
                _log_failure("change feed not read", error, step="relay")
                continue
            if changes:
                self._changes.put(changes)

    def _thread(
        self, act: Callable[[], None], name: str, restarts: int = MAX_RESTARTS
    ) -> SupervisedThread:
        return SupervisedThread(
            act, name, stopping=self._stopping, on_failure=self._on_failure, restarts=restarts
        )


def _log_failure(what: str, error: Exception, **fields: object) -> None:
    """Logs an error with its traceback, unless the store did not answer, which is not a bug."""
    trace = None if isinstance(error, Unavailable) else error
    log.error("%s: %s", what, error, exc_info=trace, extra=fields)


def _join(threads: Sequence[SupervisedThread], grace: float) -> None:
    until = monotonic() + grace
    for thread in threads:
        thread.join(max(until - monotonic(), 0))
