"""cancel and expire: a task ends without being run, or is asked to stop."""

from lambdas.core.change import Change, Expect
from lambdas.core.lifecycle import Status, Step, sources
from lambdas.core.task import Task
from lambdas.core.times import Millis


def cancel(task_id: str, *, now: Millis) -> Change:
    """End what has not started. A lease that was taken first wins: then see request_cancel."""
    return Change(
        step=Step.CANCEL,
        task_id=task_id,
        expect=Expect(statuses=sources(Step.CANCEL)),
        sets={
            "status": Status.CANCELLED,
            "wake": None,
            "cancel_requested": True,
            "updated_at": now,
        },
    )


def request_cancel(task_id: str, *, now: Millis) -> Change:
    """Ask the holder to stop, at its next heartbeat; an outcome that comes first stands."""
    return Change(
        step=Step.REQUEST_CANCEL,
        task_id=task_id,
        expect=Expect(statuses=sources(Step.REQUEST_CANCEL)),
        sets={"cancel_requested": True, "updated_at": now},
    )


def expire(task: Task, *, now: Millis) -> Change:
    """End a task whose time passed before it started. A change of its time writes a new token
    and wins."""
    return Change(
        step=Step.EXPIRE,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.EXPIRE), token=task.token, attempt=0),
        sets={"status": Status.EXPIRED, "wake": None, "updated_at": now},
    )
