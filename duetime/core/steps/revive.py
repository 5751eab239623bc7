"""revive: a dead task is retried."""

from duetime.core.change import Change, Expect
from duetime.core.delivery import new_token
from duetime.core.lifecycle import Status, Step, sources, status_after
from duetime.core.task import SUPERSEDED, Task
from duetime.core.times import Millis
from duetime.core.wake_policy import Draw, WakePolicy


def revivable(task: Task) -> bool:
    """Whether a dead task may be revived. A superseded one may not, since another task has its
    unique key; being superseded is never undone, so this may be decided before the write."""
    return task.status is Status.DEAD and task.reason != SUPERSEDED


def revive(
    wake_policy: WakePolicy, task: Task, *, now: Millis, draw: Draw, delay: Millis = 0
) -> Change:
    """Gives a dead task as many attempts as it had at first. Attempt numbers continue, so that no
    fencing token is used twice. Of two revivals the second finds another token and is refused, and
    so is every further copy of the dead letter. `delay` spreads a bulk redrive, to spare the
    targets. A promoted task returns to the lane of its priority: its new life has a new due time,
    so it has not waited yet."""
    due_at = now + delay
    return Change(
        step=Step.REVIVE,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.REVIVE), token=task.token, attempt=task.attempt),
        sets={
            "status": status_after(Step.REVIVE, Status.DEAD),
            "token": new_token(due_at, draw.nonce),
            "due_at": due_at,
            "wake": wake_policy.place(task.id, task.spec.priority, due_at, now=now, draw=draw),
            "promoted": None,
            "budget": task.attempt + task.spec.retry.max_attempts,
            "cancel_requested": False,
            "progress": None,
            "suspended": None,
            "sends": 0,
            "skips": 0,
            "updated_at": now,
        },
    )
