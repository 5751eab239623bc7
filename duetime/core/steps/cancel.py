"""cancel and expire: a task ends before it starts, or a running task is asked to stop."""

from dataclasses import replace

from duetime.core.change import Change, Expect
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.steps.follow_up import follow_up_wake
from duetime.core.task import Task
from duetime.core.times import Millis

UNSTARTED = frozenset({Status.PENDING, Status.ENQUEUED})


def cancel(task: Task, *, now: Millis, reason: str | None = None) -> Change:
    """Ends a task that is not running. If an executor takes the lease first, this write is refused:
    then see request_cancel. `reason` is given if Duetime cancels the task, not a person."""
    return Change(
        step=Step.CANCEL,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.CANCEL)),
        sets={
            "status": Status.CANCELLED,
            "wake": follow_up_wake(task, now),
            "cancel_requested": True,
            "updated_at": now,
            **_reason(reason),
        },
    )


def cancel_unstarted(task: Task, *, now: Millis, reason: str) -> Change:
    """Ends a task that has never started. Of this write and a lease the first wins, so a task that
    has started is never dropped."""
    change = cancel(task, now=now, reason=reason)
    return replace(change, expect=replace(change.expect, attempt=0))


def request_cancel(task_id: str, *, now: Millis, reason: str | None = None) -> Change:
    """Asks the holder to stop at its next heartbeat. An outcome that is recorded first is kept."""
    return Change(
        step=Step.REQUEST_CANCEL,
        task_id=task_id,
        expect=Expect(statuses=sources(Step.REQUEST_CANCEL)),
        sets={"cancel_requested": True, "updated_at": now, **_reason(reason)},
    )


def cancel_seen(task: Task, *, now: Millis) -> Change:
    """Cancels an unfinished task, or asks its holder to stop, on condition that it is the task that
    the caller has read: a start, an end and a change of its tags write a new token or status, so
    this write is refused, and the caller checks again whether it wants the newer task cancelled. A
    claim in between does not matter."""
    running = task.status is Status.RUNNING
    change = request_cancel(task.id, now=now) if running else cancel(task, now=now)
    return replace(change, expect=replace(change.expect, token=task.token))


def expire(task: Task, *, now: Millis) -> Change:
    """Ends a task that passed its `expires_at` before it started. A write that changes its due time
    sets a new token, so this one loses."""
    return Change(
        step=Step.EXPIRE,
        task_id=task.id,
        expect=Expect(statuses=UNSTARTED, token=task.token, attempt=0),
        sets={"status": Status.EXPIRED, "wake": follow_up_wake(task, now), "updated_at": now},
    )


def _reason(reason: str | None) -> dict[str, str]:
    return {"reason": reason} if reason else {}
