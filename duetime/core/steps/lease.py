"""lease and renew: an executor begins an attempt, and keeps the right to it."""

from typing import Any

from lambdas.core import lease as terms
from lambdas.core.change import Change, Expect
from lambdas.core.delivery import Delivery
from lambdas.core.drift import drift
from lambdas.core.lifecycle import Status, Step, sources
from lambdas.core.task import Attempt, Progress, Task
from lambdas.core.times import Millis


def lease(delivery: Delivery, *, now: Millis, holder: str) -> Change:
    """Doubled, stale and cancelled deliveries lose here: the token is spent or the status has
    moved on, and their message is worth nothing."""
    if now < delivery.due_at:
        raise ValueError(f"task {delivery.task_id} is not due")
    started = Attempt(
        number=delivery.attempt,
        started_at=now,
        drift_ms=drift(due_at=delivery.due_at, started_at=now),
    )
    return Change(
        step=Step.LEASE,
        task_id=delivery.task_id,
        expect=Expect(
            statuses=sources(Step.LEASE),
            token=delivery.token,
            attempt=delivery.attempt - 1,
            unexpired_at=now,
        ),
        sets={
            "status": Status.RUNNING,
            "attempt": delivery.attempt,
            "holder": holder,
            "lease_until": terms.renewed(now),
            "current": started,
            "sends": delivery.written_at,
            "updated_at": now,
        },
        keeps_attempt=delivery.attempt > 1,
    )


def renew(task: Task, *, now: Millis, progress: Progress | None = None) -> Change:
    """A holder that lost its lease is refused, and learns so. The answer to a renewal also
    tells whether somebody asked to cancel."""
    sets: dict[str, Any] = {"lease_until": terms.renewed(now)}
    if progress is not None:
        sets |= {"progress": progress, "updated_at": now}
    return Change(step=Step.RENEW, task_id=task.id, expect=held(task, Step.RENEW), sets=sets)


def held(task: Task, step: Step) -> Expect:
    """Only the holder of this very attempt: a late executor cannot touch a newer one's work."""
    return Expect(statuses=sources(step), attempt=task.attempt, holder=task.holder)
