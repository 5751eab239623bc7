"""The crew: runs the attempts of one lane side by side.

One thread keeps the books: it leases what is due, renews, times out and records, always for
everything that has come up since it last looked. The others run one target at a time. Messages
and finished runs reach the bookkeeper through one inbox, so nothing here needs a lock but the
count of free slots.

There are as many threads as runs have needed at the same time, and one at least. Where no more can
be started, runs wait for the threads that there are, and fewer messages are taken in.
"""

import logging
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

from lambdas.core.delivery import Message
from lambdas.core.ports import Clock
from lambdas.core.times import MINUTE, SECOND, Millis
from lambdas.executor.books import Books
from lambdas.executor.executor import Executor
from lambdas.executor.runs import Ended, Run

log = logging.getLogger(__name__)

GUARD_EVERY = 1.0  # seconds
PATIENCE = 0.001  # seconds that work may wait for a busy thread before more are woken
THREADS_AGAIN: Millis = MINUTE  # when to try again whether more threads can be started


class Crew:
    """`until` is when it must be done, by the monotonic clock, where somebody else ends it."""

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
        self._inbox: SimpleQueue[Sequence[Message] | Ended | BaseException | None] = SimpleQueue()
        self._work: deque[Run] = deque()
        self._bell: SimpleQueue[bool] = SimpleQueue()  # True: there is work; False: go home
        self._rings = 1
        self._threads: list[threading.Thread] = []
        self._more_threads_at: Millis | None = None  # while no more can be started
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
            self._slot_freed.wait_for(lambda: self._free_slots() > 0 or self._closing, timeout)
            return max(self._free_slots(), 0)

    def close(self) -> None:
        """Take no more; `run` returns once what was offered is done."""
        self._inbox.put(None)

    @property
    def running(self) -> int:
        return self._books.running

    def abandoned(self) -> int:
        """How many handlers still run although the crew is done: they could not be stopped."""
        ended: list[Ended] = []
        with suppress(Empty):
            while True:
                self._sort(self._inbox.get_nowait(), ended)
        return self._executing - len(self._work)

    def start(self) -> None:
        """Start the threads without which no attempt may begin. RuntimeError if there can be
        none: better before anything is leased than after."""
        threading.Thread(target=self._guard, name=f"{self._name}-guard", daemon=True).start()
        self._start_thread()

    # the bookkeeper

    def run(self) -> None:
        try:
            if not self._threads:
                self.start()
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
            for run in turn.begun:
                run.context.queued = True
            self._work.extend(turn.begun)
            self._call_threads()

    def _guard(self) -> None:
        """The bookkeeper may wait for a backend's answer; the handlers' leases do not."""
        try:
            while not self._done.wait(GUARD_EVERY):
                if self._books.guard():
                    self._inbox.put(())
        except BaseException as error:  # noqa: BLE001 - it ends the crew
            self._inbox.put(error)

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

    def _sort(
        self, item: Sequence[Message] | Ended | BaseException | None, ended: list[Ended]
    ) -> None:
        if item is None:
            self._closing = True
        elif isinstance(item, BaseException):
            raise item  # of another thread of the crew, which nobody else would notice
        elif isinstance(item, Ended):
            self._executing -= 1
            self._free(1)
            ended.append(item)
        else:
            self._free(self._books.take(item))

    def _until_next_timer(self) -> float | None:
        at = self._books.next_timer
        hurry = self._work and not self._all_busy()
        if at is None:
            return PATIENCE if hurry else None
        wait = max(at - self._clock.monotonic(), 0) / SECOND
        return min(wait, PATIENCE) if hurry else wait

    def _call_threads(self) -> None:
        """Wake one thread, and as long as work is left, twice as many a millisecond later.
        Short runs are then done by a few threads that need not be woken for each."""
        if not self._work:
            self._rings = 1
            return
        for _ in range(min(self._rings, len(self._work))):
            if len(self._threads) < self._executing:
                self._try_one_more_thread()
            if self._all_busy():  # the next that is done takes the rest up by itself
                return
            self._bell.put(True)
        self._rings *= 2

    def _all_busy(self) -> bool:
        """Whether no thread is idle, and no more can be started."""
        running = self._executing - len(self._work)
        return self._more_threads_at is not None and len(self._threads) <= running

    def _try_one_more_thread(self) -> None:
        now = self._clock.monotonic()
        if self._more_threads_at is not None and now < self._more_threads_at:
            return
        try:
            self._start_thread()
            self._more_threads_at = None
        except RuntimeError as error:
            first, self._more_threads_at = self._more_threads_at is None, now + THREADS_AGAIN
            if first:
                fields = {"step": "execute", "threads": len(self._threads)}
                log.warning("thread not started, fewer are used: %s", error, extra=fields)

    def _start_thread(self) -> None:
        name = f"{self._name}-{len(self._threads)}"
        thread = threading.Thread(target=self._execute, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _execute(self) -> None:
        try:
            self._execute_runs()
        except BaseException as error:  # noqa: BLE001 - it ends the crew
            self._inbox.put(error)

    def _execute_runs(self) -> None:
        while self._bell.get():
            while self._work:
                try:
                    run = self._work.popleft()
                except IndexError:  # another thread was quicker
                    break
                run.context.count_from(self._clock.monotonic())
                run.context.queued = False
                self._inbox.put(self._executor.execute(run))

    def _free_slots(self) -> int:
        """While no more threads can be started, one for each that there is; and one more, when it
        is time to try again."""
        if self._more_threads_at is None:
            return self._slots - self._taken
        one_more = self._clock.monotonic() >= self._more_threads_at
        return min(len(self._threads) + one_more, self._slots) - self._taken

    def _free(self, slots: int) -> None:
        if slots:
            with self._slot_freed:
                self._taken -= slots
                self._slot_freed.notify()
