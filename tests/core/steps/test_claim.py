from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.delivery import delivery_of
from duetime.core.lifecycle import Status
from duetime.core.steps.cancel import cancel
from duetime.core.steps.claim import SET_ASIDE_FOR, claim, release, set_aside
from duetime.core.steps.lease import lease
from duetime.core.times import HOUR, MINUTE
from duetime.core.wake_policy import FIRST_WATCH, WATCH_SPREAD
from duetime.core.wakes import WakeKind, parse_wake
from tests.factories import NOW, WAKE_POLICY, a_draw, a_sent_task, a_spec, a_task
from tests.strategies import draws, tasks, waits, wake_policies

waiting_for_dispatch = tasks(Status.PENDING, Status.RETRYING).map(
    lambda task: replace(task, wake=replace(task.wake, kind=WakeKind.DISPATCH))
)
sent = tasks(Status.ENQUEUED, Status.RETRYING).map(
    lambda task: replace(task, wake=replace(task.wake, kind=WakeKind.WATCH))
)
STATUS_OF_A_CLAIMED = {
    Status.PENDING: Status.ENQUEUED,
    Status.RETRYING: Status.RETRYING,
}


@given(wake_policies, waiting_for_dispatch, waits, draws)
def test_claim_takes_the_task_that_the_index_showed(wake_policy, task, wait, draw):
    now = task.wake.at - wake_policy.horizon + wait
    found = parse_wake(task.wake.bucket, task.wake.key)

    change = claim(wake_policy, found, now=now, draw=draw, before=task.status)
    claimed = change.applied_to(task)

    assert change.expect.holds(task)
    assert claimed.status is STATUS_OF_A_CLAIMED[task.status]
    assert (claimed.token, claimed.due_at, claimed.attempt) == (
        task.token,
        task.due_at,
        task.attempt,
    )
    assert claimed.updated_at == now
    assert claimed.wake.kind is WakeKind.WATCH
    late = claimed.wake.at - max(found.at, now)
    assert FIRST_WATCH <= late <= FIRST_WATCH + WATCH_SPREAD


@given(wake_policies, waiting_for_dispatch, waits, waits, draws)
def test_the_watch_of_a_claim_counts_from_when_its_delivery_may_be_seen(
    wake_policy, task, late, held, draw
):
    now = task.wake.at + late
    change = claim(
        wake_policy, task.wake, now=now, draw=draw, before=task.status, not_before=now + held
    )

    watched_after = change.applied_to(task).wake.at - (now + held)
    assert FIRST_WATCH <= watched_after <= FIRST_WATCH + WATCH_SPREAD


@given(wake_policies, waiting_for_dispatch, draws, draws)
def test_of_two_scanners_the_second_loses(wake_policy, task, one, other):
    first = claim(wake_policy, task.wake, now=task.due_at, draw=one, before=task.status)
    second = claim(wake_policy, task.wake, now=task.due_at, draw=other, before=task.status)

    assert not second.expect.holds(first.applied_to(task))


@given(wake_policies, tasks(), draws)
def test_claim_of_one_status_does_not_take_another(wake_policy, task, draw):
    if task.wake is not None:
        change = claim(wake_policy, task.wake, now=task.due_at, draw=draw)

        assert change.expect.holds(task) == (task.status is Status.PENDING)


@given(wake_policies, waiting_for_dispatch, draws)
def test_a_cancelled_task_cannot_be_claimed(wake_policy, task, draw):
    cancelled = cancel(task, now=task.due_at).applied_to(task)
    change = claim(wake_policy, task.wake, now=task.due_at, draw=draw, before=task.status)

    assert not change.expect.holds(cancelled)


def test_a_claim_of_a_moved_wake_loses():
    task = a_task()
    moved = replace(
        task, wake=WAKE_POLICY.wake(WakeKind.DISPATCH, task.id, task.lane, NOW, now=NOW)
    )

    assert not claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw()).expect.holds(moved)


@pytest.mark.parametrize("status", sorted(set(Status) - STATUS_OF_A_CLAIMED.keys()))
def test_nothing_but_a_waiting_task_can_be_claimed(status):
    task = a_task()

    with pytest.raises((KeyError, ValueError)):
        claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw(), before=status)


@given(wake_policies, sent, waits)
def test_a_released_task_waits_for_the_scanner_again(wake_policy, task, wait):
    now = task.due_at + wait
    change = release(wake_policy, delivery_of(task, now), now=now)
    released = change.applied_to(task)

    assert change.expect.holds(task)
    assert released.status is (
        Status.PENDING if task.status is Status.ENQUEUED else Status.RETRYING
    )
    assert (released.token, released.attempt) == (task.token, task.attempt)
    assert released.updated_at == now
    assert released.wake == wake_policy.wake(
        WakeKind.DISPATCH, task.id, task.lane, task.due_at, now=now
    )


@given(wake_policies, sent)
def test_a_delivery_that_was_taken_is_not_released(wake_policy, task):
    delivery = delivery_of(task, task.due_at)
    taken = lease(delivery, now=task.due_at, holder="me").applied_to(task)

    assert not release(wake_policy, delivery, now=task.due_at).expect.holds(taken)


@given(wake_policies, sent, st.sampled_from(["token", "wake"]), tasks(Status.ENQUEUED))
def test_a_delivery_that_is_out_of_date_is_not_released(wake_policy, task, field, other):
    delivery = delivery_of(replace(task, **{field: getattr(other, field)}), task.due_at)
    change = release(wake_policy, delivery, now=task.due_at)

    assert change.expect.holds(task) == (getattr(task, field) == getattr(other, field))


def test_a_released_task_can_be_claimed_with_its_old_token():
    task = a_sent_task()
    released = release(WAKE_POLICY, delivery_of(task, NOW), now=NOW).applied_to(task)

    change = claim(WAKE_POLICY, released.wake, now=NOW + MINUTE, draw=a_draw())

    assert change.expect.holds(released)
    assert change.applied_to(released).token == task.token


@given(
    wake_policies, tasks(Status.PENDING, Status.ENQUEUED, Status.RETRYING, Status.RUNNING), waits
)
def test_a_wake_set_aside_comes_back_later_and_changes_nothing_else(wake_policy, task, wait):
    now = task.wake.at + wait
    change = set_aside(wake_policy, task.wake, now=now)

    assert change.expect.holds(task)
    later = wake_policy.wake(task.wake.kind, task.id, task.lane, now + SET_ASIDE_FOR, now=now)
    assert change.applied_to(task) == replace(task, wake=later)


def test_a_wake_is_set_aside_for_an_hour_unless_it_has_moved():
    task = a_task(spec=a_spec(run_at=NOW + HOUR))
    moved = replace(task, wake=replace(task.wake, at=NOW))

    assert SET_ASIDE_FOR == HOUR
    assert not set_aside(WAKE_POLICY, task.wake, now=NOW).expect.holds(moved)
