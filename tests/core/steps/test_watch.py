from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.delivery import delivery_of
from duetime.core.lifecycle import FINISHED, Outcome, Status, Step
from duetime.core.steps import lease
from duetime.core.steps.cancel import cancel
from duetime.core.steps.claim import release
from duetime.core.steps.lease import lease as take_lease
from duetime.core.steps.lease import renew
from duetime.core.steps.watch import check_wake, recover_orphan
from duetime.core.times import CLOCK_SKEW, HOUR, MINUTE, SECOND
from duetime.core.wake_policy import FIRST_WATCH, WATCH_SPREAD
from duetime.core.wakes import WakeKind, bucket_of, minute_of, shard_of
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_sent_task, a_spec
from tests.strategies import ALIVE, any_policies, draws, tasks, waits, wake_policies

NO_AGING = replace(WAKE_POLICY, age_after=0)
WATCHED = (Status.ENQUEUED, Status.RETRYING, Status.RUNNING)


def watched(task):
    return replace(task, wake=replace(task.wake, kind=WakeKind.WATCH))


def unexpiring(task):
    return replace(task, spec=replace(task.spec, expires_at=None))


sent = tasks(Status.ENQUEUED, Status.RETRYING).map(watched).map(unexpiring)
dispatchable = tasks(Status.PENDING, Status.RETRYING).map(
    lambda task: unexpiring(replace(task, wake=replace(task.wake, kind=WakeKind.DISPATCH)))
)
running = tasks(Status.RUNNING)


@st.composite
def due_wakes(draw, found):
    """A task, and a moment at or after its wake."""
    task = draw(found)
    return task, task.wake.at + draw(waits)


@given(wake_policies, tasks(*FINISHED, Status.WAITING), draws, st.booleans())
def test_a_task_without_a_wake_is_left_alone(wake_policy, task, draw, backed_up):
    assert (
        check_wake(wake_policy, task, now=task.updated_at, draw=draw, backed_up=backed_up) is None
    )


@given(any_policies, due_wakes(tasks(*ALIVE - {Status.WAITING})), draws, st.booleans())
def test_every_verdict_moves_the_task_forward_and_leaves_a_later_wake_or_an_end(
    wake_policy, seen, draw, backed_up
):
    task, now = seen
    change = check_wake(wake_policy, task, now=now, draw=draw, backed_up=backed_up).change
    changed = change.applied_to(task)

    assert change.expect.holds(task)
    assert changed.attempt == task.attempt
    if changed.status.finished:
        assert changed.wake is None
    else:
        assert changed.wake.at > now
        assert changed.wake.key != task.wake.key


@given(any_policies, due_wakes(tasks(*ALIVE - {Status.WAITING})), draws, st.booleans())
def test_verdict_on_a_task_that_has_changed_since_is_refused(wake_policy, seen, draw, backed_up):
    task, now = seen
    change = check_wake(wake_policy, task, now=now, draw=draw, backed_up=backed_up).change

    assert not change.expect.holds(change.applied_to(task))
    if task.status is not Status.RUNNING:
        assert not change.expect.holds(cancel(task, now=now).applied_to(task))


@given(wake_policies, due_wakes(dispatchable), draws, st.booleans())
def test_due_task_is_claimed_and_enqueued(wake_policy, seen, draw, backed_up):
    task, now = seen
    verdict = check_wake(wake_policy, task, now=now, draw=draw, backed_up=backed_up)

    assert (verdict.change.step, verdict.enqueues) == (Step.CLAIM, True)


@given(wake_policies, due_wakes(tasks(Status.PENDING, Status.ENQUEUED)), draws, st.booleans())
def test_task_that_expired_before_its_start_is_ended_and_not_enqueued(
    wake_policy, seen, draw, backed_up
):
    task, now = seen
    late = replace(task, spec=replace(task.spec, expires_at=now))
    verdict = check_wake(wake_policy, late, now=now, draw=draw, backed_up=backed_up)

    assert (verdict.change.step, verdict.enqueues) == (Step.EXPIRE, False)
    assert verdict.change.applied_to(late).status is Status.EXPIRED


@given(wake_policies, due_wakes(tasks(Status.RETRYING)), draws, st.booleans())
def test_retry_with_a_cancel_request_is_ended_and_not_enqueued(wake_policy, seen, draw, backed_up):
    task, now = seen
    asked = replace(task, cancel_requested=True)
    verdict = check_wake(wake_policy, asked, now=now, draw=draw, backed_up=backed_up)

    assert (verdict.change.step, verdict.enqueues) == (Step.CANCEL, False)
    assert verdict.change.expect.holds(asked)
    assert verdict.change.applied_to(asked).status is Status.CANCELLED


@given(wake_policies, due_wakes(sent), draws)
def test_a_message_that_was_not_taken_is_sent_again_under_the_same_token(wake_policy, seen, draw):
    task, now = seen
    verdict = check_wake(wake_policy, task, now=now, draw=draw, backed_up=False)
    changed = verdict.change.applied_to(task)

    assert (verdict.change.step, verdict.enqueues) == (Step.WATCH, True)
    wait = min(15 * MINUTE * 2**task.resends, 6 * HOUR)
    watch = wake_policy.wake(WakeKind.WATCH, task.id, task.lane, now + wait, now=now)
    assert changed == replace(task, wake=watch, sends=task.resends + 1, skips=0)


