"""The attempt loop: owns every attempt from its message to its outcome.

An attempt waits for its due time, is leased, runs, and is recorded. The loop holds its state and
decides what is due; the `Executor` does the I/O that it asks for. The loop has no threads and never
waits: its caller calls `step` when a message or a finished run has arrived, and at `next_timer`.
The worker pool does so with threads, the simulation in virtual time.

Messages wait for a time of the wall clock. Every other timer is a duration, measured by the
monotonic clock, so setting the wall clock neither ends an attempt nor delays a heartbeat.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count

from duetime.core.delivery import Message
from duetime.core.lanes import Queue
from duetime.core.ports import Clock
from duetime.core.steps import lease
from duetime.core.times import SECOND, Millis
from duetime.core.value import value
from duetime.engine.clock import ClockJumps
from duetime.executor.attempt_io import MAX_EARLY, AttemptIO
from duetime.executor.new_tasks import NewTasks
from duetime.executor.runs import Admitted, Ended, Run, cancelled, interrupted, timed_out

log = logging.getLogger(__name__)

STOP_GRACE: Millis = 5 * SECOND  # between asking a handler to stop and interrupting it
WRITE_RETRY_DELAY: Millis = SECOND  # after a write that the store did not answer
LEASE_TRIES = 3
KILL_TIMEOUT: Millis = 15 * SECOND  # for a process to be gone, after STOP_GRACE
LONGEST_STOP: Millis = 2 * STOP_GRACE  # of a drain, for interrupted handlers to end


@value(slots=True)
class _Running:
    """A run whose handler has not returned. After its timeout the loop waits for the handler
    until `abandon_at`. `drained`: it was interrupted when the grace of a drain was over."""

    run: Run
    abandon_at: Millis | None = None
    drained: bool = False

    @property
    def timer(self) -> Millis:
        return self.run.control.ends_at if self.abandon_at is None else self.abandon_at


@value(frozen=True, kw_only=True, slots=True)
class StepResult:
    started: Sequence[Run] = ()  # leased; the caller now runs their targets
    not_started: int = 0  # accepted messages whose slots are free again


class AttemptLoop:
    """`until`: when everything must have ended, if the caller ends the process then. The loop
    starts nothing that might not end in time. `until` and all timers are monotonic times."""

    def __init__(self, executor: AttemptIO, clock: Clock, *, until: Millis | None = None) -> None:
        self._executor = executor
        self._clock = clock
        self._until = until
        self._order = count()
        # The state of an attempt is the container that holds it, in this order.
        self._waiting: list[tuple[Millis, int, Message]] = []  # a heap by the time of the start
        self._lease_retries: list[tuple[Millis, Admitted]] = []
        self._running: dict[str, _Running] = {}  # by holder
        self._stopping: dict[str, tuple[Millis, Run]] = {}  # recorded; the handler still runs
        self._record_retries: list[tuple[Millis, Ended]] = []
        self._next_heartbeat = clock.monotonic() + lease.HEARTBEAT
        self._renew_now = False  # set by the thread of the lease guard
        self._drain_until: Millis | None = None  # while the executor drains: the end of the grace
        self.not_stopped = 0  # handlers that a drain could not stop: their leases run out
        self._clock_jumps = ClockJumps(clock)

    @property
    def running(self) -> int:
        return len(self._running)

    def running_since(self, before: Millis) -> int:
        """Returns how many attempts have run since before a time of the monotonic clock."""
        return sum(r.run.control.renewed_at < before for r in self._running.values())

    def running_tasks(self) -> list[tuple[str, Millis]]:
        """As below."""
        tasks = [running.run.task for running in list(self._running.values())]
        return [(task.id, task.current.started_at if task.current else 0) for task in tasks]

    def running_by_queue(self) -> Counter[Queue]:
        """Called from any thread, hence the copy."""
        return Counter(running.run.message.queue for running in list(self._running.values()))

    @property
    def unfinished(self) -> int:
        """How many attempts the loop still has to see to their end."""
        held = (
            self._waiting,
            self._lease_retries,
            self._running,
            self._stopping,
            self._record_retries,
        )
        return sum(len(some) for some in held)

    @property
    def has_due(self) -> bool:
        """Whether a message waits that is due."""
        return bool(self._waiting) and self._waiting[0][0] <= self._clock.now()

    @property
    def next_timer(self) -> Millis | None:
        """When to call `step` next. None: not before something arrives."""
        timers = [running.timer for running in self._running.values()]
        if timers:
            timers.append(self._next_heartbeat)
            timers += self._drain_timers()
        timers += [at for at, _ in self._record_retries]
        timers += [at for at, _ in self._lease_retries]
        timers += [at for at, _ in self._stopping.values()]
        if self._waiting:
            early = self._waiting[0][0] - self._clock.now()
            timers.append(self._clock.monotonic() + early)
        return min(timers, default=None)

    @property
    def grace_over(self) -> bool:
        """Whether the handlers that still run are to be stopped by any means."""
        return self._drain_until is not None and self._drain_until <= self._clock.monotonic()

    def drain(self, grace: Millis) -> int:
        """Start nothing from now on, and ask the running handlers to stop. What does not end within
        `grace` is interrupted. A second call may only shorten the grace. Returns how many messages
        were handed back."""
        until = self._clock.monotonic() + grace
        self._drain_until = until if self._drain_until is None else min(self._drain_until, until)
        for running in self._running.values():
            running.run.control.request_stop("draining")
        waiting = [message for _, _, message in sorted(self._waiting)]
        self._waiting.clear()
        self._executor.hand_back(waiting)
        return len(waiting)

    def accept(self, messages: Sequence[Message]) -> int:
        """Queue messages until they are due. Returns how many were handed back instead."""
        if self._drain_until is not None:
            self._executor.hand_back(messages)
            return len(messages)
        admitted = self._executor.admit(messages, self._until)
        for message in admitted:
            self._wait(message)
        return len(messages) - len(admitted)

    def step(self, ended: Sequence[Ended] = (), new: Sequence[NewTasks] = ()) -> StepResult:
        """Do what is due: renew leases, stop handlers, record outcomes, lease messages. `ended`
        are the runs whose handlers have returned, `new` the tasks to store with their leases."""
        to_record = [end for returned in ended if (end := self._finish(returned))]
        self._renew_leases()
        to_record += self._stop_handlers()
        to_record += self._due_record_retries()
        due = self._due()
        if not to_record and not due and not new:
            return StepResult()
        written = self._executor.record_and_lease(ended=to_record, due=due, new=new)
        for end in written.record_retries:
            self._retry_record(end)
        for message in written.waiting:
            self._wait(message)
        waiting = sum(1 for admitted in written.lease_retries if self._retry_lease(admitted))
        waiting += len(written.waiting)
        started = [run for run in written.started if self._start(run)]
        asked = len(due) + sum(one.slots for one in new)
        return StepResult(started=started, not_started=asked - len(started) - waiting)

    def check_leases(self) -> bool:
        """Stop handlers whose lease may soon end. The lease guard calls this from a thread of its
        own: it calls no backend, while `step` may be waiting for one. Returns whether `step` should
        be called at once."""
        now = self._clock.monotonic()
        for running in list(self._running.values()):
            control = running.run.control
            silence = now - control.renewed_at
            if silence >= lease.MAX_SILENCE:
                control.request_stop("lease_lost")
            if silence >= lease.MAX_SILENCE + STOP_GRACE:
                control.force_stop()
        return self._clock_was_set()

    def _clock_was_set(self) -> bool:
        """After a jump of the wall clock `step` renews all leases at once: to a process that reads
        the new time they may look expired."""
        if not self._clock_jumps.seen() or not self._running:
            return False
        log.warning("wall clock set: leases renewed", extra={"step": "renew"})
        self._renew_now = True
        return True

    def _wait(self, message: Message) -> None:
        heappush(self._waiting, (message.delivery.visible_at, next(self._order), message))

    def _start(self, run: Run) -> bool:
        """Returns False if the run does not start. If the executor was delayed since the lease for
        so long that the lease may end soon, the message goes back to its lane."""
        now = self._clock.monotonic()
        if now - run.control.renewed_at >= lease.MAX_SILENCE:
            self._executor.hand_back_with_backoff(run.message)
            return False
        if self._drain_until is not None:
            self._record_retries.append((now, interrupted(run)))
            return False
        if not self._running:
            self._next_heartbeat = now + lease.HEARTBEAT
        run.control.restart_timeout(now)
        self._running[run.holder] = _Running(run)
        return True

    def _finish(self, end: Ended) -> Ended | None:
        """Returns None for a run that is recorded already: its handler was asked to stop and took
        too long."""
        self._stopping.pop(end.run.holder, None)
        running = self._running.pop(end.run.holder, None)
        if running is None:
            return None
        # A target with a timeout of its own may fail before the loop has seen that time is up.
        late = end.failure is not None and end.run.control.ends_at <= self._clock.monotonic()
        if late or running.abandon_at is not None:
            return timed_out(end.run, end)
        return interrupted(end.run) if running.drained and end.failure is not None else end

    def _renew_leases(self) -> None:
        now = self._clock.monotonic()
        if now < self._next_heartbeat and not self._renew_now:
            return
        self._renew_now = False
        self._next_heartbeat = now + lease.HEARTBEAT
        if self._running:
            self._executor.renew([running.run for running in self._running.values()])

    def _stop_handlers(self) -> list[Ended]:
        """Stop the handlers of cancelled tasks, of attempts whose time is up and of lost leases.

        A cancelled task is recorded right away; its handler has been asked to stop, and is
        interrupted after STOP_GRACE. A timed-out task will be retried, so its handler, which knows
        its deadline, is interrupted at once, and the outcome waits up to STOP_GRACE for it. So is
        a handler that still runs after the grace of a drain; its task is due at once, so nothing is
        recorded before the handler has ended."""
        now = self._clock.monotonic()
        to_record = []
        for holder, running in list(self._running.items()):
            run = running.run
            if run.control.cancel_requested:
                to_record.append(cancelled(run))
                self._stopping[holder] = (now + STOP_GRACE, run)
                del self._running[holder]
            elif running.timer <= now and run.control.queued:
                run.control.restart_timeout(now)  # its time begins when a thread runs it
            elif running.timer <= now and running.abandon_at is not None:
                _warn_not_stopped(run)
                to_record.append(timed_out(run))
                del self._running[holder]
            elif running.timer <= now:
                running.abandon_at = now + _stop_time(run)
                run.control.request_stop("timed_out")
                run.control.force_stop()
            elif run.control.lease_lost:
                run.control.force_stop()
            elif self.grace_over:
                self._stop_drained(running, now)
        self._stop_recorded(now)
        return to_record

    def _stop_drained(self, running: _Running, now: Millis) -> None:
        """Interrupt a handler. One that goes on keeps its task until the process ends and its lease
        has run out: no other executor may start it before."""
        if not running.drained:
            running.drained = True
            running.run.control.force_stop()
        elif self._drain_until is not None and now >= self._drain_until + LONGEST_STOP:
            _warn_not_stopped(running.run)
            self.not_stopped += 1
            del self._running[running.run.holder]

    def _drain_timers(self) -> list[Millis]:
        """Returns when running handlers are interrupted, and when the loop gives up on them."""
        if self._drain_until is None:
            return []
        stopped = all(running.drained for running in self._running.values())
        return [self._drain_until + LONGEST_STOP if stopped else self._drain_until]

    def _stop_recorded(self, now: Millis) -> None:
        """Interrupt the handlers of cancelled tasks; give up on those that go on after that."""
        for holder, (at, run) in list(self._stopping.items()):
            if at > now:
                continue
            if run.control.force_stopped:
                del self._stopping[holder]
                _warn_not_stopped(run)
            else:
                self._stopping[holder] = (now + _stop_time(run), run)
                run.control.force_stop()

    def _due(self) -> list[Admitted]:
        """Returns what to lease now, including messages that are early again because the clock was
        set back: the executor hands those back, which frees their slots."""
        now, retry_now = self._clock.now(), self._clock.monotonic()
        due = [admitted for at, admitted in self._lease_retries if at <= retry_now]
        self._lease_retries = [(at, a) for at, a in self._lease_retries if at > retry_now]
        while self._waiting and not 0 < self._waiting[0][0] - now <= MAX_EARLY:
            due.append(Admitted(message=heappop(self._waiting)[2]))
        return due

    def _retry_lease(self, admitted: Admitted) -> bool:
        """A lease without an answer may have been written; repeating the same write finds out."""
        if admitted.tries >= LEASE_TRIES:
            self._executor.hand_back_with_backoff(admitted.message)
            return False
        self._lease_retries.append((self._clock.monotonic() + WRITE_RETRY_DELAY, admitted))
        return True

    def _due_record_retries(self) -> list[Ended]:
        now = self._clock.monotonic()
        due = [end for at, end in self._record_retries if at <= now]
        self._record_retries = [(at, end) for at, end in self._record_retries if at > now]
        return due

    def _retry_record(self, end: Ended) -> None:
        """Repeat the write of an outcome until a watch may end the attempt as that of a dead
        executor. The delay doubles: each try may take long, and the heartbeats of the other runs
        wait for it."""
        now = self._clock.monotonic()
        retry_at = now + min(WRITE_RETRY_DELAY * 2 ** (end.tries - 1), lease.HEARTBEAT)
        give_up = end.run.control.renewed_at + lease.LENGTH + lease.WATCH_AFTER
        if self._until is not None:
            give_up = min(give_up, self._until - SECOND)
        if retry_at > give_up:
            self._executor.abandon_outcome(end)
        else:
            self._record_retries.append((retry_at, end))


def _stop_time(run: Run) -> Millis:
    """Returns how long the end of an interrupted handler may take. One that runs in a process is
    killed with it, so its outcome waits until nothing of it runs."""
    return STOP_GRACE + KILL_TIMEOUT if run.control.killable else STOP_GRACE


def _warn_not_stopped(run: Run) -> None:
    fields = {"step": "execute", "task_id": run.task.id, "attempt": run.task.attempt}
    log.warning("handler not stopped: it keeps its slot", extra=fields)
