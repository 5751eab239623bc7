"""follow_up: the watch of a finished task whose follow-up is still to be run.

A finished task with a follow-up keeps a watch. The relay runs the follow-up at once and removes the
watch; if the relay fails, the watch comes due and the scanner runs the follow-up. The whole path is
described in duetime.engine.followups.
"""

from duetime.core.change import Change, Expect
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.steps.long_run import outlasts_message
from duetime.core.task import WORKFLOW, Spec, Task
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.core.wakes import Wake, WakeKind

RELAY_GRACE: Millis = 5 * MINUTE  # how long the scanner leaves a follow-up to the relay
LEAST_GRACE: Millis = 30 * SECOND


def follow_up_wake(task: Task, now: Millis, status: Status | None = None) -> Wake | None:
    """Returns the watch of a task that ends now; None if it has no follow-up. A dead task whose
    message is deleted needs one for its dead letter: see duetime.core.steps.long_run."""
    without_message = status is Status.DEAD and outlasts_message(task.spec)
    if task.wake is None or not (without_message or needs_follow_up(task.spec)):
        return None
    return task.wake.moved(WakeKind.WATCH, now + RELAY_GRACE)


def needs_follow_up(spec: Spec) -> bool:
    """Whether something must happen after the end of a task: a run goes on, or its schedule; or the
    run that the task waited for is cancelled."""
    occurrence = spec.occurrence
    return (
        spec.step is not None
        or (occurrence is not None and occurrence.has_follow_up)
        or spec.target.get("type") == WORKFLOW
    )


def is_near(wake: Wake | None, now: Millis) -> bool:
    """Whether a watch comes so soon that it may stay as the watch of a follow-up, which spares
    moving it: not before the relay has had its time, and not later than a new one."""
    if wake is None or wake.kind is not WakeKind.WATCH:
        return False
    return now + LEAST_GRACE <= wake.at <= now + RELAY_GRACE


def follow_up_done(task: Task) -> Change:
    """Removes the watch. If another role has run the follow-up, the wake has moved and this write
    is refused, which is safe. If the task was revived and has ended again, it has another attempt,
    and the follow-up of that end is not removed."""
    ended = Expect(
        statuses=frozenset({task.status}) & sources(Step.FOLLOW_UP),
        wake=task.wake,
        attempt=task.attempt,
    )
    return _move_wake(task, None, ended)


def follow_up_now(task: Task, now: Millis) -> Change:
    """Brings the watch forward after a restart: the relay has lost the event, so the scanner runs
    the follow-up at once."""
    wake = task.wake.moved(WakeKind.WATCH, now) if task.wake else None
    return _move_wake(task, wake, Expect(statuses=sources(Step.FOLLOW_UP), wake=task.wake))


def _move_wake(task: Task, wake: Wake | None, expect: Expect) -> Change:
    return Change(step=Step.FOLLOW_UP, task_id=task.id, expect=expect, sets={"wake": wake})
