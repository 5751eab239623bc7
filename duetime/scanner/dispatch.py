"""Claim and enqueue: processes batches of wakes that are due."""

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace

from duetime.core.change import Answer, Applied, Change, Unknown, Unreadable
from duetime.core.delivery import delivery_of
from duetime.core.errors import Corrupt
from duetime.core.lanes import Lane, Queue, queue_of
from duetime.core.lifecycle import Status, Step
from duetime.core.ports import Ports
from duetime.core.steps.claim import claim, set_aside
from duetime.core.steps.record import needs_enqueue
from duetime.core.steps.watch import Verdict, check_held, check_wake
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.wakes import Wake, WakeKind
from duetime.engine.enqueue import enqueue
from duetime.scanner.backed_up_lanes import BackedUpLanes
from duetime.scanner.pacing import Pacer, due_at

log = logging.getLogger(__name__)

ROW_IDS = {  # as log records name them
    WakeKind.SCHEDULE: "schedule_id",
    WakeKind.LINE: "line_id",
    WakeKind.RUN: "run_id",
}
KINDS_NOT_PACED = (WakeKind.LINE, WakeKind.RUN)  # their tasks are sent by other steps
ENDS = (Step.RETRY, Step.BURY, Step.STOP)  # of an attempt
FREES = (*ENDS, Step.CANCEL, Step.EXPIRE)  # its slot, if the task has one
UNPACED: Millis = 0  # the slot of work that is not overdue


@value(frozen=True, kw_only=True, slots=True)
class Dispatched:
    claims: Counter[Queue] = field(default_factory=Counter)
    lost_claims: Counter[Queue] = field(default_factory=Counter)
    unknown: int = 0
    watched: int = 0
    promoted: Counter[Queue] = field(default_factory=Counter)
    sent: int = 0
    set_aside: int = 0
    held_back: int = 0
    occurrences: int = 0
    more_occurrences: bool = False


