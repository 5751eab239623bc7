"""The worker: takes messages from a source as its pool has slots, until it is drained."""

import logging
import threading
from collections.abc import Callable
from functools import partial

from duetime.core.delivery import Message
from duetime.core.errors import Unavailable
from duetime.core.lanes import Lane
from duetime.core.shares import Shares
from duetime.executor.lane_sources import LaneSource
from duetime.executor.worker_pool import WorkerPool
from duetime.supervised_threads import MAX_RESTARTS, OnFailure, SupervisedThread, starting_threads
from duetime.worker.options import BadConfiguration

log = logging.getLogger(__name__)

POLL = 5.0  # seconds that one wait for messages takes at most; a drain waits for it
TURN = 0.5  # seconds that the intake waits at most, so that a drain begins soon
RECEIVE_BATCH = 100
PAUSE = 1.0  # seconds, after a queue that was not read


class Worker:
    """Args:
    pool: Runs the attempts.
    source: Where its messages come from.
    shares: Decides which lane gets a free slot.
    on_failure: Called with the reason, from any thread, when the worker must end.
    on_refused: Called if the source takes no more calls from this worker."""

    def __init__(
        self,
        pool: WorkerPool,
        source: LaneSource,
        shares: Shares,
        on_failure: OnFailure,
        on_refused: Callable[[BadConfiguration], object] = lambda _: None,
    ) -> None:
        self._pool = pool
        self._source = source
        self._shares = shares
        self._on_failure = on_failure
        self._on_refused = on_refused
        self._stopping = threading.Event()
        self._intake = self._thread(self._run_intake, "intake")
        self._polls = [
            self._thread(partial(self._poll, lane), f"poll-{lane}") for lane in source.polled
        ]
        self._pool_thread = self._thread(pool.run, "pool", restarts=0)

    @property
    def running(self) -> int:
        return self._pool.running

    @property
    def draining(self) -> bool:
        return self._stopping.is_set()

    def failure(self) -> str | None:
        """Why a thread does not run; None if all do, or the worker drains."""
        threads = [] if self.draining else [self._pool_thread, self._intake, *self._polls]
        return next((reason for thread in threads if (reason := thread.failure_reason)), None)

    def start(self) -> None:
        with starting_threads():
            self._pool.start()
            for thread in (self._pool_thread, self._intake, *self._polls):
                thread.start()

    def drain(self, grace: float) -> None:
        """Stop receiving, and give the running handlers `grace` seconds. A second call may shorten
        them. Any thread may call this; it returns before the worker has ended."""
        if not self._stopping.is_set():
            self._stopping.set()
            self._source.close()
            self._intake.join(2 * TURN + PAUSE)
        self._pool.drain(grace)

    def ended(self, *, with_polls: bool) -> bool:
        """Whether a drained worker has ended. A queue may deliver to a call that is still under
        way, and only its thread can hand that message back."""
        threads = [self._pool_thread, *(self._polls if with_polls else [])]
        return not any(thread.alive for thread in threads)

    def _run_intake(self) -> None:
        while not self._stopping.is_set():
            free = min(self._pool.wait_for_slots(TURN), RECEIVE_BATCH)
            if not free:
                continue
            try:
                ready = self._source.ready(TURN, free)
            except BadConfiguration as error:
                self._on_refused(error)
                self._stopping.wait()
                return
            messages: list[Message] = []
            for lane, count in self._shares.hand_out(free, ready).items():
                messages += self._source.take(lane, count)
            if messages:
                self._pool.offer(messages)

    def _poll(self, lane: Lane) -> None:
        while not self._stopping.is_set():
            try:
                self._source.poll(lane, POLL)
            except Exception as error:
                trace = None if isinstance(error, Unavailable) else error
                fields = {"step": "receive", "lane": lane}
                log.error("lane not read: %s", error, exc_info=trace, extra=fields)
                self._stopping.wait(PAUSE)

    def _thread(self, act: object, name: str, restarts: int = MAX_RESTARTS) -> SupervisedThread:
        return SupervisedThread(
            act,  # type: ignore[arg-type]
            name,
            stopping=self._stopping,
            on_failure=self._on_failure,
            restarts=restarts,
        )
