"""The worker pool: runs attempts in threads.

The loop thread drives the attempt loop: it leases what is due, renews, times out and records,
always for everything that has arrived since its last step. The worker threads run one target at a
time. Messages and finished runs reach the loop thread through one inbox, so only the count of free
slots needs a lock. The lease guard is a thread of its own.

The pool starts a thread when more runs need one at the same time, and at least one. Where no more
threads can be started, runs wait for the existing ones and the pool accepts fewer messages.
"""

import logging
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import sleep
from typing import TYPE_CHECKING

from duetime.core.delivery import Message
from duetime.core.lanes import Queue
from duetime.core.ports import Clock
from duetime.core.times import MINUTE, SECOND, Millis, seconds
from duetime.core.value import value
from duetime.executor.attempt_io import AttemptIO
from duetime.executor.attempt_loop import AttemptLoop
from duetime.executor.new_tasks import NewTasks
from duetime.executor.runs import Ended, Run, interrupted

if TYPE_CHECKING:
    from duetime.executor.handler_processes.pool import HandlerProcesses

log = logging.getLogger(__name__)

LEASE_GUARD_INTERVAL = 1.0  # seconds
PATIENCE: Millis = 20  # that new tasks wait for slots which are about to be free
RECORD_EVERY: Millis = 10  # between two writes of outcomes, while enough other runs go on
MANY_OUTCOMES = 8  # in one write: after that many the next write does not wait for more
LOOK_EVERY: Millis = 2  # at whether enough of them go on
ENOUGH_RUNS = 4  # for each outcome that waits, beside one for each core
CORES = os.cpu_count() or 1
WAKE_MORE_AFTER = 0.001  # seconds that a run may wait for a busy thread before more are woken
THREAD_RETRY_DELAY: Millis = MINUTE  # after a thread could not be started


@value(frozen=True, slots=True)
class _Drain:
    grace: Millis


InboxItem = Sequence[Message] | Ended | NewTasks | _Drain | BaseException | None  # None: close
OnStart = Callable[[Sequence[Run]], None]


