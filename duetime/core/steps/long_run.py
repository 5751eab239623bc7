"""long_run: an attempt that may outlast its message.

A queue hides a message for twelve hours at most, counted from its receive. So the executor deletes
the message of a task with a longer timeout right after the lease, and the watch in the table alone
covers the run. If such a task ends DEAD, it has no message that could become a dead letter: its
end leaves a follow-up, which sends one with the unchanged token.
"""

from duetime.core.change import Change, Expect
from duetime.core.delivery import Delivery, delivery_of
from duetime.core.lifecycle import Status, Step
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.value import replace

LONGEST_HIDDEN = 11 * 3600  # seconds


def outlasts_message(timeout: float) -> bool:
    return timeout > LONGEST_HIDDEN


def lacks_dead_letter(task: Task) -> bool:
    """Whether the follow-up of a dead task is still to send its dead letter."""
    return task.status is Status.DEAD and task.has_follow_up and outlasts_message(task.spec.timeout)


def write_dead_letter(task: Task, *, now: Millis) -> Change:
    """Notes when the dead letter is written, before it is sent: an executor takes a message with
    another time for an old copy, and deletes it. Of two writers the later one wins; the message of
    the earlier is deleted. If the task was revived or discarded, this write is refused, and no
    message is needed. The watch stays until the message is sent."""
    dead = Expect(
        statuses=frozenset({Status.DEAD}), wake=task.wake, token=task.token, attempt=task.attempt
    )
    return Change(step=Step.FOLLOW_UP, task_id=task.id, expect=dead, sets={"sends": now})


def dead_letter_of(task: Task) -> Delivery:
    """Returns the message of a dead task. It can start nothing, so it asks for no limit."""
    sent = delivery_of(task, task.sends)
    return replace(sent, occurrence=None, limits=None, step=None)
