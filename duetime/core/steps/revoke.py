"""revoke: invalidates the messages of a task that has not started."""

from duetime.core.change import Change, Expect
from duetime.core.delivery import new_token
from duetime.core.lifecycle import Step, sources
from duetime.core.task import Task
from duetime.core.times import Millis


def revoke(task: Task, *, now: Millis, nonce: str) -> Change:
    """Gives the task a new token for the same due time.

    Two executors may hold copies of one message: the first may have decided to start the task, but
    not taken the lease yet, when the second decides otherwise. The token decides the race: if the
    lease is taken first, this change is refused; if this change is first, the lease is refused."""
    return Change(
        step=Step.REVOKE,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.REVOKE), token=task.token, attempt=0),
        sets={"token": new_token(task.due_at, nonce), "updated_at": now},
    )