class WorkerPool:
    """`slots`: how many messages the pool holds at most, waiting or running. `until`: when it
    must be done, by the monotonic clock, if the caller ends the process then. `on_start` is called
    with the runs that were leased."""

    def __init__(
        self,
        executor: AttemptIO,
        clock: Clock,
        slots: int,
        *,
        name: str = "executor",
        until: Millis | None = None,
        on_start: OnStart | None = None,
        processes: "HandlerProcesses | None" = None,
    ) -> None:
        self._executor = executor
        self._clock = clock
        self._slots = slots
        self._name = name
        self._on_start = on_start
        self._processes = processes
        self._loop = AttemptLoop(executor, clock, until=until)
        self._inbox: SimpleQueue[InboxItem] = SimpleQueue()
        self._work: deque[Run] = deque()
        self._wake_ups: SimpleQueue[bool] = SimpleQueue()  # True: there is work; False: exit
        self._threads_to_wake = 1
        self._threads: list[threading.Thread] = []
        self._more_threads_at: Millis | None = None  # while no more can be started
        self._executing = 0  # runs in `_work` or in a thread
        self._slots_used = 0  # by messages that wait or run, and by handlers that did not stop
        self._slot_freed = threading.Condition()
        # Called in the loop thread when slots are free, to offer what is ready for them: it is then
        # leased with the write that records what has ended.
        self.refill: Callable[[], object] = lambda: None
        # Called in the loop thread, to take up to so many slots for new tasks that start with their
        # submission. Returns how many were taken: none while messages are ready for them.
        self.take_for_new: Callable[[int], int] = self.take_slots
        self._new: deque[NewTasks] = deque()  # that wait for slots
        self._recorded_at: Millis = -RECORD_EVERY  # when outcomes were last recorded
        self._recorded = 0  # how many then
        self._closing = False
        self._done = threading.Event()

    # called from any thread

    def offer(self, messages: Sequence[Message]) -> None:
        """Add messages. Each uses a slot until it has ended or is handed back."""
        with self._slot_freed:
            self._slots_used += len(messages)
        self._inbox.put(messages)

    def take_slots(self, most: int) -> int:
        """Take up to so many free slots. Returns how many were taken."""
        if self._processes is not None and not self._processes.wait_until_ready(0):
            return 0
        with self._slot_freed:
            taken = max(min(self._free_slots(), most), 0)
            self._slots_used += taken
        return taken

    def store(self, new: NewTasks) -> None:
        """Store new tasks together with leases of the first of them, if slots for them are free
        soon. Returns when they are stored, or will not be: see NewTasks."""
        new.offered_at = self._clock.monotonic()
        self._inbox.put(new)
        while not new.answered.wait(LEASE_GUARD_INTERVAL):
            if self._done.is_set():  # it reads nothing more
                new.give_up()
                return

    def wait_for_slots(self, timeout: float, at_least: int = 1) -> int:
        """Wait until so many slots are free, up to `timeout` seconds. Returns the number of free
        slots: 0 while no handler process is ready."""
        if self._processes is not None and not self._processes.wait_until_ready(timeout):
            return 0
        with self._slot_freed:
            self._slot_freed.wait_for(
                lambda: self._free_slots() >= at_least or self._closing, timeout
            )
            return max(self._free_slots(), 0)

    def close(self) -> None:
        """Have `run` return once everything that was offered is done."""
        self._inbox.put(None)

    def drain(self, grace: float) -> None:
        """Start nothing more, ask running handlers to stop, and have `run` return once they have
        ended. After `grace` seconds they are interrupted. A second call may shorten the grace."""
        self._inbox.put(_Drain(seconds(grace)))

    @property
    def not_stopped(self) -> int:
        """How many handlers a drain could not stop."""
        return self._loop.not_stopped

    @property
    def running(self) -> int:
        return self._loop.running

    def running_tasks(self) -> list[tuple[str, Millis]]:
        """Returns the ids of the running tasks, each with its start."""
        return self._loop.running_tasks()

    def running_by_queue(self) -> Counter[Queue]:
        return self._loop.running_by_queue()

    def abandoned(self) -> int:
        """Returns how many handlers still run after `run` has returned: they did not stop."""
        self._receive_all([])
        return self._executing - len(self._work)

    def start(self) -> None:
        """Start the threads without which no attempt may begin. Raises RuntimeError if they cannot
        be started, before anything is leased."""
        guard = threading.Thread(
            target=self._guard_leases, name=f"{self._name}-lease-guard", daemon=True
        )
        guard.start()
        self._start_thread()
        if self._processes is not None:
            self._processes.on_failure = self._inbox.put
            self._processes.start()

    # the loop thread

    def run(self) -> None:
        """Run the attempt loop in this thread until the pool is closed and all work has ended."""
        try:
            if not self._threads:
                self.start()
            self._run_loop()
        finally:
            self._done.set()
            if self._processes is not None:
                self._processes.close()
            for _ in self._threads:
                self._wake_ups.put(False)

    def _run_loop(self) -> None:
        while not self._closing or self._loop.unfinished:
            ended = self._wait_for_arrivals()
            new = self._take_new()
            result = self._loop.step(ended, new)
            for one in new:
                one.answered.set()
            self._free(result.not_started)
            self._executing += len(result.started)
            if self._on_start and result.started:
                self._on_start(result.started)
            for run in result.started:
                run.control.queued = True
            if not self._work:  # the threads that are awake have kept up
                self._threads_to_wake = 1
            self._work.extend(self._hand_over(result.started))
            self._wake_threads()

    def _take_new(self) -> list[NewTasks]:
        """Returns the new tasks to store now, each with its slots. Refuses those that have waited
        for too long."""
        taken: list[NewTasks] = []
        while self._new and self._take_for(self._new[0]):
            new = self._new.popleft()
            if new.slots:
                taken.append(new)
            else:
                new.answered.set()
        return taken

    def _take_for(self, new: NewTasks) -> bool:
        """Whether new tasks need not wait any longer: they have their slots, or will get none. A
        slot that a run has had for long is not about to be free."""
        if self._closing:
            return True
        now = self._clock.monotonic()
        late = now - new.offered_at >= PATIENCE
        wanted = len(new.tasks)
        if not late:
            wanted = min(wanted, self._slots - self._loop.running_since(now - PATIENCE))
            if self._free_slots() < wanted:
                return False
        new.slots = self.take_for_new(len(new.tasks))
        return late or new.slots > 0

    def _hand_over(self, started: Sequence[Run]) -> Sequence[Run]:
        """Gives runs to the handler processes. Returns those that run in threads."""
        if self._processes is None:
            return started
        if self._loop.grace_over:
            self._processes.kill()
        put = self._inbox.put
        return [run for run in started if not self._executor.hand_over(run, put)]

    def _wait_for_arrivals(self) -> list[Ended]:
        """Wait for the first arrival or the next timer, then take everything that has arrived, and
        what is offered for the slots that are free now."""
        ended: list[Ended] = []
        freed = 0
        with suppress(Empty):
            self._receive(self._inbox.get(timeout=self._until_next_timer()), ended)
        self._receive_all(ended)
        self._wait_for_more(ended)
        while freed < len(ended):
            now = len(ended)
            self._free(now - freed)
            freed = now
            self._receive_all(ended)
        return ended

    def _wait_for_more(self, ended: list[Ended]) -> None:
        """Wait for outcomes that are recorded in the same write as those that have arrived. A write
        for each of them costs cores that handlers could use. Other runs use them meanwhile, and
        short ones end in large numbers anyway. What is to start does not wait for them."""
        if not ended:
            return
        write_at = self._recorded_at + RECORD_EVERY
        for _ in range(RECORD_EVERY // LOOK_EVERY if self._recorded < MANY_OUTCOMES else 0):
            early = write_at - self._clock.monotonic()
            others_go_on = self._executing >= CORES + ENOUGH_RUNS * len(ended)
            to_start = self._new or self._loop.has_due
            if early <= 0 or not others_go_on or len(ended) >= MANY_OUTCOMES or to_start:
                break
            sleep(min(early, LOOK_EVERY) / SECOND)
            self._receive_all(ended)
        self._recorded, self._recorded_at = len(ended), self._clock.monotonic()

    def _receive_all(self, ended: list[Ended]) -> None:
        with suppress(Empty):
            while True:
                self._receive(self._inbox.get_nowait(), ended)

    def _receive(self, item: InboxItem, ended: list[Ended]) -> None:
        if item is None:
            self._closing = True
        elif isinstance(item, _Drain):
            self._drain(item.grace, ended)
        elif isinstance(item, BaseException):
            raise item  # another thread of the pool has died: the pool ends with it
        elif isinstance(item, Ended):
            self._executing -= 1
            ended.append(item)
        elif isinstance(item, NewTasks):
            self._new.append(item)
        else:
            self._free(self._loop.accept(item))

    def _drain(self, grace: Millis, ended: list[Ended]) -> None:
        """A run that no thread has begun ends at once. Each run is popped once, here or by a
        thread."""
        self._closing = True
        self._free(self._loop.drain(grace))
        if self._processes is not None:
            self._processes.drain()
        with suppress(IndexError):
            while True:
                self._receive(interrupted(self._work.popleft()), ended)

    def _until_next_timer(self) -> float | None:
        waits = [WAKE_MORE_AFTER] if self._work and not self._all_busy() else []
        timers = [self._new[0].offered_at + PATIENCE] if self._new else []
        if (at := self._loop.next_timer) is not None:
            timers.append(at)
        now = self._clock.monotonic() if timers else 0
        return min((*waits, *(max(at - now, 0) / SECOND for at in timers)), default=None)

    def _wake_threads(self) -> None:
        """Wake one thread, and while work is left, twice as many after each WAKE_MORE_AFTER. A few
        threads then do many short runs, without a wake-up for each."""
        for _ in range(min(self._threads_to_wake, len(self._work))):
            if len(self._threads) < self._executing:
                self._try_one_more_thread()
            if self._all_busy():  # the next thread that is done takes the rest by itself
                return
            self._wake_ups.put(True)
        self._threads_to_wake *= 2

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
            first = self._more_threads_at is None
            self._more_threads_at = now + THREAD_RETRY_DELAY
            if first:
                fields = {"step": "execute", "threads": len(self._threads)}
                log.warning("thread not started, fewer are used: %s", error, extra=fields)

    def _start_thread(self) -> None:
        name = f"{self._name}-{len(self._threads)}"
        thread = threading.Thread(target=self._work_until_closed, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    # the lease guard

    def _guard_leases(self) -> None:
        """The loop thread may wait for a backend's answer; leases end all the same."""
        try:
            while not self._done.wait(LEASE_GUARD_INTERVAL):
                if self._loop.check_leases():
                    self._inbox.put(())
        except BaseException as error:  # noqa: BLE001 - it ends the pool
            self._inbox.put(error)

    # the worker threads

    def _work_until_closed(self) -> None:
        try:
            while self._wake_ups.get():
                self._run_targets()
        except BaseException as error:  # noqa: BLE001 - it ends the pool
            self._inbox.put(error)

    def _run_targets(self) -> None:
        while self._work:
            try:
                run = self._work.popleft()
            except IndexError:  # another thread was faster
                return
            run.control.restart_timeout(self._clock.monotonic())
            run.control.queued = False
            self._inbox.put(self._executor.run_target(run))

    # slots

    def _free_slots(self) -> int:
        """While no more threads can be started, there is a slot for each existing thread, and one
        more when it is time to try again."""
        if self._more_threads_at is None:
            return self._slots - self._slots_used
        one_more = self._clock.monotonic() >= self._more_threads_at
        return min(len(self._threads) + one_more, self._slots) - self._slots_used

    def _free(self, slots: int) -> None:
        if not slots:
            return
        with self._slot_freed:
            self._slots_used -= slots
        self.refill()
        with self._slot_freed:
            if self._free_slots() > 0:
                self._slot_freed.notify_all()
