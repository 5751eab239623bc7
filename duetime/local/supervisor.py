"""Threads that must not end unnoticed.

A thread of the runner that fails is started again, after a pause that grows, or ends the runner
when it fails too often. Nothing here depends on logging: what failed the thread may fail that too.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

log = logging.getLogger(__name__)

RESTARTS = 3  # within a minute
WITHIN = 60.0
FIRST_PAUSE = 0.5  # seconds; twice as long after each failure

OnFailure = Callable[[str], None]


class Restarts:
    """When a thread that failed may start again."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._failures: list[float] = []

    def pause(self, now: float) -> float | None:
        """After a failure at `now`: the seconds to wait, or None if there were too many."""
        self._failures = [at for at in self._failures if now - at < WITHIN] + [now]
        many = len(self._failures)
        return None if many > self._limit else FIRST_PAUSE * 2 ** (many - 1)


class SupervisedThread:
    """Runs `act`, which returns only once `stopping` is set.

    `restarts` is how often it may fail within a minute; one more and `on_failure` is called with
    the reason, from this thread. It must not raise."""

    def __init__(
        self,
        act: Callable[[], None],
        name: str,
        *,
        stopping: threading.Event,
        on_failure: OnFailure,
        restarts: int = RESTARTS,
    ) -> None:
        self.name = name
        self.failure: str | None = None  # why it does not run now
        self._act = act
        self._stopping = stopping
        self._on_failure = on_failure
        self._restarts = Restarts(restarts)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """RuntimeError if the machine allows no more threads."""
        self._thread.start()

    def join(self, timeout: float) -> None:
        self._thread.join(timeout)

    @property
    def trouble(self) -> str | None:
        """Why it does not run now; None if it does."""
        if self.failure is None and not self._thread.is_alive():
            return f"the thread {self.name} does not run"
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
            with suppress(Exception):  # it is told in another way, and must not end this thread
                log.error("thread failed", exc_info=error, extra={"thread": self.name})
            if pause is None or self._stopping.wait(pause):
                return
            self.failure = None

    def _failed(self) -> BaseException | None:
        try:
            self._act()
        except BaseException as error:  # noqa: BLE001 - a thread that ends must be noticed
            return error
        return None
