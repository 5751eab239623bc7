"""What a bulk operation does to each task: cancel, retry, shift or discard it."""

from collections.abc import Sequence

from duetime.api.bulk import reason_of
from duetime.api.http import CONTENTION, Problem
from duetime.api.redrive import SUPERSEDED, revive_all
from duetime.api.task_changes import not_deferrable
from duetime.core.change import Answer, Applied, Refused
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.shifts import is_marked, shifted
from duetime.core.steps.cancel import cancel_seen
from duetime.core.steps.defer import Deferral
from duetime.core.steps.discard import discard
from duetime.core.steps.revive import revivable
from duetime.core.task import MAX_AHEAD, Task
from duetime.core.task_filter import TaskFilter
from duetime.core.times import Millis, rfc3339
from duetime.core.value import value
from duetime.core.wake_policy import Draw
from duetime.engine.defer import defer_all

TRIES = 5  # each loses to a step of the task itself
CHANGED = "it changed meanwhile, and the filter does not select it any more"
IN_THE_PAST = "it would be due in the past"


@value(frozen=True, kw_only=True, slots=True)
class Cancel:
    ports: Ports
    wanted: TaskFilter

    def concerns(self, task: Task) -> bool:
        """A running task that is already asked to stop needs nothing more."""
        return not (task.status is Status.RUNNING and task.cancel_requested)

    def check(self, _: Task) -> str | None:
        return None

    def apply(self, tasks: Sequence[Task], _: int) -> list[str | None]:
        """A task that a step of its own has changed meanwhile is cancelled if the filter still
        selects it."""
        reasons: dict[int, str | None] = {}
        left = dict(enumerate(tasks))
        for _try in range(TRIES):
            if not left:
                break
            now = self.ports.clock.now()
            answers = self.ports.store.apply([cancel_seen(t, now=now) for t in left.values()])
            answered, left = dict(zip(left, answers, strict=True)), {}
            for place, answer in answered.items():
                reasons[place] = reason_of(answer)
                if isinstance(answer, Refused) and answer.stored:
                    reasons[place] = unwanted(answer.stored, self.wanted) or CONTENTION
                    if reasons[place] is CONTENTION:
                        left[place] = answer.stored
        return [reasons[place] for place in range(len(tasks))]


@value(frozen=True, kw_only=True, slots=True)
class Retry:
    ports: Ports
    wanted: TaskFilter

    def concerns(self, task: Task) -> bool:
        return self.wanted.wants(task)  # the list is of all dead tasks

    def check(self, task: Task) -> str | None:
        return None if revivable(task) else SUPERSEDED

    def apply(self, tasks: Sequence[Task], done: int) -> list[str | None]:
        return [_settled(answer) for answer in revive_all(self.ports, tasks, done)]


@value(frozen=True, kw_only=True, slots=True)
class Discard:
    ports: Ports

    def concerns(self, _: Task) -> bool:
        return True

    def check(self, _: Task) -> str | None:
        return None

    def apply(self, tasks: Sequence[Task], _: int) -> list[str | None]:
        now = self.ports.clock.now()
        answers = self.ports.store.apply([discard(task, now=now) for task in tasks])
        return [_settled(answer) for answer in answers]


@value(frozen=True, kw_only=True, slots=True)
class Shift:
    """`mark` is what the tasks keep of the operation's key: see duetime.core.shifts."""

    ports: Ports
    wanted: TaskFilter
    by: Millis
    mark: str | None

    def concerns(self, _: Task) -> bool:
        return True

    def check(self, task: Task) -> str | None:
        return None if is_marked(task, self.mark) else self._reason(task, self.ports.clock.now())

    def apply(self, tasks: Sequence[Task], _: int) -> list[str | None]:
        answers = defer_all(self.ports, tasks, self._decide)
        return [a if a is None or isinstance(a, str) else reason_of(a) for a in answers]

    def _decide(self, task: Task, now: Millis, _: Draw) -> Deferral | str | None:
        """Returns None for a task that an earlier call of the same operation has moved."""
        if is_marked(task, self.mark):
            return None
        return self._reason(task, now) or shifted(task, self.by, self.mark)

    def _reason(self, task: Task, now: Millis) -> str | None:
        if reason := unwanted(task, self.wanted):
            return reason
        if problem := not_deferrable(task, "shifted"):
            return _detail(problem)
        due_at, expires_at = task.due_at + self.by, task.spec.expires_at
        if due_at < now:
            return IN_THE_PAST
        if due_at - now > MAX_AHEAD:
            return "it would be due more than 10 years ahead"
        if task.attempt == 0 and expires_at is not None and expires_at <= due_at:
            return f"it expires before it would be due, at {rfc3339(expires_at)}"
        return None


def unwanted(task: Task, wanted: TaskFilter) -> str | None:
    """Returns why the filter does not select the task any more; None if it does."""
    if wanted.wants(task):
        return None
    return f"it is {task.status}" if task.status not in wanted.statuses else CHANGED


def _settled(answer: Answer) -> str | None:
    """As reason_of, for a write that is not tried again: another request has settled the task."""
    if isinstance(answer, Applied) or not (isinstance(answer, Refused) and answer.stored):
        return reason_of(answer)
    status = answer.stored.status
    again = "another request revived it, and it died again"
    return again if status is Status.DEAD else f"it is {status}"


def _detail(problem: Problem) -> str:
    detail: str = problem.body["detail"]
    return detail
