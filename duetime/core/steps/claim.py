"""claim and release: a scanner takes a task that is due soon, or gives it back."""

from duetime.core.change import Change, Expect
from duetime.core.delivery import Delivery
from duetime.core.lifecycle import Status, Step, status_after
from duetime.core.times import HOUR, Millis
from duetime.core.wake_policy import Draw, WakePolicy
from duetime.core.wakes import Wake, WakeKind

SET_ASIDE_FOR: Millis = HOUR


def claim(
    wake_policy: WakePolicy,
    found: Wake,
    *,
    now: Millis,
    draw: Draw,
    before: Status = Status.PENDING,
    not_before: Millis = 0,
) -> Change:
    """The wake key is the lock: of two scanners the second finds another key and sends
    nothing; a cancel or a change of time has rewritten it and wins as well. The token stays,
    so a message that an earlier, released claim did send starts the same attempt, not another.

    The index does not distinguish PENDING from RETRYING. Nearly all tasks are PENDING; the scanner
    checks a task whose claim was refused although its wake has not moved (see watch.check_wake).

    If the delivery is held back until `not_before`, the watch counts from then."""
    return Change(
        step=Step.CLAIM,
        task_id=found.task_id,
        expect=Expect(statuses=frozenset({before}), wake=found),
        sets={
            "status": status_after(Step.CLAIM, before),
            "wake": wake_policy.first_watch(
                found.task_id, found.lane, found.at, now=now, draw=draw, visible_at=not_before
            ),
            "updated_at": now,
        },
    )


def release(wake_policy: WakePolicy, delivery: Delivery, *, now: Millis) -> Change:
    """Gives a task back to the scanner after its message was refused or its fate is unknown. If the
    message did arrive and an executor has taken the lease, the status has changed and this write
    is refused, which is right: there is nothing to give back."""
    before = Status.ENQUEUED if delivery.attempt == 1 else Status.RETRYING
    return Change(
        step=Step.RELEASE,
        task_id=delivery.task_id,
        expect=Expect(statuses=frozenset({before}), token=delivery.token, wake=delivery.watch),
        sets={
            "status": status_after(Step.RELEASE, before),
            "wake": wake_policy.wake(
                WakeKind.DISPATCH, delivery.task_id, delivery.lane, delivery.due_at, now=now
            ),
            "updated_at": now,
        },
    )


def set_aside(wake_policy: WakePolicy, found: Wake, *, now: Millis) -> Change:
    """Postpones a wake that keeps failing, so that it does not delay the others. It does not check
    the status, which may be the unreadable part. If another writer has moved the wake first, this
    write is refused, and that writer's wake is kept."""
    later = now + SET_ASIDE_FOR
    return Change(
        step=Step.WATCH,
        task_id=found.task_id,
        expect=Expect(statuses=None, wake=found),
        sets={"wake": wake_policy.wake(found.kind, found.task_id, found.lane, later, now=now)},
    )
