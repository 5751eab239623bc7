"""The gate: an occurrence whose time has come starts, waits, or is skipped.

It stands before the lease, so that whatever is held back here is left as it was. What has started
once does not come through here again: neither do its retries, nor messages that came late. Many
come at once, at the full minute, so they are asked together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lambdas.core.change import Change
from lambdas.core.delivery import Delivery
from lambdas.core.errors import Unavailable
from lambdas.core.lifecycle import Status
from lambdas.core.occurrence import Occurrence, OverlapPolicy
from lambdas.core.ports import Ports
from lambdas.core.schedules.overlap import (
    CHANGED,
    OVERLAP,
    Decision,
    Skip,
    Start,
    Wait,
    decide,
    stale,
)
from lambdas.core.schedules.ports import Differs, Stands
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.steps.cancel import cancel, cancel_unstarted, request_cancel
from lambdas.core.task import Task
from lambdas.core.times import MINUTE, Millis
from lambdas.enqueue import enqueue
from lambdas.executor.doubled import started_before
from lambdas.executor.messages import Messages
from lambdas.executor.runs import Admitted

LOOKS_AGAIN: Millis = MINUTE  # one that waits for a run whose end nobody will tell
TRIES = 5  # each lost to another run of the schedule that begins or ends

Tasks = Mapping[str, Task]


@dataclass(slots=True)
class _Asked:
    """One that stands before the gate, and what is said to it."""

    admitted: Admitted
    delivery: Delivery
    occurrence: Occurrence
    schedule: Schedule | None = None
    decision: Decision | None = None  # None: not yet decided, or nobody answered

    @property
    def free(self) -> bool:
        """Whether nothing but the schedule itself has to be looked at."""
        allowed = self.occurrence.overlap is OverlapPolicy.ALLOW
        return allowed and stale(self.schedule, self.occurrence) is None

    @property
    def named(self) -> list[str]:
        there = (self.schedule.active, self.schedule.waiting) if self.schedule else ()
        return [self.delivery.task_id, *(task_id for task_id in there if task_id)]

    def decide(self, tasks: Tasks, now: Millis) -> Decision:
        task = tasks.get(self.delivery.task_id)
        if self.free or task is None or not _is_next(task, self.delivery) or task.expired(now):
            return Start()  # if it may not, the lease refuses it and settles its message
        schedule = self.schedule
        return decide(
            schedule,
            self.occurrence,
            task.id,
            active=tasks.get(schedule.active or "") if schedule else None,
            waiting=tasks.get(schedule.waiting or "") if schedule else None,
        )


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
        """Decide, and write down what was decided; those for whom the schedule has changed."""
        tasks = self._tasks(asked)
        now = self._ports.clock.now()
        written = []
        for one in asked:
            decision = one.decide(tasks, now)
            if isinstance(decision, Skip) or decision.schedule is None:
                self._act(one, decision, tasks)
            else:
                written.append((one, decision, decision.schedule))
        again = []
        answers = self._ports.schedules.put([schedule for _, _, schedule in written])
        for (one, decision, _), answer in zip(written, answers, strict=True):
            match answer:
                case Stands():
                    self._act(one, decision, tasks)
                case Differs(standing):
                    one.schedule = standing
                    again.append(one)
        return again

    def _act(self, one: _Asked, decision: Decision, tasks: Tasks) -> None:
        """If a write is not answered, the watch of the task brings it here again."""
        one.decision = decision
        now = self._ports.clock.now()
        match decision:
            case Skip(reason=reason):
                task = tasks[one.delivery.task_id]
                self._ports.store.apply([cancel_unstarted(task, now=now, reason=reason)])
            case Wait(cancels=cancels, wakes=wakes, unheard=unheard):
                self._ports.store.apply([_make_room(tasks[task_id], now) for task_id in cancels])
                # Of another lane, after a change of priority, it is left to whoever may send there.
                turn = [tasks[wakes]] if wakes else []
                enqueue(self._ports, [task for task in turn if task.lane is one.delivery.lane])
                if unheard:
                    task = tasks[one.delivery.task_id]
                    enqueue(self._ports, [task], {task.id: now + LOOKS_AGAIN})

    def _turn_away(self, held: Sequence[_Asked]) -> None:
        """One that waits needs no message: it gets another when its turn has come."""
        for one in held:
            if one.decision is None:
                self._messages.give_back(one.admitted.message)
        self._messages.delete([one.admitted.message for one in held if one.decision])

    def _tasks(self, asked: Sequence[_Asked]) -> Tasks:
        ids = dict.fromkeys(task_id for one in asked if not one.free for task_id in one.named)
        return self._ports.store.get(list(ids)) if ids else {}


def _is_next(task: Task, delivery: Delivery) -> bool:
    """Whether the delivery would start the first attempt of its task."""
    waits = task.status in (Status.PENDING, Status.ENQUEUED)
    return waits and task.attempt == 0 and task.token == delivery.token


def _make_room(task: Task, now: Millis) -> Change:
    if task.status is Status.RUNNING:
        return request_cancel(task.id, now=now, reason=OVERLAP)
    return cancel(task, now=now, reason=OVERLAP)