@value()
class Dispatcher:
    """Processes the wakes of one tick."""

    ports: Ports
    pacer: Pacer
    backed_up: BackedUpLanes
    _queues: Mapping[str, Queue] = field(default_factory=dict)  # of the overdue tasks of a batch

    def admits(self, found: Wake) -> bool:
        """Whether the tick may process this wake now. Overdue work waits for a slot, and does not
        enter a lane that is backed up."""
        if found.kind in KINDS_NOT_PACED:
            return True
        if not self.pacer.overdue(self._due_at(found)):
            return True
        queue = self._queue(found)
        if self.pacer.used_up(queue):
            return False
        if found.kind is WakeKind.WATCH:
            return True
        return self.backed_up.admit(queue, self.pacer.slots_a_tick)

    def find_pools(self, wakes: Sequence[Wake]) -> None:
        """Reads the pools of overdue tasks, before they are admitted and claimed: the queues of a
        pool have a pace of their own, and a wake does not say whose it is."""
        if not self.ports.pools:
            return
        overdue = [w.task_id for w in wakes if self._is_overdue_task(w)]
        try:
            found = self.ports.store.get(overdue) if overdue else {}
        except Corrupt:
            found = {}  # the claim finds the bad row
        self._queues = {task_id: task.queue for task_id, task in found.items()}

    def claim(self, wakes: Sequence[Wake]) -> Dispatched:
        """Claim tasks that are due within the horizon, and send them. The slot of a lost claim
        stays unused: the scanner that won gave the task a slot of its own."""
        now = self.ports.clock.now()
        slots = {w.task_id: slot for w in wakes if (slot := self._slot_of_wake(w)) is not None}
        held_back = len(wakes) - len(slots)
        wakes = [w for w in wakes if w.task_id in slots]
        changes = [self._claim(w, now, slots[w.task_id]) for w in wakes]
        claimed: list[Task] = []
        stuck: list[Task] = []
        lost: Counter[Queue] = Counter()
        unknown = unreadable = 0
        for found, answer in zip(wakes, self.ports.store.apply(changes), strict=True):
            if isinstance(answer, Applied):
                claimed.append(answer.stored)
            elif isinstance(answer, Unreadable):
                unreadable += 1
                self.set_aside(found, answer.reason)
            elif isinstance(answer, Unknown):
                unknown += 1  # claimed or not: its watch or the next tick finds it
            elif answer.stored is not None and answer.stored.wake == found:
                # Not PENDING: a retry, or leased from a message that counted as lost.
                stuck.append(answer.stored)
            else:
                lost[answer.stored.queue if answer.stored else Queue(found.lane)] += 1
        sent = enqueue(self.ports, claimed, slots)
        checked = self._check(stuck, now)
        return Dispatched(
            claims=Counter(task.queue for task in claimed),
            lost_claims=lost,
            unknown=unknown,
            watched=checked.watched,
            promoted=checked.promoted,
            sent=sent + checked.sent,
            set_aside=unreadable,
            held_back=held_back + checked.held_back,
        )

    def watch(self, wakes: Sequence[Wake]) -> Dispatched:
        """Check tasks that should have moved on by now."""
        tasks = self.ports.store.get([found.task_id for found in wakes])
        still = [
            task for w in wakes if (task := tasks.get(w.task_id)) is not None and task.wake == w
        ]
        with_follow_up = [task for task in still if task.has_follow_up]
        if with_follow_up:
            self._run_follow_ups(with_follow_up)
        waiting = [task for task in still if task.status is Status.WAITING]
        if waiting:
            from duetime.engine.workflows.waits import watch_waiting

            watch_waiting(self.ports, waiting)
        return self._check(still, self.ports.clock.now(), self._waiting(still))

    def watch_runs(self, wakes: Sequence[Wake]) -> Dispatched:
        """Check workflow runs that should have moved on by now."""
        from duetime.engine.workflows.progress import watch_runs

        unreadable = watch_runs(self.ports, wakes)
        for found in unreadable:
            self.set_aside(found, "run unreadable")
        return Dispatched(watched=len(wakes), set_aside=len(unreadable))

    def watch_lines(self, wakes: Sequence[Wake]) -> Dispatched:
        """Check lines in which tasks wait for a slot."""
        if not self.ports.slots:
            return Dispatched(watched=len(wakes))
        from duetime.engine.lines import watch_lines

        sent = watch_lines(self.ports, wakes, self.backed_up.__contains__)
        return Dispatched(watched=len(wakes), sent=sent)

    def materialise(self, wakes: Sequence[Wake]) -> Dispatched:
        """Create the occurrences of schedules that are due soon. A schedule that is long overdue
        has missed runs to make up for, and gets a slot like any overdue task."""
        from duetime.engine.materialise import materialise

        now = self.ports.clock.now()
        found = {w.task_id: w for w in wakes}
        slots = {i: slot for i, w in found.items() if (slot := self._slot_of_wake(w)) is not None}
        stored = self.ports.schedules.get(list(slots))
        missing = [i for i in slots if i not in stored]
        # A missing schedule that does not exist was deleted; the index lags.
        unreadable = self.ports.schedules.exist(missing) if missing else ()
        for schedule_id in unreadable:
            self.set_aside(found[schedule_id], "schedule unreadable")
        still = [schedule for i, schedule in stored.items() if schedule.wake == found[i]]
        done = materialise(self.ports, still, slots, now=now)
        return Dispatched(
            occurrences=done.occurrences,
            sent=done.sent,
            set_aside=len(unreadable) + done.broken,
            held_back=len(found) - len(slots),
            more_occurrences=done.more,
        )

    def set_aside(self, found: Wake, reason: str) -> None:
        """Move the wake of a row that fails to a later time, so that it blocks no other work."""
        kind = ROW_IDS.get(found.kind, "task_id")
        log.error("row set aside: %s", reason, extra={"step": "scan", kind: found.task_id})
        change = set_aside(self.ports.wake_policy, found, now=self.ports.clock.now())
        if found.kind is WakeKind.SCHEDULE:
            self.ports.schedules.set_aside(found, change.sets["wake"])
        elif found.kind is WakeKind.RUN and self.ports.runs:
            self.ports.runs.set_aside(found, change.sets["wake"])
        elif found.kind is WakeKind.LINE and self.ports.slots:
            from duetime.core.limits.slots import line_of

            self.ports.slots.move_watch(line_of(found.task_id), found, change.sets["wake"])
        else:
            self.ports.store.set_aside(change)

    def _claim(self, found: Wake, now: Millis, slot: Millis) -> Change:
        draw = self.ports.chance.draw()
        return claim(self.ports.wake_policy, found, now=now, draw=draw, not_before=slot)

    def _check(
        self, tasks: Sequence[Task], now: Millis, waiting: Collection[str] = ()
    ) -> Dispatched:
        verdicts: list[Verdict] = []
        slots: dict[str, Millis] = {}
        held_back = 0
        for task in tasks:
            verdict = self._verdict(task, now, waits=task.id in waiting)
            if verdict is None:
                continue
            slot = self._slot_of(verdict, task)
            if slot is None:
                held_back += 1
                continue
            fields = {"step": "watch", "task_id": task.id, "reason": verdict.reason}
            log.debug("wake checked", extra=fields)
            verdicts.append(verdict)
            slots[task.id] = slot
            self._keep_attempt(task, verdict.change.step)
        answers = self.ports.store.apply([verdict.change for verdict in verdicts])
        written = [
            (verdict, answer.stored)
            for verdict, answer in zip(verdicts, answers, strict=True)
            if isinstance(answer, Applied)
        ]
        due = [
            task
            for verdict, task in written
            if verdict.enqueues or needs_enqueue(verdict.change, task)
        ]
        sent = enqueue(self.ports, due, slots)
        self._free_slots(tasks, verdicts, answers)
        return Dispatched(
            watched=len(tasks) - held_back,
            promoted=Counter(_queue_left(task) for v, task in written if _promotes(v)),
            sent=sent,
            held_back=held_back,
        )

    def _waiting(self, tasks: Sequence[Task]) -> set[str]:
        """Returns the ids of the tasks that wait in a line, and gives each line a watch if it has
        none. A task that is held and in no line has lost its message."""
        held = [task for task in tasks if task.in_line and not task.status.finished]
        if not held or self.ports.slots is None:
            return set()
        from duetime.engine.lines import ensure_watch, held_line

        places = [place for task in held if (place := held_line(task))]
        found = self.ports.slots.waiting(places)
        for line in {line for (line, _), waits in zip(places, found, strict=True) if waits}:
            ensure_watch(self.ports, line)
        return {place.task_id for (_, place), waits in zip(places, found, strict=True) if waits}

    def _free_slots(
        self, tasks: Sequence[Task], verdicts: Sequence[Verdict], answers: Sequence[Answer]
    ) -> None:
        """Free the slots of attempts whose lease has run out, and of tasks that have ended. If this
        fails, their messages come back, and an executor does it."""
        if self.ports.slots is None:
            return
        before = {task.id: task for task in tasks}
        ended = [
            (delivery_of(before[answer.stored.id], 0), answer.stored)
            for verdict, answer in zip(verdicts, answers, strict=True)
            if isinstance(answer, Applied) and verdict.change.step in FREES
            if answer.stored.spec.limits or answer.stored.spec.ordering_key is not None
        ]
        if ended:
            from duetime.engine.lines import free_slots

            free_slots(self.ports, ended)

    def _verdict(self, task: Task, now: Millis, *, waits: bool) -> Verdict | None:
        if waits and (verdict := check_held(self.ports.wake_policy, task, now=now)):
            return verdict
        if not waits:  # it has its place, and waits in its lane
            task = replace(task, held=None)
        crowded = _waits_in_lane(task) and task.queue in self.backed_up
        draw = self.ports.chance.draw()
        return check_wake(self.ports.wake_policy, task, now=now, draw=draw, backed_up=crowded)

    def _slot_of(self, verdict: Verdict, task: Task) -> Millis | None:
        if not verdict.enqueues:
            return UNPACED
        if _promotes(verdict):
            # Each tick promotes no more than the pace, but at once: overdue work that is paced may
            # wait for fresh work, and this task has waited long enough.
            new_lane = verdict.change.sets["promoted"].lane
            new_queue = queue_of(new_lane, task.spec.pool)
            return None if self.pacer.slot(new_queue, task.id) is None else UNPACED
        # A lost run is retried at a new due time, which is not overdue.
        due_at = verdict.change.sets.get("due_at", task.due_at)
        return self._slot(task.queue, task.id, due_at)

    def _slot(self, queue: Queue, task_id: str, due_at: Millis) -> Millis | None:
        return self.pacer.slot(queue, task_id) if self.pacer.overdue(due_at) else UNPACED

    def _slot_of_wake(self, found: Wake) -> Millis | None:
        return self._slot(self._queue(found), found.task_id, self._due_at(found))

    def _run_follow_ups(self, tasks: Sequence[Task]) -> None:
        from duetime.engine.followups import run_follow_ups

        run_follow_ups(self.ports, tasks)

    def _queue(self, found: Wake) -> Queue:
        return self._queues.get(found.task_id) or queue_of(found.lane, None)

    def _due_at(self, found: Wake) -> Millis:
        return due_at(found, self.ports.wake_policy.horizon)

    def _is_overdue_task(self, found: Wake) -> bool:
        return found.kind is WakeKind.DISPATCH and self.pacer.overdue(self._due_at(found))

    def _keep_attempt(self, task: Task, step: Step) -> None:
        """An executor that died right after its lease may not have kept the previous attempt."""
        if task.previous is not None and step in ENDS:
            self.ports.store.keep_attempt(task.id, task.previous)


def _promotes(verdict: Verdict) -> bool:
    return verdict.change.step is Step.PROMOTE


def _queue_left(promoted: Task) -> Queue:
    return queue_of(Lane.ranked(promoted.lane.rank + 1), promoted.spec.pool)


def _waits_in_lane(task: Task) -> bool:
    sent = task.wake is not None and task.wake.kind is WakeKind.WATCH
    return sent and task.status is not Status.RUNNING
