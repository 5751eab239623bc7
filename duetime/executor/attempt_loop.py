"""The books of one lane's executor: which messages wait for their time, which runs go on.

No thread, no waiting: whoever keeps them calls `turn` when something has come up or a timer has
rung. The crew does so with threads, the simulation in virtual time.

Messages wait for a time of the wall clock. Everything else here is a span, and goes by the
monotonic clock: setting the wall clock neither ends an attempt nor holds up a heartbeat.
"""

import logging
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count

from lambdas.clock_jumps import ClockJumps
from lambdas.core import lease
from lambdas.core.delivery import Message
from lambdas.core.ports import Clock
from lambdas.core.times import SECOND, Millis
from lambdas.core.values import value
from lambdas.executor.executor import EARLY, Executor
from lambdas.executor.runs import Admitted, Ended, Run, cancelled, timed_out

log = logging.getLogger(__name__)

STOP_GRACE: Millis = 5 * SECOND  # for a handler that was told to stop, before it is made to
AGAIN: Millis = SECOND  # when to repeat a write that the store did not answer
LEASE_TRIES = 3


@value(slots=True)
class _Going:
    """A run under way; once its time is up, its handler gets a moment to come back."""

    run: Run
    abandon_at: Millis | None = None

    @property
    def timer(self) -> Millis:
        return self.run.context.ends_at if self.abandon_at is None else self.abandon_at


@value(frozen=True, kw_only=True, slots=True)
class Turn:
    begun: Sequence[Run] = ()
    let_go: int = 0  # messages taken in that start nothing


