"""cancel and expire: a task ends without being run, or is asked to stop."""

from dataclasses import replace

from lambdas.core.change import Change, Expect
from lambdas.core.lifecycle import Status, Step, sources
from lambdas.core.steps.settle import debt
from lambdas.core.task import Task
from lambdas.core.times import Millis


def cancel(task: Task, *, now: Millis, reason: str | None = None) -> Change:
    """End what has not started. A lease that was taken first wins: then see request_cancel.
    `reason` if it was not a person who asked for it."""
    return Change(
        step=Step.CANCEL,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.CANCEL)),
        sets={
            "status": Status.CANCELLED,
            "wake": debt(task, now),
            "cancel_requested": True,
            "updated_at": now,
            **_told(reason),
        },
    )


def cancel_unstarted(task: Task, *, now: Millis, reason: str) -> Change:
    """One that has started is never dropped: of the two, a lease and this, the first wins."""
    change = cancel(task, now=now, reason=reason)
    return replace(change, expect=replace(change.expect, attempt=0))


def request_cancel(task_id: str, *, now: Millis, reason: str | None = None) -> Change:
    """Ask the holder to stop, at its next heartbeat; an outcome that comes first stands."""
    return Change(
        step=Step.REQUEST_CANCEL,
        task_id=task_id,
        expect=Expect(statuses=sources(Step.REQUEST_CANCEL)),
        sets={"cancel_requested": True, "updated_at": now, **_told(reason)},
    )


def expire(task: Task, *, now: Millis) -> Change:
    """End a task whose time passed before it started. A change of its time writes a new token
    and wins."""
    return Change(
        step=Step.EXPIRE,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.EXPIRE), token=task.token, attempt=0),
        sets={"status": Status.EXPIRED, "wake": debt(task, now), "updated_at": now},
    )


def _told(reason: str | None) -> dict[str, str]:
    return {"reason": reason} if reason else {}
