"""defer: a task that is not running gets a new due time, and perhaps another spec."""

from duetime.core.change import Change, Expect
from duetime.core.delivery import Delivery, new_token
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.task import DEFERRED, Spec, Task
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.wake_policy import Draw, WakePolicy

UNSTARTED = frozenset({Status.PENDING, Status.ENQUEUED})


@value(frozen=True, kw_only=True, slots=True)
class Deferral:
    """What a task becomes: its whole spec, and when it is due."""

    spec: Spec
    due_at: Millis


def defer(
    wake_policy: WakePolicy, task: Task, wanted: Deferral, *, now: Millis, draw: Draw
) -> Change:
    """Replaces the spec, the due time, the token and the wake in one write. The token changes even
    if the due time does not: a message that was sent before was made for the old spec, and starts
    nothing any more.

    Of this write and a lease the first wins: a lease changes the status, and this write changes the
    token that the lease expects. Of two deferrals the second is refused, since the spec that it
    writes was made from an old one; its caller decides again. A claim, a release or a watch in
    between changes neither status group nor token, and this write replaces what it wrote. A claim
    that comes later returns the new token, and a release that comes later is refused.

    As after a submission, an unstarted task that is due within the horizon is ENQUEUED with a
    watch, and its caller sends it; otherwise the scanner dispatches it. A RETRYING task keeps its
    status and its attempts. A promoted task returns to the lane of its priority."""
    spec, due_at = wanted.spec, wanted.due_at
    return Change(
        step=Step.DEFER,
        task_id=task.id,
        expect=Expect(
            statuses=_with_same_start(task.status), token=task.token, attempt=task.attempt
        ),
        sets={
            "spec": spec,
            "status": _status(wake_policy, task, due_at, now),
            "token": new_token(due_at, draw.nonce),
            "due_at": due_at,
            "wake": wake_policy.place(task.id, spec.priority, due_at, now=now, draw=draw),
            "budget": budget_after(task, spec),
            "promoted": None,
            "sends": 0,
            "skips": 0,
            "held": None,
            "grant": None,
            "updated_at": now,
        },
    )


def defer_to_slot(
    wake_policy: WakePolicy,
    delivery: Delivery,
    limit: int,
    slot: Millis,
    *,
    now: Millis,
    draw: Draw,
) -> Change:
    """Makes a task due at the time that a rate limit has granted it; `limit` is its number among
    those of the task. Like `defer`, but the spec stays, so the task need not be read. If anything
    else has happened to the task, this write is refused, and the delivery starts nothing either."""
    unstarted = delivery.attempt == 1
    soon = wake_policy.within_horizon(slot, now)
    status = {"status": Status.ENQUEUED if soon else Status.PENDING} if unstarted else {}
    return Change(
        step=Step.DEFER,
        task_id=delivery.task_id,
        expect=Expect(
            statuses=UNSTARTED if unstarted else frozenset({Status.RETRYING}),
            token=delivery.token,
            attempt=delivery.attempt - 1,
        ),
        sets={
            **status,
            "token": new_token(slot, draw.nonce),
            "due_at": slot,
            "wake": wake_policy.place(delivery.task_id, delivery.lane, slot, now=now, draw=draw),
            "sends": 0,
            "skips": 0,
            "held": DEFERRED - limit,
            "grant": slot,
            "updated_at": now,
        },
    )


def budget_after(task: Task, spec: Spec) -> int:
    """Returns the budget with another `max_attempts`. The attempts that did not count, because they
    were snoozed or belong to a life before a revival, still do not count."""
    return task.budget - task.spec.retry.max_attempts + spec.retry.max_attempts


def _status(wake_policy: WakePolicy, task: Task, due_at: Millis, now: Millis) -> Status:
    if task.status not in UNSTARTED:
        return task.status
    return Status.ENQUEUED if wake_policy.within_horizon(due_at, now) else Status.PENDING


def _with_same_start(status: Status) -> frozenset[Status]:
    """Returns the statuses that a claim or a release may have changed this one to."""
    return (UNSTARTED if status in UNSTARTED else frozenset({status})) & sources(Step.DEFER)
