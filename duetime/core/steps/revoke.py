"""revoke: the messages of a task that has not started become worthless."""

from lambdas.core.change import Change, Expect
from lambdas.core.delivery import new_token
from lambdas.core.lifecycle import Step, sources
from lambdas.core.task import Task
from lambdas.core.times import Millis


def revoke(task: Task, *, now: Millis, nonce: str) -> Change:
    """Give the task a new token for the same due time.

    Of two executors with copies of one message, the first may have been let in and not yet have
    taken the lease when the second decides otherwise. The token settles it: a lease that was
    taken first wins and refuses this change, a later one is refused."""
    return Change(
        step=Step.REVOKE,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.REVOKE), token=task.token, attempt=0),
        sets={"token": new_token(task.due_at, nonce), "updated_at": now},
    )
