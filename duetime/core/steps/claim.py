"""claim and release: a scanner takes a task whose time is near, or gives it back."""

from lambdas.core.change import Change, Expect
from lambdas.core.delivery import Delivery
from lambdas.core.lifecycle import TRANSITIONS, Status, Step
from lambdas.core.rules import Draw, Rules
from lambdas.core.times import HOUR, Millis
from lambdas.core.wakes import Wake, WakeKind

SET_ASIDE_FOR: Millis = HOUR


def claim(
    rules: Rules,
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

    The index does not tell PENDING from RETRYING; nearly all are PENDING, and a claim that is
    refused over a wake that still stands is looked at again (see watch.look).

    The watch counts from `not_before` if the delivery is to be held back until then."""
    visible_at = max(found.at, not_before)
    return Change(
        step=Step.CLAIM,
        task_id=found.task_id,
        expect=Expect(statuses=frozenset({before}), wake=found),
        sets={
            "status": TRANSITIONS[Step.CLAIM][before],
            "wake": rules.first_watch(found.task_id, found.lane, visible_at, now=now, draw=draw),
            "updated_at": now,
        },
    )


def release(rules: Rules, delivery: Delivery, *, now: Millis) -> Change:
    """For a message that was refused, or whose fate is unknown. If it did go out and was taken
    meanwhile, the status has moved on and there is nothing to give back."""
    before = Status.ENQUEUED if delivery.attempt == 1 else Status.RETRYING
    return Change(
        step=Step.RELEASE,
        task_id=delivery.task_id,
        expect=Expect(statuses=frozenset({before}), token=delivery.token, wake=delivery.watch),
        sets={
            "status": TRANSITIONS[Step.RELEASE][before],
            "wake": rules.wake(
                WakeKind.DISPATCH, delivery.task_id, delivery.lane, delivery.due_at, now=now
            ),
            "updated_at": now,
        },
    )


def set_aside(rules: Rules, found: Wake, *, now: Millis) -> Change:
    """Move a wake that keeps failing out of the way, so that it holds nobody up, whatever the
    status says: it may be what cannot be read. Whoever moved the wake first knew better."""
    later = now + SET_ASIDE_FOR
    return Change(
        step=Step.WATCH,
        task_id=found.task_id,
        expect=Expect(statuses=None, wake=found),
        sets={"wake": rules.wake(found.kind, found.task_id, found.lane, later, now=now)},
    )
