"""The crew: runs the attempts of one lane side by side.

One thread keeps the books: it leases what is due, renews, times out and records, always for
everything that has come up since it last looked. The others run one target at a time. Messages
and finished runs reach the bookkeeper through one inbox, so nothing here needs a lock but the
count of free slots.
"""

import threading
from collections import deque
from collections.abc import Sequence
from queue import Empty, SimpleQueue

from lambdas.core.delivery import Message
from lambdas.core.ports import Clock
from lambdas.core.times import SECOND, Millis
from lambdas.executor.books import Books
from lambdas.executor.executor import Executor
from lambdas.executor.runs import Ended, Run

GUARD_EVERY = 1.0  # seconds
PATIENCE = 0.001  # seconds that work may wait for a busy thread before more are woken


class Crew:
    """`until` is when it must be done, where somebody else ends it."""

    def __init__(
        self,
        executor: Executor,
        clock: Clock,
        slots: int,
        *,
        name: str = "crew",
        until: Millis | None = None,
    ) -> None:
        self._executor = executor
        self._clock = clock
        self._slots = slots
        self._name = name
        self._books = Books(executor, clock, until=until)
        self._inbox: SimpleQueue[Sequence[Message] | Ended | None] = SimpleQueue()
        self._work: deque[Run] = deque()
        self._bell: SimpleQueue[bool] = SimpleQueue()  # True: there is work; False: go home
        self._rings = 1
        self._threads: list[threading.Thread] = []
        self._executing = 0
        self._taken = 0  # slots spoken for: waiting, running, or abandoned and not yet back
        self._slot_freed = threading.Condition()
        self._closing = False
        self._done = threading.Event()

    # from any thread

    def offer(self, messages: Sequence[Message]) -> None:
        with self._slot_freed:
            self._taken += len(messages)
        self._inbox.put(messages)

    def wait_for_slots(self, timeout: float) -> int:
        """How many more messages may be offered; waits until it is one, or time is up."""
        with self._slot_freed:
            self._slot_freed.wait_for(lambda: self._taken < self._slots or self._closing, timeout)
            return max(self._slots - self._taken, 0)

    def close(self) -> None:
        """Take no more; `run` returns once what was offered is done."""
        self._inbox.put(None)

    @property
    def running(self) -> int:
        return self._books.running

    # the bookkeeper

    def run(self) -> None:
        guard = threading.Thread(target=self._guard, name=f"{self._name}-guard", daemon=True)
        guard.start()
        try:
            self._keep_books()
        finally:
            self._done.set()
            for _ in self._threads:
                self._bell.put(False)

    def _keep_books(self) -> None:
        while not self._closing or self._books.open:
            turn = self._books.turn(self._arrivals())
            self._free(turn.let_go)
            self._executing += len(turn.begun)
            self._work.extend(turn.begun)
            self._call_threads()

    def _guard(self) -> None:
        """The bookkeeper may wait for a backend's answer; the handlers' leases do not."""
        while not self._done.wait(GUARD_EVERY):
            self._books.guard()

    def _arrivals(self) -> list[Ended]:
        """Everything that has come in, after waiting for the first thing or the next timer."""
        ended: list[Ended] = []
        wait = self._until_next_timer()
        try:
            self._sort(self._inbox.get(timeout=wait), ended)
            while True:
                self._sort(self._inbox.get_nowait(), ended)
        except Empty:
            return ended

    def _sort(self, item: Sequence[Message] | Ended | None, ended: list[Ended]) -> None:
        if item is None:
            self._closing = True
        elif isinstance(item, Ended):
            self._executing -= 1
            self._free(1)
            ended.append(item)
        else:
            self._free(self._books.take(item))

    def _until_next_timer(self) -> float | None:
        at = self._books.next_timer
        if at is None:
            return PATIENCE if self._work else None
        wait = max(at - self._clock.now(), 0) / SECOND
        return min(wait, PATIENCE) if self._work else wait

    def _call_threads(self) -> None:
        """Wake one thread, and as long as work is left, twice as many a millisecond later.
        Short runs are then done by a few threads that need not be woken for each."""
        if not self._work:
            self._rings = 1
            return
        for _ in range(min(self._rings, len(self._work))):
            self._bell.put(True)
            if len(self._threads) < self._executing:
                name = f"{self._name}-{len(self._threads)}"
                thread = threading.Thread(target=self._execute, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
        self._rings *= 2

    def _execute(self) -> None:
        while self._bell.get():
            while self._work:
                try:
                    run = self._work.popleft()
                except IndexError:  # another thread was quicker
                    break
                self._inbox.put(self._executor.execute(run))

    def _free(self, slots: int) -> None:
        if slots:
            with self._slot_freed:
                self._taken -= slots
                self._slot_freed.notify()
