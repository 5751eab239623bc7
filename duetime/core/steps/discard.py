"""discard: a dead task is given up for good."""

from duetime.core.change import Change, Expect
from duetime.core.lifecycle import Status, Step, sources, status_after
from duetime.core.task import Task
from duetime.core.times import Millis

DISCARDED = "discarded"  # the reason of a task that is CANCELLED by this step


def discard(task: Task, *, now: Millis) -> Change:
    """Ends a dead task. It keeps its error and its attempts, and leaves the list of dead tasks.

    Of this write and a revival the first wins: a revival changes the status, and this write makes
    it final. A task that was revived and died again has another token and another attempt: it is
    not the death that the caller has seen, so this write is refused. The token stays, so the dead
    letter still names the last delivery, finds a final status and is deleted. The wake stays too: a
    follow-up that is still to be run is run."""
    return Change(
        step=Step.DISCARD,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.DISCARD), token=task.token, attempt=task.attempt),
        sets={
            "status": status_after(Step.DISCARD, Status.DEAD),
            "reason": DISCARDED,
            "updated_at": now,
        },
    )
