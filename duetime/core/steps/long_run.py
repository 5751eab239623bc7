"""long_run: an attempt that may outlast its message.

A queue hides a message for twelve hours at most, counted from its receive. So the executor deletes
the message of a task with a longer timeout right after the lease, and the watch in the table alone
covers the run. If such a task ends DEAD, it has no message that could become a dead letter: its
end leaves a follow-up, which sends one with the unchanged token.
"""

from duetime.core.change import Change, Expect
from duetime.core.delivery import Delivery, delivery_of
from duetime.core.lifecycle import Status, Step
from duetime.core.task import Spec, Task
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.core.value import replace
from duetime.core.wakes import WakeKind

LONGEST_HIDDEN = 11 * 3600  # seconds
SEND_AGAIN_AFTER: Millis = 5 * MINUTE  # a dead letter that may not have been sent
SEND_TAKES: Millis = 30 * SECOND  # at most; one that is sent later looks as if it was redriven


def outlasts_message(spec: Spec) -> bool:
    """Whether the message of an attempt is deleted after its lease. That of a task with limits
    stays, and is received now and then: it frees the slot if everything else fails."""
    return spec.timeout > LONGEST_HIDDEN and not spec.limits and spec.ordering_key is None


def lacks_dead_letter(task: Task) -> bool:
    """Whether the follow-up of a dead task is still to send its dead letter."""
    return task.status is Status.DEAD and task.has_follow_up and outlasts_message(task.spec)


def write_dead_letter(task: Task, *, now: Millis) -> Change:
    """Notes when the dead letter is written, before it is sent: an executor takes a message with
    another time for an old copy, and deletes it. The watch moves, so of two writers the second is
    refused: it could replace the time of a message that the first has sent. If the first fails,
    the watch comes due. If the task was revived or discarded, no message is needed."""
    if task.wake is None:
        raise ValueError(f"task {task.id} has its dead letter")
    later = task.wake.moved(WakeKind.WATCH, max(now + SEND_AGAIN_AFTER, task.wake.at + 1))
    dead = Expect(statuses=frozenset({Status.DEAD}), wake=task.wake, attempt=task.attempt)
    return Change(
        step=Step.FOLLOW_UP, task_id=task.id, expect=dead, sets={"sends": now, "wake": later}
    )


def dead_letter_of(task: Task) -> Delivery:
    """Returns the message of a dead task. It can start nothing, so it asks for no limit."""
    sent = delivery_of(task, task.sends)
    return replace(sent, occurrence=None, limits=None, step=None)
