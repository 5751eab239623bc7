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


def status_change(before: Task | None, after: Task) -> StatusChange | None:
    """Returns None if the status did not change: a renewal, a moved watch, a claim of a retry."""
    if before is not None and before.status is after.status:
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
        run_id=after.spec.step.run_id if after.spec.step else None,
        ahead_ms=_ahead(after),
        occurrence_of=after.spec.occurrence.schedule_id if after.spec.occurrence else None,
        pool=after.spec.pool,
    )


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