class Books:
    """`until` is when all must be over, where somebody else ends it; nothing is begun that might
    not be over by then. It and all timers are times of the monotonic clock."""

    def __init__(self, executor: Executor, clock: Clock, *, until: Millis | None = None) -> None:
        self._executor = executor
        self._clock = clock
        self._until = until
        self._order = count()
        self._waiting: list[tuple[Millis, int, Message]] = []  # by due time
        self._unleased: list[tuple[Millis, Admitted]] = []
        self._going: dict[str, _Going] = {}  # by holder
        self._stopping: dict[str, tuple[Millis, Run]] = {}  # settled; to be interrupted, if need be
        self._unrecorded: list[tuple[Millis, Ended]] = []
        self._next_beat = clock.monotonic() + lease.HEARTBEAT
        self._beats_now = False  # set by the guard's thread
        self._clock_jumps = ClockJumps(clock)

    @property
    def running(self) -> int:
        return len(self._going)

    @property
    def open(self) -> int:
        """What must be seen to its end before the books can be closed."""
        held = (self._waiting, self._unleased, self._going, self._stopping, self._unrecorded)
        return sum(len(some) for some in held)

    @property
    def next_timer(self) -> Millis | None:
        """None if nothing happens until something comes in."""
        timers = [going.timer for going in self._going.values()]
        if timers:
            timers.append(self._next_beat)
        timers += [at for at, _ in self._unrecorded]
        timers += [at for at, _ in self._unleased]
        timers += [at for at, _ in self._stopping.values()]
        if self._waiting:
            early = self._waiting[0][0] - self._clock.now()
            timers.append(self._clock.monotonic() + early)
        return min(timers, default=None)

    def take(self, messages: Sequence[Message]) -> int:
        """Take messages in; returns how many were handed back instead."""
        admitted = self._executor.admit(messages, self._until)
        for message in admitted:
            heappush(self._waiting, (message.delivery.due_at, next(self._order), message))
        return len(messages) - len(admitted)

    def turn(self, ended: Sequence[Ended] = ()) -> Turn:
        """Do what is to be done by now: renew, stop, record, lease. `ended` are the runs whose
        handlers are back."""
        over = [end for back in ended if (end := self._settle(back))]
        self._beat()
        over += self._stop()
        over += self._repeated()
        due = self._due()
        if not over and not due:
            return Turn()
        advanced = self._executor.advance(ended=over, due=due)
        for end in advanced.unrecorded:
            self._keep(end)
        waiting = sum(1 for admitted in advanced.unleased if self._try_again(admitted))
        begun = [run for run in advanced.begun if self._begin(run)]
        return Turn(begun=begun, let_go=len(due) - len(begun) - waiting)

    def guard(self) -> bool:
        """Stop handlers whose lease may soon pass on. For a thread of its own: it calls no
        backend, while the bookkeeper may be waiting for an answer of one. Returns whether the
        next turn should come at once."""
        now = self._clock.monotonic()
        for going in list(self._going.values()):
            context = going.run.context
            silence = now - context.renewed_at
            if silence >= lease.SILENCE:
                context.stop()
            if silence >= lease.SILENCE + STOP_GRACE:
                context.interrupt()
        return self._clock_was_set()

    def _clock_was_set(self) -> bool:
        """The leases are then renewed at once: whoever goes by the wall clock, as it now is, may
        take them for run out."""
        if not self._clock_jumps.seen() or not self._going:
            return False
        log.warning("wall clock set: leases renewed", extra={"step": "renew"})
        self._beats_now = True
        return True

    def _begin(self, run: Run) -> bool:
        """Not if this executor was held up since its lease for so long that it may pass on."""
        now = self._clock.monotonic()
        if now - run.context.renewed_at >= lease.SILENCE:
            self._executor.give_back(run.message)
            return False
        if not self._going:
            self._next_beat = now + lease.HEARTBEAT
        run.context.count_from(now)
        self._going[run.holder] = _Going(run)
        return True

    def _settle(self, end: Ended) -> Ended | None:
        """None for one that was settled before: told to stop, it took too long."""
        self._stopping.pop(end.run.holder, None)
        going = self._going.pop(end.run.holder, None)
        if going is None:
            return None
        # A target that keeps its own time may fail of it before these books have looked.
        late = end.failure is not None and end.run.context.ends_at <= self._clock.monotonic()
        return timed_out(end.run, end) if late or going.abandon_at else end

    def _beat(self) -> None:
        now = self._clock.monotonic()
        if now < self._next_beat and not self._beats_now:
            return
        self._beats_now = False
        self._next_beat = now + lease.HEARTBEAT
        if self._going:
            self._executor.renew([going.run for going in self._going.values()])

    def _stop(self) -> list[Ended]:
        """See to it that a handler ends whose task was cancelled, whose time is up or whose lease
        is lost. A cancelled task is settled right away; its handler was told, and is made to
        stop a little later. A timed-out one will be tried again, so its handler, which knows
        its deadline, is made to stop at once and the outcome waits for it a little."""
        now = self._clock.monotonic()
        over = []
        for holder, going in list(self._going.items()):
            run = going.run
            if run.context.cancel_asked:
                over.append(cancelled(run))
                self._stopping[holder] = (now + STOP_GRACE, run)
                del self._going[holder]
            elif going.timer <= now and run.context.queued:
                run.context.count_from(now)  # its time begins when a thread takes it up
            elif going.timer <= now and going.abandon_at is not None:
                _warn(run)
                over.append(timed_out(run))
                del self._going[holder]
            elif going.timer <= now:
                going.abandon_at = now + STOP_GRACE
                run.context.stop()
                run.context.interrupt()
            elif run.context.lease_lost:
                run.context.interrupt()
        for holder, (at, run) in list(self._stopping.items()):
            if at > now:
                continue
            if run.context.interrupted:
                del self._stopping[holder]
                _warn(run)
            else:
                self._stopping[holder] = (now + STOP_GRACE, run)
                run.context.interrupt()
        return over

    def _due(self) -> list[Admitted]:
        """With those that are early again, because the clock was set back: they go back to their
        lane, and the slot is free."""
        now, again = self._clock.now(), self._clock.monotonic()
        due = [admitted for at, admitted in self._unleased if at <= again]
        self._unleased = [(at, admitted) for at, admitted in self._unleased if at > again]
        while self._waiting and not 0 < self._waiting[0][0] - now <= EARLY:
            due.append(Admitted(message=heappop(self._waiting)[2]))
        return due

    def _try_again(self, admitted: Admitted) -> bool:
        """A lease that was not answered may have been made: the same write tells."""
        if admitted.tries >= LEASE_TRIES:
            self._executor.give_back(admitted.message)
            return False
        self._unleased.append((self._clock.monotonic() + AGAIN, admitted))
        return True

    def _repeated(self) -> list[Ended]:
        now = self._clock.monotonic()
        repeated = [end for at, end in self._unrecorded if at <= now]
        self._unrecorded = [(at, end) for at, end in self._unrecorded if at > now]
        return repeated

    def _keep(self, end: Ended) -> None:
        """An outcome is worth some patience: until a watch ends the attempt of this executor as
        that of a dead one, it can be recorded. But each try may take long, and the heartbeats
        of the others wait for it."""
        now = self._clock.monotonic()
        again = now + min(AGAIN * 2 ** (end.tries - 1), lease.HEARTBEAT)
        give_up = end.run.context.renewed_at + lease.LENGTH + lease.WATCH_AFTER
        if self._until is not None:
            give_up = min(give_up, self._until - SECOND)
        if again > give_up:
            self._executor.lose(end)
        else:
            self._unrecorded.append((again, end))


def _warn(run: Run) -> None:
    fields = {"step": "execute", "task_id": run.task.id, "attempt": run.task.attempt}
    log.warning("handler not stopped: it keeps its slot", extra=fields)
