"""Events: the status change of a task, as listeners receive it."""

from duetime.core.lanes import Lane, Queue, queue_of
from duetime.core.lifecycle import Outcome, Status
from duetime.core.occurrence import OverlapPolicy
from duetime.core.target_names import target_name
from duetime.core.task import Attempt, Task, TaskError
from duetime.core.times import Millis
from duetime.core.value import value


@value(frozen=True, kw_only=True, slots=True)
class StatusChange:
    task_id: str
    namespace: str
    name: str | None
    target: str | None  # the handler or URL
    lane: Lane
    before: Status | None  # None: the task is new
    after: Status
    attempt: int
    at: Millis
    due_at: Millis
    drift_ms: Millis | None  # of the latest attempt, as are outcome and error
    outcome: Outcome | None
    error: TaskError | None
    has_follow_up: bool  # see duetime.engine.followups
    schedule_id: str | None  # of an ended occurrence, if other runs may wait for its end
    took_ms: Millis | None = None  # of the latest attempt, if it has ended
    max_attempts: int = 0
    result: str | None = None  # as JSON
    reason: str | None = None  # why Duetime cancelled it; None if a person did
    run_id: str | None = None  # of a step of a workflow run
    ahead_ms: Millis | None = None  # how long before it was due a task in its first attempt existed
    occurrence_of: str | None = None  # the schedule that has created it
    pool: str | None = None

    @property
    def queue(self) -> Queue:
        return queue_of(self.lane, self.pool)


def is_status_change(before: Task | None, after: Task) -> bool:
    """Whether the status changed: not by a renewal, a moved watch, a claim of a retry."""
    return before is None or before.status is not after.status


def status_change(before: Task | None, after: Task) -> StatusChange | None:
    """Returns None if the status did not change."""
    if not is_status_change(before, after):
        return None
    current = after.current
    return StatusChange(
        task_id=after.id,
        namespace=after.spec.namespace,
        name=after.spec.name,
        target=target_name(after.spec.target),
        lane=after.lane,
        before=before.status if before else None,
        after=after.status,
        attempt=after.attempt,
        at=after.updated_at,
        due_at=after.due_at,
        drift_ms=current.drift_ms if current else None,
        outcome=current.outcome if current else None,
        error=current.error if current else None,
        has_follow_up=after.has_follow_up,
        schedule_id=_ended_of(after),
        took_ms=_took(current),
        max_attempts=after.budget,
        result=after.result,
        reason=after.reason,
        run_id=_run_of(after),
        ahead_ms=_ahead(after),
        occurrence_of=_occurrence_of(after),
        pool=after.spec.pool,
    )


class StoredChange(StatusChange):
    """A status change whose fields are read from the task when they are asked for. On one machine
    three changes of every task are published, and of most only a few fields are read."""

    __slots__ = ("_task",)

    def __init__(self, before: Task | None, after: Task) -> None:
        self._task = after
        # Set only here; the fields that every change is asked for.
        self.task_id = after.id  # type: ignore[misc]
        self.before = None if before is None else before.status  # type: ignore[misc]
        self.after = after.status  # type: ignore[misc]

    @property
    def namespace(self) -> str:
        return self._task.spec.namespace

    @property
    def name(self) -> str | None:
        return self._task.spec.name

    @property
    def target(self) -> str | None:
        return target_name(self._task.spec.target)

    @property
    def lane(self) -> Lane:
        return self._task.lane

    @property
    def attempt(self) -> int:
        return self._task.attempt

    @property
    def at(self) -> Millis:
        return self._task.updated_at

    @property
    def due_at(self) -> Millis:
        return self._task.due_at

    @property
    def drift_ms(self) -> Millis | None:
        return current.drift_ms if (current := self._task.current) else None

    @property
    def outcome(self) -> Outcome | None:
        return current.outcome if (current := self._task.current) else None

    @property
    def error(self) -> TaskError | None:
        return current.error if (current := self._task.current) else None

    @property
    def has_follow_up(self) -> bool:
        return self._task.has_follow_up

    @property
    def schedule_id(self) -> str | None:
        return _ended_of(self._task)

    @property
    def took_ms(self) -> Millis | None:
        return _took(self._task.current)

    @property
    def max_attempts(self) -> int:
        return self._task.budget

    @property
    def result(self) -> str | None:
        return self._task.result

    @property
    def reason(self) -> str | None:
        return self._task.reason

    @property
    def run_id(self) -> str | None:
        return _run_of(self._task)

    @property
    def ahead_ms(self) -> Millis | None:
        return _ahead(self._task)

    @property
    def occurrence_of(self) -> str | None:
        return _occurrence_of(self._task)

    @property
    def pool(self) -> str | None:
        return self._task.spec.pool


def _run_of(task: Task) -> str | None:
    return task.spec.step.run_id if task.spec.step else None


def _occurrence_of(task: Task) -> str | None:
    return task.spec.occurrence.schedule_id if task.spec.occurrence else None


def _ended_of(task: Task) -> str | None:
    occurrence = task.spec.occurrence
    if occurrence is None or not task.status.finished:
        return None
    return None if occurrence.overlap is OverlapPolicy.ALLOW else occurrence.schedule_id


def _took(attempt: Attempt | None) -> Millis | None:
    if attempt is None or attempt.finished_at is None:
        return None
    return attempt.finished_at - attempt.started_at


def _ahead(task: Task) -> Millis | None:
    first = task.current
    if first is None or first.number != 1:
        return None
    return first.started_at - first.drift_ms - task.created_at
