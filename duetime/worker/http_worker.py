"""A worker that gets its tasks from a runner over HTTP: `duetime worker --url`.

The worker pool runs the attempts, as in the runner. One thread takes leases as the pool has slots,
the pool has its own threads, and the outbox reports what has ended.
"""

import logging
import os
import re
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from duetime.core.lanes import Lane
from duetime.core.ports import Clock
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.executor.worker_pool import WorkerPool
from duetime.handlers import registry
from duetime.worker.http_connection import Address
from duetime.worker.http_executor import HttpExecutor
from duetime.worker.http_source import HttpLanes, Wanted
from duetime.worker.runner_calls import CallRefused, RunnerCalls

REPORT_TIMEOUT = 20.0  # seconds to report the last outcomes
SLOT_WAIT = 1.0  # seconds of one wait for a free slot
POLL = 20.0  # seconds of one wait for leases
MAX_NAME = 64

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class HttpWorkerOptions:
    url: str
    token: str | None
    name: str
    pool: str | None = None
    lanes: Sequence[Lane] = tuple(Lane)
    concurrency: int = 8
    grace: float = 25.0  # seconds that handlers have after a signal


def worker_name() -> str:
    """Returns a name that no other process has."""
    host = re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[: MAX_NAME - 24]
    return f"{host}-{os.getpid()}-{os.urandom(3).hex()}"


class HttpWorker:
    """`run` returns the exit code: 0 after a drain, 2 if the runner refuses this worker, 1 if a
    thread has failed."""

    def __init__(self, options: HttpWorkerOptions, clock: Clock | None = None) -> None:
        """Raises BadRunnerUrl."""
        address = Address.parse(options.url)
        clock = clock or SystemClock()
        chance = SystemRandom()
        self.sends_token_in_plain = options.token is not None and address.plain_to_others
        self.refused: CallRefused | None = None
        self._grace = options.grace
        self._calls = RunnerCalls(address, options.token, options.name)
        self._executor = HttpExecutor(self._calls, clock, self._on_refused)
        self._pool = WorkerPool(self._executor, clock, options.concurrency, name="worker")
        wanted = Wanted(
            pool=options.pool,
            lanes=options.lanes,
            handlers=lambda: sorted(registry.names()),
            concurrency=options.concurrency,
            host=socket.gethostname(),
            new_request=lambda: chance.new_id(clock.now()),
        )
        self._source = HttpLanes(self._calls, self._executor, clock, wanted, self._on_refused)
        self._draining = threading.Event()
        self._failed = False

    def run(self) -> int:
        """Works until `drain` is called."""
        self._executor.start()
        self._pool.start()
        threads = [
            threading.Thread(target=self._guarded(act), name=name, daemon=True)
            for name, act in (("pool", self._pool.run), ("intake", self._take_leases))
        ]
        for thread in threads:
            thread.start()
        self._draining.wait()
        for thread in reversed(threads):
            thread.join()
        self._source.give_back()
        left = self._executor.close(REPORT_TIMEOUT)
        if left:
            log.error("outcomes lost: the runner does not answer", extra={"outcomes": left})
        if self.refused is not None:
            return 2
        return 1 if self._failed or left else 0

    def drain(self, grace: float | None = None) -> None:
        """Takes nothing more, and ends when the handlers have. Any thread may call it, also a
        second time with a shorter grace."""
        self._executor.draining = True
        self._draining.set()
        self._source.close()
        self._pool.drain(self._grace if grace is None else grace)

    @property
    def draining(self) -> bool:
        return self._draining.is_set()

    def _take_leases(self) -> None:
        while not self._draining.is_set():
            free = self._pool.wait_for_slots(SLOT_WAIT)
            if free <= 0:
                continue
            ready = self._source.ready(POLL, free)
            messages = [m for lane, n in ready.items() for m in self._source.take(lane, n)]
            if messages:
                self._pool.offer(messages)

    def _on_refused(self, error: CallRefused) -> None:
        """Every call will be refused, so the worker ends."""
        if self.refused is None:
            self.refused = error
            self.drain()

    def _guarded(self, act: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            try:
                act()
            except BaseException:
                self._failed = True
                log.exception("thread failed", extra={"thread": threading.current_thread().name})
                self.drain(0)

        return run
