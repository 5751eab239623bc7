"""claim and enqueue: take a batch of wakes whose time has come, and do what each calls for."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from math import ceil

from lambdas.core.change import Applied, Change, Unknown, Unreadable
from lambdas.core.lanes import Lane
from lambdas.core.lifecycle import Status, Step
from lambdas.core.ports import Ports
from lambdas.core.steps.claim import claim, set_aside
from lambdas.core.steps.record import to_enqueue
from lambdas.core.steps.watch import Verdict, look
from lambdas.core.task import Task
from lambdas.core.times import Millis
from lambdas.core.values import value
from lambdas.core.wakes import Wake, WakeKind
from lambdas.enqueue import enqueue
from lambdas.scanner.pace import Pacer, due_at

log = logging.getLogger(__name__)

BACKED_UP = 1_000  # ready messages from which a lane counts as backed up, at the least
TAKEN_A_MINUTE = 10 * 60  # messages, by one executor: batches of ten that take about a second
PATIENCE = 5  # ticks in a row that add nothing overdue to a lane that is backed up
TRICKLE = 0.1  # of the pace: what they let through after that
NO_LIMITS: Mapping[Lane, int] = {}
AT_ONCE: Millis = 0


@value(frozen=True, kw_only=True, slots=True)
class Dispatched:
    claims: Counter[Lane] = field(default_factory=Counter)
    lost_claims: Counter[Lane] = field(default_factory=Counter)
    unknown: int = 0
    watched: int = 0
    sent: int = 0
    set_aside: int = 0
    held_back: int = 0
    occurrences: int = 0
    more_to_put: bool = False


@value()
class Dispatcher:
    """For one tick: the depth of a lane is read once, and only if somebody asks.

    `at_once`: how many executors of each lane run at once, where that is known.
    `was_backed_up`: for how many ticks in a row each lane was backed up before this one."""

    ports: Ports
    pacer: Pacer
    at_once: Mapping[Lane, int] = field(default_factory=dict)
    was_backed_up: Mapping[str, int] = field(default_factory=dict)
    _ready: dict[Lane, int] = field(default_factory=dict)
    _refused: Counter[Lane] = field(default_factory=Counter)

    def admits(self, found: Wake) -> bool:
        """Whether the tick may take this wake. Overdue work waits for a slot, and none is
        added to a lane that cannot keep up with what it has, but for a trickle after some ticks:
        the count of SQS lags, and a count that is wrong must not hold work back for ever."""
        if not self.pacer.overdue(due_at(found, self.ports.rules.horizon)):
            return True
        if self.pacer.used_up(found.lane):
            return False
        if found.kind is WakeKind.WATCH or not self._backed_up(found.lane):
            return True
        self._refused[found.lane] += 1
        return self._refused[found.lane] <= self._trickle(found.lane)

    def backed_up(self) -> dict[str, int]:
        """For the next tick, its `was_backed_up`: lanes that had overdue work and no room."""
        return {lane.value: self.was_backed_up.get(lane, 0) + 1 for lane in self._refused}

    def claim(self, wakes: Sequence[Wake]) -> Dispatched:
        """Claim tasks whose time is near, and send them. The slot of a claim that is lost goes
        unused: whoever won it gave the task one of its own."""
        now = self.ports.clock.now()
        slots = {w.task_id: slot for w in wakes if (slot := self._slot_of_wake(w)) is not None}
        held_back = len(wakes) - len(slots)
        wakes = [w for w in wakes if w.task_id in slots]
        changes = [self._claim(w, now, slots[w.task_id]) for w in wakes]
        claimed: list[Task] = []
        stuck: list[Task] = []
        lost: Counter[Lane] = Counter()
        unknown = unreadable = 0
        for found, answer in zip(wakes, self.ports.store.apply(changes), strict=True):
            if isinstance(answer, Applied):
                claimed.append(answer.task)
            elif isinstance(answer, Unreadable):
                unreadable += 1
                self.set_aside(found, answer.reason)
            elif isinstance(answer, Unknown):
                unknown += 1  # claimed or not: its watch, or the next tick, comes upon it
            elif answer.task is not None and answer.task.wake == found:
                stuck.append(answer.task)  # not PENDING: a retry, or leased from a lost message
            else:
                lost[found.lane] += 1
        sent = enqueue(self.ports, claimed, slots)
        looked = self._look(stuck, now)
        return Dispatched(
            claims=Counter(task.lane for task in claimed),
            lost_claims=lost,
            unknown=unknown,
            watched=looked.watched,
            sent=sent + looked.sent,
            set_aside=unreadable,
            held_back=held_back + looked.held_back,
        )

    def watch(self, wakes: Sequence[Wake]) -> Dispatched:
        """Look at tasks that should have moved by now."""
        tasks = self.ports.store.get([found.task_id for found in wakes])
        still = [
            task for w in wakes if (task := tasks.get(w.task_id)) is not None and task.wake == w
        ]
        owing = [task for task in still if task.owes]
        if owing:
            self._pay(owing)
        return self._look(still, self.ports.clock.now())

    def materialise(self, wakes: Sequence[Wake]) -> Dispatched:
        """Put the occurrences of schedules whose time is near. One that was overdue for long has
        missed runs to make up for, and gets a slot like any overdue task."""
        from lambdas.materialise import materialise

        now = self.ports.clock.now()
        found = {w.task_id: w for w in wakes}
        slots = {i: slot for i, w in found.items() if (slot := self._slot_of_wake(w)) is not None}
        standing = self.ports.schedules.get(list(slots))
        missing = [i for i in slots if i not in standing]
        # The others are deleted, and the index lags.
        unread = self.ports.schedules.exist(missing) if missing else ()
        for schedule_id in unread:
            self.set_aside(found[schedule_id], "a schedule that cannot be read")
        still = [schedule for i, schedule in standing.items() if schedule.wake == found[i]]
        done = materialise(self.ports, still, slots, now=now)
        return Dispatched(
            occurrences=done.occurrences,
            sent=done.sent,
            set_aside=len(unread) + done.broken,
            held_back=len(found) - len(slots),
            more_to_put=done.more,
        )

    def set_aside(self, found: Wake, reason: str) -> None:
        """Move a wake that cannot be dealt with out of the way, so that it holds nobody up."""
        log.error("set aside: %s", reason, extra={"step": "scan", "task_id": found.task_id})
        change = set_aside(self.ports.rules, found, now=self.ports.clock.now())
        if found.kind is WakeKind.SCHEDULE:
            self.ports.schedules.set_aside(found, change.sets["wake"])
        else:
            self.ports.store.set_aside(change)

    def _claim(self, found: Wake, now: Millis, slot: Millis) -> Change:
        draw = self.ports.chance.draw()
        return claim(self.ports.rules, found, now=now, draw=draw, not_before=slot)

    def _look(self, tasks: Sequence[Task], now: Millis) -> Dispatched:
        verdicts: list[Verdict] = []
        slots: dict[str, Millis] = {}
        held_back = 0
        for task in tasks:
            verdict = self._verdict(task, now)
            if verdict is None:
                continue
            slot = self._slot_of(verdict, task)
            if slot is None:
                held_back += 1
                continue
            verdicts.append(verdict)
            slots[task.id] = slot
            self._keep_attempt(task, verdict.change.step)
        answers = self.ports.store.apply([verdict.change for verdict in verdicts])
        due = [
            answer.task
            for verdict, answer in zip(verdicts, answers, strict=True)
            if isinstance(answer, Applied)
            and (verdict.sends or to_enqueue(verdict.change, answer.task))
        ]
        sent = enqueue(self.ports, due, slots)
        return Dispatched(watched=len(tasks) - held_back, sent=sent, held_back=held_back)

    def _verdict(self, task: Task, now: Millis) -> Verdict | None:
        crowded = _waits_in_lane(task) and self._backed_up(task.lane)
        draw = self.ports.chance.draw()
        return look(self.ports.rules, task, now=now, draw=draw, backed_up=crowded)

    def _slot_of(self, verdict: Verdict, task: Task) -> Millis | None:
        if not verdict.sends:
            return AT_ONCE
        # A lost run is tried again at a time of its own, which is not overdue.
        due_at = verdict.change.sets.get("due_at", task.due_at)
        return self._slot(task.lane, task.id, due_at)

    def _slot(self, lane: Lane, task_id: str, due_at: Millis) -> Millis | None:
        return self.pacer.slot(lane, task_id) if self.pacer.overdue(due_at) else AT_ONCE

    def _slot_of_wake(self, found: Wake) -> Millis | None:
        return self._slot(found.lane, found.task_id, due_at(found, self.ports.rules.horizon))

    def _pay(self, tasks: Sequence[Task]) -> None:
        from lambdas.debts import pay

        pay(self.ports, tasks)

    def _backed_up(self, lane: Lane) -> bool:
        if lane not in self._ready:
            self._ready[lane] = self.ports.lanes.depth(lane).ready
        return self._ready[lane] > max(BACKED_UP, self.at_once.get(lane, 0) * TAKEN_A_MINUTE)

    def _trickle(self, lane: Lane) -> int:
        """How many overdue tasks this tick adds to a lane although it is backed up."""
        patient = self.was_backed_up.get(lane, 0) < PATIENCE
        return 0 if patient else ceil(self.pacer.slots_a_tick * TRICKLE)

    def _keep_attempt(self, task: Task, step: Step) -> None:
        """An executor that died right after its lease may not have kept the attempt before."""
        if task.previous is not None and step in (Step.RETRY, Step.BURY, Step.STOP):
            self.ports.store.keep_attempt(task.id, task.previous)


def _waits_in_lane(task: Task) -> bool:
    sent = task.wake is not None and task.wake.kind is WakeKind.WATCH
    return sent and task.status is not Status.RUNNING
