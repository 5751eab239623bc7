"""follow_up: the watch of a finished task whose follow-up is still to be run.

A finished task with a follow-up keeps a watch. The relay runs the follow-up at once and removes the
watch; if the relay fails, the watch comes due and the scanner runs the follow-up. The whole path is
described in duetime.engine.followups.
"""

from duetime.core.change import Change, Expect
from duetime.core.lifecycle import Step, sources
from duetime.core.task import Task
from duetime.core.times import MINUTE, Millis
from duetime.core.wakes import Wake, WakeKind

RELAY_GRACE: Millis = 5 * MINUTE  # how long the scanner leaves a follow-up to the relay


def follow_up_wake(task: Task, now: Millis) -> Wake | None:
    """Returns the watch of a task that ends now; None if it has no follow-up."""
    occurrence = task.spec.occurrence
    if occurrence is None or not occurrence.has_follow_up or task.wake is None:
        return None
    return task.wake.moved(WakeKind.WATCH, now + RELAY_GRACE)


def follow_up_done(task: Task) -> Change:
    """Removes the watch. If the task was revived, or another role has run the follow-up, the wake
    has moved and this write is refused, which is safe."""
    return _move_wake(task, None)


def follow_up_now(task: Task, now: Millis) -> Change:
    """Brings the watch forward after a restart: the relay has lost the event, so the scanner runs
    the follow-up at once."""
    return _move_wake(task, task.wake.moved(WakeKind.WATCH, now) if task.wake else None)


def _move_wake(task: Task, wake: Wake | None) -> Change:
    return Change(
        step=Step.FOLLOW_UP,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.FOLLOW_UP), wake=task.wake),
        sets={"wake": wake},
    )
