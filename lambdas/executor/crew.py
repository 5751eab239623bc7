"""The crew: runs the attempts of one lane side by side.

One thread keeps the books: it leases what is due, renews, times out and records, always for
everything that has come up since it last looked. The others run one target at a time. Messages
and finished runs reach the bookkeeper through one inbox, so nothing here needs a lock but the
count of free slots.
"""

import threading
from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from queue import Empty, SimpleQueue

from lambdas.core.delivery import Message
from lambdas.core.lease import HEARTBEAT
from lambdas.core.ports import Clock
from lambdas.core.times import SECOND, Millis, seconds
from lambdas.executor.executor import Executor
from lambdas.executor.runs import Ended, Run, cancelled, timed_out

PATIENCE = 0.001  # seconds that work may wait for a busy thread before more are woken


class Crew:
    """`until` is when it must be done, where somebody else ends it; nothing is begun that might
    not be over by then."""

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
        self._until = until
        self._clock = clock
        self._slots = slots
        self._name = name
        self._inbox: SimpleQueue[Sequence[Message] | Ended | None] = SimpleQueue()
        self._work: deque[Run] = deque()
        self._bell: SimpleQueue[bool] = SimpleQueue()  # True: there is work; False: go home
        self._rings = 1
        self._order = count()
        self._waiting: list[tuple[Millis, int, Message]] = []
        self._running: dict[str, tuple[Millis, Run]] = {}  # by holder, with its deadline
        self._next_beat = clock.now() + HEARTBEAT
        self._threads: list[threading.Thread] = []
        self._executing = 0
        self._taken = 0  # slots spoken for: waiting, running, or abandoned and not yet back
        self._slot_freed = threading.Condition()
        self._closing = False

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
        return len(self._running)

    # the bookkeeper

    def run(self) -> None:
        while not self._closing or self._taken_in():
            ended = self._arrivals()
            self._beat()
            self._stop(ended)
            self._advance(ended)
            self._call_threads()
        for _ in self._threads:
            self._bell.put(False)

    def _taken_in(self) -> int:
        return len(self._waiting) + len(self._running)

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
            if self._running.pop(_key(item.run), None):  # else it was timed out before
                ended.append(item)
        else:
            admitted = self._executor.admit(item, self._until)
            self._free(len(item) - len(admitted))
            for message in admitted:
                due_at = message.delivery.due_at
                heappush(self._waiting, (due_at, next(self._order), message))

    def _until_next_timer(self) -> float:
        timers = [self._next_beat, *(deadline for deadline, _ in self._running.values())]
        if self._waiting:
            timers.append(self._waiting[0][0])
        wait = max(min(timers) - self._clock.now(), 0) / SECOND
        return min(wait, PATIENCE) if self._work else wait

    def _advance(self, ended: list[Ended]) -> None:
        now = self._clock.now()
        due = []
        while self._waiting and self._waiting[0][0] <= now:
            due.append(heappop(self._waiting)[2])
        if not ended and not due:
            return
        runs = self._executor.advance(ended=ended, due=due)
        self._free(len(due) - len(runs))
        for run in runs:
            self._start(run)

    def _start(self, run: Run) -> None:
        deadline = self._clock.now() + seconds(run.task.spec.timeout)
        self._running[_key(run)] = (deadline, run)
        self._executing += 1
        self._work.append(run)

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

    def _stop(self, ended: list[Ended]) -> None:
        """End what is over its time, or whose cancellation a heartbeat has brought. A handler
        cannot be stopped from outside: it is told, and its slot stays taken until it returns."""
        now = self._clock.now()
        for deadline, run in list(self._running.values()):
            if run.context.cancel_asked:
                ended.append(cancelled(run))
            elif deadline <= now:
                run.context.stop()
                ended.append(timed_out(run))
            else:
                continue
            del self._running[_key(run)]

    def _beat(self) -> None:
        now = self._clock.now()
        if now < self._next_beat:
            return
        self._next_beat = now + HEARTBEAT
        if self._running:
            self._executor.renew(run for _, run in self._running.values())

    def _free(self, slots: int) -> None:
        if slots:
            with self._slot_freed:
                self._taken -= slots
                self._slot_freed.notify()


def _key(run: Run) -> str:
    if run.task.holder is None:
        raise ValueError(f"task {run.task.id} is not leased")
    return run.task.holder
