"""What a listener learns of a task: that its status changed, and what came with it."""

from lambdas.core.lanes import Lane
from lambdas.core.lifecycle import Outcome, Status
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.task import Attempt, Task, TaskError
from lambdas.core.times import Millis
from lambdas.core.values import value


@value(frozen=True, kw_only=True, slots=True)
class StatusChange:
    task_id: str
    namespace: str
    name: str | None
    target: str | None  # the handler or URL
    lane: Lane
    before: Status | None  # None: the task has just come into being
    after: Status
    attempt: int
    at: Millis
    drift_ms: Millis | None  # of the attempt that runs or ran last, as are these two
    outcome: Outcome | None
    error: TaskError | None
    owes: bool  # whether something must follow from it
    schedule_id: str | None  # of an occurrence that has ended, if others may wait for its end
    took_ms: Millis | None = None  # of the attempt that ran last, if it has ended
    max_attempts: int = 0
    result: str | None = None  # as JSON
    reason: str | None = None  # why it was cancelled, if nobody asked for that


def status_change(before: Task | None, after: Task) -> StatusChange | None:
    """None when the status did not change: a renewal, a moved watch, a claim of a retry."""
    if before is not None and before.status is after.status:
        return None
    current = after.current
    return StatusChange(
        task_id=after.id,
        namespace=after.spec.namespace,
        name=after.spec.name,
        target=after.spec.target.get("handler") or after.spec.target.get("url"),
        lane=after.lane,
        before=before.status if before else None,
        after=after.status,
        attempt=after.attempt,
        at=after.updated_at,
        drift_ms=current.drift_ms if current else None,
        outcome=current.outcome if current else None,
        error=current.error if current else None,
        owes=after.owes,
        schedule_id=_ended_of(after),
        took_ms=_took(current),
        max_attempts=after.budget,
        result=after.result,
        reason=after.reason,
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