def test_message_that_is_not_taken_is_sent_again_at_growing_intervals():
    task, now, waited = a_sent_task(), NOW + 5 * MINUTE, []
    for _ in range(8):
        task = check_wake(
            NO_AGING, task, now=now, draw=a_draw(), backed_up=False
        ).change.applied_to(task)
        waited.append((task.wake.at - now) // MINUTE)
        now = task.wake.at

    assert waited == [15, 30, 60, 120, 240, 360, 360, 360]


@given(wake_policies, due_wakes(sent), draws)
def test_a_backed_up_lane_gets_no_second_copy_at_first(wake_policy, seen, draw):
    task, now = seen
    verdict = check_wake(wake_policy, task, now=now, draw=draw, backed_up=True)
    changed = verdict.change.applied_to(task)

    assert verdict.enqueues == (task.skips >= 3)
    if not verdict.enqueues:
        assert changed.wake.at == now + FIRST_WATCH + round(WATCH_SPREAD * draw.spread)
        assert changed == replace(task, wake=changed.wake, skips=task.skips + 1)


def test_a_backed_up_lane_is_skipped_three_times_running():
    task, now, sends = a_sent_task(), NOW + 5 * MINUTE, []
    for _ in range(9):
        verdict = check_wake(NO_AGING, task, now=now, draw=a_draw(), backed_up=True)
        task = verdict.change.applied_to(task)
        sends.append(verdict.enqueues)
        now = task.wake.at

    assert sends == [False, False, False, True] * 2 + [False]


@given(wake_policies, due_wakes(running), draws, st.booleans())
def test_a_living_lease_only_moves_the_watch(wake_policy, seen, draw, backed_up):
    task, now = seen
    alive = replace(task, lease_until=now - CLOCK_SKEW)
    verdict = check_wake(wake_policy, alive, now=now, draw=draw, backed_up=backed_up)
    changed = verdict.change.applied_to(alive)

    watch_at = alive.lease_until + 60 * SECOND
    assert not verdict.enqueues
    assert changed == replace(
        alive, wake=wake_policy.wake(WakeKind.WATCH, task.id, task.lane, watch_at, now=now)
    )


@given(wake_policies, due_wakes(running), waits, draws, st.booleans())
def test_a_lease_that_has_run_out_ends_the_attempt(wake_policy, seen, wait, draw, backed_up):
    task, now = seen
    dead = replace(task, lease_until=now - CLOCK_SKEW - 1 - wait)
    verdict = check_wake(wake_policy, dead, now=now, draw=draw, backed_up=backed_up)
    changed = verdict.change.applied_to(dead)

    if task.cancel_requested:
        assert changed.status is Status.CANCELLED
    elif task.attempt == task.budget:
        assert changed.status is Status.DEAD
    else:
        assert changed.status is Status.RETRYING
        assert changed.current.outcome is Outcome.LEASE_EXPIRED
    near = changed.status is Status.RETRYING and changed.due_at - now <= wake_policy.horizon
    assert verdict.enqueues == near


@given(wake_policies, due_wakes(running), draws)
def test_renewal_wins_over_a_verdict(wake_policy, seen, draw):
    task, now = seen
    change = check_wake(wake_policy, task, now=now, draw=draw, backed_up=False).change
    renewed = renew(task, now=task.lease_until + 1).applied_to(task)

    assert not change.expect.holds(renewed)


@given(any_policies, due_wakes(sent), draws, st.booleans())
def test_lease_wins_over_a_verdict(wake_policy, seen, draw, backed_up):
    task, now = seen
    change = check_wake(wake_policy, task, now=now, draw=draw, backed_up=backed_up).change
    leased = take_lease(delivery_of(task, now), now=now, holder="me").applied_to(task)

    assert not change.expect.holds(leased)


@given(wake_policies, tasks(), waits)
def test_after_a_restart_only_sent_and_running_tasks_are_recovered(wake_policy, task, wait):
    change = recover_orphan(wake_policy, task, now=task.updated_at + wait)

    watched = task.wake is not None and task.wake.kind is WakeKind.WATCH
    assert (change is not None) == watched


@given(wake_policies, sent, waits)
def test_after_a_restart_every_delivery_is_sent_again(wake_policy, task, wait):
    now = task.due_at + wait

    change = recover_orphan(wake_policy, task, now=now)

    assert change == release(wake_policy, delivery_of(task, now), now=now)
    assert change.expect.holds(task)


@given(wake_policies, running, waits, draws)
def test_after_a_restart_every_lease_has_run_out(wake_policy, task, wait, draw):
    now = task.updated_at + wait

    change = recover_orphan(wake_policy, task, now=now)
    orphaned = change.applied_to(task)

    assert change.expect.holds(task)
    assert lease.run_out(orphaned.lease_until, now)
    assert (orphaned.wake.kind, orphaned.wake.at) == (WakeKind.WATCH, now)
    assert orphaned.wake.bucket == bucket_of(minute_of(now), shard_of(task.id, wake_policy.shards))
    verdict = check_wake(wake_policy, orphaned, now=now, draw=draw, backed_up=False)
    assert verdict.change.applied_to(orphaned).status is not Status.RUNNING


@pytest.mark.parametrize("moved", ["wake", "lease_until"])
def test_after_a_restart_a_task_that_has_changed_since_is_left_alone(moved):
    task = a_running_task(spec=a_spec(run_at=NOW))
    other = a_running_task(spec=a_spec(run_at=NOW + SECOND))
    stored = replace(task, **{moved: getattr(other, moved)})

    assert not recover_orphan(WAKE_POLICY, task, now=NOW).expect.holds(stored)
