"""What a listener learns of a task: that its status changed, and what came with it."""

from lambdas.core.lanes import Lane
from lambdas.core.lifecycle import Outcome, Status
from lambdas.core.task import Task, TaskError
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
    )
