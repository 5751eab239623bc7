"""Supervised threads of the local runner and of a worker: none ends unnoticed.

A thread that fails is restarted after a growing pause. If it fails too often, the process stops.
Nothing here depends on logging, because the cause of the failure may break logging too.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from time import monotonic

from duetime.core.errors import DuetimeError

log = logging.getLogger(__name__)

MAX_RESTARTS = 3  # within RESTART_WINDOW
RESTART_WINDOW = 60.0  # seconds
FIRST_RESTART_PAUSE = 0.5  # seconds; twice as long after each failure

OnFailure = Callable[[str], None]


class Restarts:
    """Decides when a thread that failed may restart."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._failures: list[float] = []

    def pause(self, now: float) -> float | None:
        """Returns the seconds to wait after a failure at `now`; None after too many failures."""
        self._failures = [at for at in self._failures if now - at < RESTART_WINDOW] + [now]
        many = len(self._failures)
        return None if many > self._limit else FIRST_RESTART_PAUSE * 2 ** (many - 1)


class SupervisedThread:
    """Runs `act`, which returns only after `stopping` is set.

    `act` may fail `restarts` times within a minute. After one more failure `on_failure` is called
    with the reason, from this thread. It must not raise."""

    def __init__(
        self,
        act: Callable[[], None],
        name: str,
        *,
        stopping: threading.Event,
        on_failure: OnFailure,
        restarts: int = MAX_RESTARTS,
    ) -> None:
        self.name = name
        self.failure: str | None = None  # why it is not running
        self._act = act
        self._stopping = stopping
        self._on_failure = on_failure
        self._restarts = Restarts(restarts)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Raises RuntimeError if the machine allows no more threads."""
        self._thread.start()

    def join(self, timeout: float) -> None:
        self._thread.join(timeout)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def failure_reason(self) -> str | None:
        """Why the thread is not running; None if it is."""
        if self.failure is None and not self._thread.is_alive():
            return f"the thread {self.name} is not running"
        return self.failure and f"the thread {self.name} failed: {self.failure}"

    def _run(self) -> None:
        while True:
            error = self._failed()
            if self._stopping.is_set() and error is None:
                return
            self.failure = "it ended" if error is None else f"{type(error).__name__}: {error}"
            pause = self._restarts.pause(monotonic())
            if pause is None:
                self._on_failure(f"the thread {self.name} failed: {self.failure}")
            # on_failure has the reason; an error in logging must not end this thread
            with suppress(Exception):
                log.error("thread failed", exc_info=error, extra={"thread": self.name})
            if pause is None or self._stopping.wait(pause):
                return
            self.failure = None

    def _failed(self) -> BaseException | None:
        try:
            self._act()
        except BaseException as error:  # noqa: BLE001 - reported by the caller
            return error
        return None


@contextmanager
def starting_threads() -> Iterator[None]:
    """Raise DuetimeError if the machine allows no more threads."""
    try:
        yield
    except RuntimeError as error:
        remedy = "allow more processes (ulimit -u) or memory"
        raise DuetimeError(f"no more threads: {error}; {remedy}") from error


class ThreadPool(ThreadPoolExecutor):
    """A pool with at least one thread. If no more can start, calls wait for the existing ones."""

    def __init__(self, most: int, name: str) -> None:
        super().__init__(most, thread_name_prefix=name)
        with starting_threads():
            self.submit(int)

    def _adjust_thread_count(self) -> None:
        try:
            super()._adjust_thread_count()
        except RuntimeError:
            if not self._threads:
                raise
