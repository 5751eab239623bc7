"""What a worker does every few seconds beside its tasks: it says that it is there, keeps ECS from
stopping it while it is busy, and looks for a spot notice. None of it may end the worker."""

import logging
import socket
from collections.abc import Callable
from threading import Event, Thread

from duetime.core.ports import Clock
from duetime.core.times import SECOND, Millis
from duetime.core.workers import PRESENCE_EVERY, Running, WorkerRecord, WorkerStore
from duetime.executor.worker_pool import WorkerPool
from duetime.handlers import registry
from duetime.version import VERSION
from duetime.worker.options import WorkerOptions
from duetime.worker.scale_in import ScaleInProtection
from duetime.worker.spot_notice import SpotNotice

log = logging.getLogger(__name__)

EVERY: Millis = 5 * SECOND


class Upkeep:
    """Args:
    workers: Where the worker says that it is there; None if its leases say so.
    draining: Whether the worker drains.
    notice: Where spot notices are read; None: nowhere.
    on_notice: Called at a spot notice."""

    def __init__(
        self,
        options: WorkerOptions,
        pool: WorkerPool,
        clock: Clock,
        *,
        workers: WorkerStore | None,
        draining: Callable[[], bool],
        protection: ScaleInProtection,
        notice: SpotNotice | None,
        on_notice: Callable[[], object],
    ) -> None:
        self._options = options
        self._pool = pool
        self._clock = clock
        self._workers = workers
        self._draining = draining
        self._protection = protection
        self._notice = notice
        self._on_notice = on_notice
        self._since = clock.now()
        self._put_at: Millis | None = None
        self._ended = Event()
        self._thread = Thread(target=self._run, name="upkeep", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """The worker has ended: take back what was said of it."""
        self._ended.set()
        self._thread.join(EVERY / SECOND)
        self._try(lambda: self._protection.update(busy=False, now=self._clock.monotonic()))
        if (workers := self._workers) is not None:
            self._try(lambda: workers.remove(self._options.name))

    def turn(self) -> None:
        self._try(self._look_for_notice)
        busy = self._pool.running > 0
        self._try(lambda: self._protection.update(busy=busy, now=self._clock.monotonic()))
        self._try(self._put)

    def _run(self) -> None:
        while True:
            self.turn()
            if self._ended.wait(EVERY / SECOND):
                return

    def _look_for_notice(self) -> None:
        if self._notice is not None and not self._draining() and self._notice.given():
            log.warning("spot notice received", extra={"step": "drain"})
            self._on_notice()

    def _put(self) -> None:
        now = self._clock.monotonic()
        if self._workers is None or (self._put_at and now - self._put_at < PRESENCE_EVERY):
            return
        self._workers.put(self._record())
        self._put_at = now

    def _record(self) -> WorkerRecord:
        options = self._options
        return WorkerRecord(
            name=options.name,
            since=self._since,
            seen=self._clock.now(),
            backend="aws",
            pool=options.pool,
            lanes=options.lanes,
            handlers=tuple(registry.names()),
            concurrency=options.concurrency,
            running=tuple(Running(*task) for task in self._pool.running_tasks()),
            draining=self._draining(),
            host=socket.gethostname(),
            version=VERSION,
        )

    def _try(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Exception:
            log.exception("upkeep failed", extra={"step": "renew"})
