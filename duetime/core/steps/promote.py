"""promote: a task that has waited for long moves to the next higher lane."""

from duetime.core.change import Change, Expect
from duetime.core.delivery import new_token
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Step, sources
from duetime.core.task import Promotion, Task
from duetime.core.times import Millis
from duetime.core.wake_policy import Draw, WakePolicy
from duetime.core.wakes import WakeKind


def waiting_since(task: Task) -> Millis:
    """Returns since when a task has been waiting in its lane: its due time, or its promotion."""
    return max(task.due_at, task.promoted.at) if task.promoted else task.due_at


def may_be_promoted(task: Task) -> bool:
    """Whether aging applies to a task: it was sent and not leased, there is a higher lane, and it
    waits for an executor, not for a limit."""
    return (
        task.wake is not None
        and task.wake.kind is WakeKind.WATCH
        and task.status in sources(Step.PROMOTE)
        and task.lane is not Lane.HIGH
        and not task.in_line
    )


def is_aged(wake_policy: WakePolicy, task: Task, now: Millis) -> bool:
    """Whether a task has waited in its lane for as long as it may."""
    return may_be_promoted(task) and wake_policy.is_aged(waiting_since(task), now)


def promote(wake_policy: WakePolicy, task: Task, *, now: Millis, draw: Draw) -> Change:
    """Moves the task up one lane, with a new token. Its caller sends it to the new lane.

    Of this write and a lease the first wins: the lease changes the status, and this write changes
    the token that the lease expects. So the message in the old lane starts nothing any more, and is
    deleted when an executor takes it. A claim, a release or another watch that comes first has
    moved the wake, and this write is refused. The due time stays, so the drift counts the whole
    wait, and `priority` stays as it was submitted."""
    lane = Lane.ranked(task.lane.rank - 1)
    return Change(
        step=Step.PROMOTE,
        task_id=task.id,
        expect=Expect(
            statuses=frozenset({task.status}) & sources(Step.PROMOTE),
            token=task.token,
            wake=task.wake,
            attempt=task.attempt,
        ),
        sets={
            "promoted": Promotion(lane=lane, at=now),
            "token": new_token(task.due_at, draw.nonce),
            "wake": wake_policy.first_watch(task.id, lane, now, now=now, draw=draw),
            "sends": 0,
            "skips": 0,
            "updated_at": now,
        },
    )
