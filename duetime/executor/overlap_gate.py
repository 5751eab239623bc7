"""The gate: an occurrence whose time has come starts, waits, or is skipped.

It stands before the lease, so that whatever is held back here is left as it was. What has started
once does not come through here again: neither do its retries, nor messages that came late. Many
come at once, at the full minute and after an outage, so they are decided together: those of one
schedule in the order of their fire times, with one write of its row.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from lambdas.core.change import Applied, Change
from lambdas.core.delivery import Delivery
from lambdas.core.errors import Unavailable
from lambdas.core.lifecycle import Status
from lambdas.core.occurrence import Occurrence
from lambdas.core.ports import Ports
from lambdas.core.schedules.decisions import (
    CHANGED,
    OVERLAP,
    Decision,
    Park,
    Skip,
    Start,
    Wait,
)
from lambdas.core.schedules.overlap import Candidate
from lambdas.core.schedules.ports import Differs, Stands
from lambdas.core.schedules.schedule import Schedule, placed
from lambdas.core.steps.cancel import cancel, cancel_unstarted, request_cancel
from lambdas.core.steps.revoke import revoke
from lambdas.core.task import Task
from lambdas.core.times import MINUTE, Millis
from lambdas.core.values import value
from lambdas.enqueue import enqueue
from lambdas.executor.doubled import started_before
from lambdas.executor.messages import Messages
from lambdas.executor.runs import Admitted

log = logging.getLogger(__name__)

LOOKS_AGAIN: Millis = MINUTE  # a run that waits for one whose end may go unreported
TRIES = 5  # each lost to another run of the schedule that begins or ends

Tasks = Mapping[str, Task]


@value(slots=True)
class _Asked:
    """An occurrence at the gate, and what was decided about it."""

    admitted: Admitted
    delivery: Delivery
    occurrence: Occurrence
    schedule: Schedule | None = None
    decision: Decision | None = None  # None: not decided, or not written down
    revoked: bool = False  # its message has done its duty, and starts nothing any more
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
    def named(self) -> list[str]:
        schedule = self.schedule
        there = (schedule.active, *schedule.waiting) if schedule else ()
        return [self.delivery.task_id, *(task_id for task_id in there if task_id)]


class Gate:
    def __init__(self, ports: Ports, messages: Messages) -> None:
        self._ports = ports
        self._messages = messages

    def let_in(self, due: Sequence[Admitted]) -> list[Admitted]:
        """Those that may be leased; the messages of the others have been seen to."""
        asked = [
            _Asked(admitted, delivery, delivery.occurrence)
            for admitted in due
            if (delivery := admitted.message.delivery).occurrence is not None
            and admitted.change is None  # else it was let in before, and its lease not answered
        ]
        try:
            self._decide(asked)
        except Unavailable:
            for one in asked:
                one.decision = None
        held = [one for one in asked if not isinstance(one.decision, Start)]
        self._turn_away(held)
        turned_away = {id(one.admitted) for one in held}
        return [admitted for admitted in due if id(admitted) not in turned_away]

    def _decide(self, asked: Sequence[_Asked]) -> None:
        schedules = self._ports.schedules.get([one.occurrence.schedule_id for one in asked])
        for one in asked:
            one.schedule = schedules.get(one.occurrence.schedule_id)
        unread = self._unread(asked)
        left = [one for one in asked if one not in unread and not self._is_doubled(one)]
        for _ in range(TRIES):
            if not left:
                return
            left = self._round(left)

    def _unread(self, asked: Sequence[_Asked]) -> list[_Asked]:
        """Those whose schedule stands there and cannot be read, perhaps by an older release than
        wrote it. It is not deleted: they are given back."""
        missing = [one for one in asked if one.schedule is None]
        if not missing:
            return []
        there = self._ports.schedules.exist([one.occurrence.schedule_id for one in missing])
        return [one for one in missing if one.occurrence.schedule_id in there]

    def _is_doubled(self, one: _Asked) -> bool:
        """If so, it is skipped."""
        if one.schedule is None or not started_before(self._ports, one.schedule, one.occurrence):
            return False
        task_id, now = one.delivery.task_id, self._ports.clock.now()
        one.decision = Skip(reason=CHANGED)
        for task in self._ports.store.get([task_id]).values():
            self._ports.store.apply([cancel_unstarted(task, now=now, reason=CHANGED)])
        return True

    def _round(self, asked: Sequence[_Asked]) -> list[_Asked]:
        """Decide, and write down what was decided; those whose schedule has changed meanwhile."""
        now = self._ports.clock.now()
        tasks = self._tasks(asked, now)
        written: list[tuple[list[_Asked], Schedule]] = []
        again: list[_Asked] = []
        for _, some in groupby(sorted(asked, key=_order), lambda one: one.occurrence.schedule_id):
            group = list(some)
            wanted = self._decide_in_order(group, tasks, now)
            if wanted is None:
                self._act(group, group[0].schedule, tasks)
            elif self._revoke(group, tasks, now):
                written.append((group, wanted))
            else:
                again += group
        answers = self._ports.schedules.put([schedule for _, schedule in written])
        for (group, _), answer in zip(written, answers, strict=True):
            match answer:
                case Stands(schedule):
                    self._act(group, schedule, tasks)
                case Differs(standing):
                    for one in group:
                        one.schedule = standing
                    again += group
        return again

    def _revoke(self, group: Sequence[_Asked], tasks: dict[str, Task], now: Millis) -> bool:
        """A run that loses its place as the active one may have been let in by another executor,
        which has not leased it yet. Its token changes before the schedule does, so that it cannot
        start beside the run that takes its place. False if it has started: it is decided anew."""
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
            tasks[task.id], one.revoked = answer.task, True
        return True

    def _decide_in_order(
        self, group: Sequence[_Asked], tasks: Tasks, now: Millis
    ) -> Schedule | None:
        """Each decision sees what those before it write. The schedule to be written; None if it
        stays as it is."""
        rules = self._ports.rules
        found = schedule = group[0].schedule
        for one in group:
            one.proposed = self._decision(one, schedule, tasks, now)
            schedule = one.proposed.schedule or schedule
        if schedule is None or found is None or schedule == found:
            return None
        wake = found.wake if schedule.spans == found.spans else placed(rules, schedule, now)
        return replace(schedule, revision=found.revision + 1, wake=wake)

    def _decision(
        self, one: _Asked, schedule: Schedule | None, tasks: Tasks, now: Millis
    ) -> Decision:
        candidate = one.candidate(now, self._ports.rules.horizon)
        task = tasks.get(one.delivery.task_id)
        if candidate.starts_freely(schedule):
            return Start()
        known = one.revoked or (task is not None and _is_next(task, one.delivery))
        if task is None or not known or task.expired(now):
            return Start()  # if it may not, the lease refuses it and settles its message
        return candidate.decide(schedule, tasks)

    def _act(self, group: Sequence[_Asked], schedule: Schedule | None, tasks: Tasks) -> None:
        """If a write is not answered, the watch of the task brings it here again."""
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
            self._follow(schedule, now)

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
            enqueue(self._ports, [task], {task.id: now if over else now + LOOKS_AGAIN})

    def _follow(self, schedule: Schedule, now: Millis) -> None:
        """Who has left the line may have been the first in it, and a late run that was noted may
        be released at once. If this fails, the scanner does it."""
        from lambdas.debts import follow

        try:
            follow(self._ports, schedule, now)
        except Unavailable as error:
            fields = {"step": "lease", "schedule_id": schedule.id}
            log.warning("late run not released: %s", error, extra=fields)

    def _send(self, tasks: Sequence[Task], beside: Task) -> None:
        """One of another lane, after a change of priority, is left to whoever may send there."""
        enqueue(self._ports, [task for task in tasks if task.lane is beside.lane])

    def _is_over(self, task_id: str | None) -> bool:
        """Looked at after the one that waits has been written down: if the run ends only later,
        the relay finds who waits for it."""
        task = self._ports.store.get([task_id]).get(task_id) if task_id else None
        return task is None or task.status.finished

    def _turn_away(self, held: Sequence[_Asked]) -> None:
        """One that waits needs no message: it gets another when its turn has come."""
        for one in held:
            if one.decision is None:
                self._messages.give_back(one.admitted.message)
        self._messages.delete([one.admitted.message for one in held if one.decision])

    def _tasks(self, asked: Sequence[_Asked], now: Millis) -> dict[str, Task]:
        horizon = self._ports.rules.horizon
        held = [o for o in asked if not o.candidate(now, horizon).starts_freely(o.schedule)]
        ids = dict.fromkeys(task_id for one in held for task_id in one.named)
        return dict(self._ports.store.get(list(ids))) if ids else {}


def _order(one: _Asked) -> tuple[str, Millis]:
    return one.occurrence.schedule_id, one.occurrence.scheduled_for


def _is_next(task: Task, delivery: Delivery) -> bool:
    """Whether the delivery would start the first attempt of its task."""
    waits = task.status in (Status.PENDING, Status.ENQUEUED)
    return waits and task.attempt == 0 and task.token == delivery.token


def _make_room(task: Task, now: Millis) -> Change:
    if task.status is Status.RUNNING:
        return request_cancel(task.id, now=now, reason=OVERLAP)
    return cancel(task, now=now, reason=OVERLAP)
