"""The overlap gate: decides whether an occurrence that is due starts, waits or is skipped.

The gate comes before the lease, so an occurrence that it does not admit stays unchanged. A run that
has started never passes the gate again: its retries and late messages are admitted as they are.
Many occurrences arrive together, at the full minute and after an outage, so the gate decides them
together: those of one schedule in the order of their fire times, with one write of its row.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from duetime.core.change import Applied, Change, Refused
from duetime.core.delivery import Delivery
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status
from duetime.core.occurrence import Occurrence
from duetime.core.ports import Ports
from duetime.core.schedules.overlap import Candidate
from duetime.core.schedules.schedule import Schedule, next_wake
from duetime.core.schedules.start_decisions import (
    CHANGED,
    OVERLAP,
    Decision,
    Park,
    Skip,
    Start,
    Wait,
)
from duetime.core.steps.cancel import cancel, cancel_unstarted, request_cancel
from duetime.core.steps.revoke import revoke
from duetime.core.task import Task
from duetime.core.times import MINUTE, Millis
from duetime.core.value import value
from duetime.engine.enqueue import enqueue
from duetime.executor.duplicate_versions import started_in_older_version
from duetime.executor.message_acks import MessageAcks
from duetime.executor.runs import Admitted

log = logging.getLogger(__name__)

POLL_INTERVAL: Millis = MINUTE  # of a run that waits for one whose end may go unreported
WRITE_TRIES = 5  # each lost to another run of the schedule that begins or ends

Tasks = Mapping[str, Task]


@value(slots=True)
class _Arrival:
    """An occurrence that has arrived at the gate, with the decision about it."""

    admitted: Admitted
    delivery: Delivery
    occurrence: Occurrence
    schedule: Schedule | None = None
    decision: Decision | None = None  # None: not decided, or not written
    revoked: bool = False  # its token has changed, so its message can start nothing
    proposed: Decision | None = None

    def candidate(self, now: Millis, horizon: Millis) -> Candidate:
        return Candidate(
            task_id=self.delivery.task_id,
            occurrence=self.occurrence,
            due_at=self.delivery.due_at,
            starts_at=now,
            horizon=horizon,
        )

    @property
    def task_ids(self) -> list[str]:
        """The task itself, and those that its schedule names as active or waiting."""
        schedule = self.schedule
        others = (schedule.active, *schedule.waiting) if schedule else ()
        return [self.delivery.task_id, *(task_id for task_id in others if task_id)]


class OverlapGate:
    def __init__(self, ports: Ports, acks: MessageAcks) -> None:
        self._ports = ports
        self._acks = acks

    def admit(self, due: Sequence[Admitted]) -> list[Admitted]:
        """Returns what may be leased. The messages of the others are acknowledged here."""
        arrivals = [
            _Arrival(admitted, delivery, delivery.occurrence)
            for admitted in due
            if (delivery := admitted.message.delivery).occurrence is not None and admitted.gated
        ]
        try:
            self._decide(arrivals)
        except Unavailable:
            for one in arrivals:
                one.decision = None
        held = [one for one in arrivals if not isinstance(one.decision, Start)]
        self._acknowledge(held)
        not_admitted = {id(one.admitted) for one in held}
        return [admitted for admitted in due if id(admitted) not in not_admitted]

    def _decide(self, arrivals: Sequence[_Arrival]) -> None:
        ids = [one.occurrence.schedule_id for one in arrivals]
        schedules = self._ports.schedules.get(ids)
        for one in arrivals:
            one.schedule = schedules.get(one.occurrence.schedule_id)
        unreadable = self._with_unreadable_schedule(arrivals)
        left = [o for o in arrivals if o not in unreadable and not self._is_duplicate(o)]
        for _ in range(WRITE_TRIES):
            if not left:
                return
            left = self._round(left)

    def _with_unreadable_schedule(self, arrivals: Sequence[_Arrival]) -> list[_Arrival]:
        """Returns those whose schedule exists but cannot be read, perhaps because a newer release
        wrote it. The schedule is not deleted, so their messages are handed back."""
        missing = [one for one in arrivals if one.schedule is None]
        if not missing:
            return []
        existing = self._ports.schedules.exist([one.occurrence.schedule_id for one in missing])
        return [one for one in missing if one.occurrence.schedule_id in existing]

    def _is_duplicate(self, one: _Arrival) -> bool:
        """Skips the occurrence if an older version of its schedule has started its fire time."""
        schedule = one.schedule
        if schedule is None:
            return False
        if not started_in_older_version(self._ports, schedule, one.occurrence):
            return False
        task_id, now = one.delivery.task_id, self._ports.clock.now()
        one.decision = Skip(reason=CHANGED)
        for task in self._ports.store.get([task_id]).values():
            self._ports.store.apply([cancel_unstarted(task, now=now, reason=CHANGED)])
        return True

    def _round(self, arrivals: Sequence[_Arrival]) -> list[_Arrival]:
        """Decide and write the decisions. Returns those whose schedule has changed meanwhile."""
        now = self._ports.clock.now()
        tasks = self._tasks(arrivals, now)
        written: list[tuple[list[_Arrival], Schedule]] = []
        changed: list[_Arrival] = []
        ordered = sorted(arrivals, key=_order)
        for _, some in groupby(ordered, lambda one: one.occurrence.schedule_id):
            group = list(some)
            wanted = self._decide_in_order(group, tasks, now)
            if wanted is None:
                self._act(group, group[0].schedule, tasks)
            elif self._revoke(group, tasks, now):
                written.append((group, wanted))
            else:
                changed += group
        answers = self._ports.schedules.put([schedule for _, schedule in written])
        for (group, _), answer in zip(written, answers, strict=True):
            match answer:
                case Applied(schedule):
                    self._act(group, schedule, tasks)
                case Refused(stored):
                    for one in group:
                        one.schedule = stored
                    changed += group
        return changed

    def _revoke(self, group: Sequence[_Arrival], tasks: dict[str, Task], now: Millis) -> bool:
        """Another executor may have admitted a run that now loses its place as the active one, and
        not leased it yet. The token of that run changes before the schedule does, so it cannot
        start beside the run that replaces it. Returns False if it has started: the group is then
        decided again."""
        for one in group:
            task = tasks.get(one.delivery.task_id)
            if task is None or one.schedule is None or one.schedule.active != task.id:
                continue
            if not isinstance(one.proposed, Skip | Park) or one.revoked:
                continue
            change = revoke(task, now=now, nonce=self._ports.chance.nonce())
            (answer,) = self._ports.store.apply([change])
            if not isinstance(answer, Applied):
                return False
            tasks[task.id], one.revoked = answer.stored, True
        return True

    def _decide_in_order(
        self, group: Sequence[_Arrival], tasks: Tasks, now: Millis
    ) -> Schedule | None:
        """Each decision sees the changes of those before it. Returns the schedule to write, or
        None if it stays unchanged."""
        wake_policy = self._ports.wake_policy
        found = schedule = group[0].schedule
        for one in group:
            one.proposed = self._decision(one, schedule, tasks, now)
            schedule = one.proposed.schedule or schedule
        if schedule is None or found is None or schedule == found:
            return None
        wake = (
            found.wake if schedule.spans == found.spans else next_wake(wake_policy, schedule, now)
        )
        return replace(schedule, revision=found.revision + 1, wake=wake)

    def _decision(
        self, one: _Arrival, schedule: Schedule | None, tasks: Tasks, now: Millis
    ) -> Decision:
        candidate = one.candidate(now, self._ports.wake_policy.horizon)
        task = tasks.get(one.delivery.task_id)
        if candidate.starts_freely(schedule):
            return Start()
        known = one.revoked or (task is not None and _is_next(task, one.delivery))
        if task is None or not known or task.expired(now):
            return Start()  # if it may not start, the lease is refused
        return candidate.decide(schedule, tasks)

    def _act(self, group: Sequence[_Arrival], schedule: Schedule | None, tasks: Tasks) -> None:
        """Carry out the decisions. If a write is not answered, the task's watch sends it again."""
        now = self._ports.clock.now()
        for one in group:
            one.decision, task = one.proposed, tasks.get(one.delivery.task_id)
            match one.decision:
                case Skip(reason=reason) if task:
                    self._ports.store.apply([cancel_unstarted(task, now=now, reason=reason)])
                case Wait() if task:
                    self._wait(task, one.decision, schedule, tasks, now)
        left = [one.decision for one in group if isinstance(one.decision, Skip | Park)]
        if schedule is not None and any(decision.schedule for decision in left):
            self._start_next(schedule, now)

    def _wait(
        self, task: Task, wait: Wait, schedule: Schedule | None, tasks: Tasks, now: Millis
    ) -> None:
        self._ports.store.apply([_make_room(tasks[task_id], now) for task_id in wait.cancels])
        if wait.wakes:
            self._send([tasks[wait.wakes]], task)
        if wait.until is not None:
            enqueue(self._ports, [task], {task.id: wait.until})
        if wait.polls:
            over = schedule is not None and self._is_over(schedule.active)
            enqueue(self._ports, [task], {task.id: now if over else now + POLL_INTERVAL})

    def _start_next(self, schedule: Schedule, now: Millis) -> None:
        """The run that left the queue may have been the first in it, and a recorded late run may
        start at once. If this fails, the scanner does it."""
        from duetime.engine.followups import start_next_runs

        try:
            start_next_runs(self._ports, schedule, now)
        except Unavailable as error:
            fields = {"step": "lease", "schedule_id": schedule.id}
            log.warning("late run not released: %s", error, extra=fields)

    def _send(self, tasks: Sequence[Task], beside: Task) -> None:
        """A task of another lane, after a change of priority, is left to the scanner: this executor
        may only send to its own lane."""
        enqueue(self._ports, [task for task in tasks if task.lane is beside.lane])

    def _is_over(self, task_id: str | None) -> bool:
        """Read after the waiting run has been written to the schedule: if the active run ends
        later than that, the relay finds the waiting one."""
        task = self._ports.store.get([task_id]).get(task_id) if task_id else None
        return task is None or task.status.finished

    def _acknowledge(self, held: Sequence[_Arrival]) -> None:
        """Delete the messages of decided runs: a waiting run gets a new one when it may start."""
        for one in held:
            if one.decision is None:
                self._acks.hand_back_with_backoff(one.admitted.message)
        self._acks.delete([one.admitted.message for one in held if one.decision])

    def _tasks(self, arrivals: Sequence[_Arrival], now: Millis) -> dict[str, Task]:
        horizon = self._ports.wake_policy.horizon
        held = [o for o in arrivals if not o.candidate(now, horizon).starts_freely(o.schedule)]
        ids = dict.fromkeys(task_id for one in held for task_id in one.task_ids)
        return dict(self._ports.store.get(list(ids))) if ids else {}


def _order(one: _Arrival) -> tuple[str, Millis]:
    return one.occurrence.schedule_id, one.occurrence.scheduled_for


def _is_next(task: Task, delivery: Delivery) -> bool:
    """Whether the delivery would start the first attempt of its task."""
    waits = task.status in (Status.PENDING, Status.ENQUEUED)
    return waits and task.attempt == 0 and task.token == delivery.token


def _make_room(task: Task, now: Millis) -> Change:
    if task.status is Status.RUNNING:
        return request_cancel(task.id, now=now, reason=OVERLAP)
    return cancel(task, now=now, reason=OVERLAP)
