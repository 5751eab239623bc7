from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.core import lease
from lambdas.core.delivery import delivery_of
from lambdas.core.lifecycle import FINISHED, Outcome, Status, Step
from lambdas.core.rules import FIRST_WATCH, WATCH_SPREAD
from lambdas.core.steps.cancel import cancel
from lambdas.core.steps.claim import release
from lambdas.core.steps.lease import lease as take_lease
from lambdas.core.steps.lease import renew
from lambdas.core.steps.watch import look, orphan
from lambdas.core.times import HOUR, MINUTE, SECOND
from lambdas.core.wakes import WakeKind, bucket_of, minute_of, shard_of
from tests.factories import NOW, RULES, a_draw, a_running_task, a_sent_task, a_spec
from tests.strategies import ALIVE, draws, rules, tasks, waits

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
def looks(draw, found):
    """A task and a moment at or after its wake."""
    task = draw(found)
    return task, task.wake.at + draw(waits)


@given(rules, tasks(*FINISHED, Status.WAITING), draws, st.booleans())
def test_a_task_without_a_wake_is_left_alone(r, task, draw, backed_up):
    assert look(r, task, now=task.updated_at, draw=draw, backed_up=backed_up) is None


@given(rules, looks(tasks(*ALIVE - {Status.WAITING})), draws, st.booleans())
def test_every_look_takes_the_task_further_and_leaves_a_later_wake_or_an_end(
    r, seen, draw, backed_up
):
    task, now = seen
    change = look(r, task, now=now, draw=draw, backed_up=backed_up).change
    changed = change.applied_to(task)

    assert change.expect.holds(task)
    assert changed.attempt == task.attempt
    if changed.status.finished:
        assert changed.wake is None
    else:
        assert changed.wake.at > now
        assert changed.wake.key != task.wake.key


@given(rules, looks(tasks(*ALIVE - {Status.WAITING})), draws, st.booleans())
def test_a_look_at_what_has_changed_meanwhile_does_nothing(r, seen, draw, backed_up):
    task, now = seen
    change = look(r, task, now=now, draw=draw, backed_up=backed_up).change

    assert not change.expect.holds(change.applied_to(task))
    if task.status is not Status.RUNNING:
        assert not change.expect.holds(cancel(task, now=now).applied_to(task))


@given(rules, looks(dispatchable), draws, st.booleans())
def test_what_is_due_is_claimed_and_sent(r, seen, draw, backed_up):
    task, now = seen
    verdict = look(r, task, now=now, draw=draw, backed_up=backed_up)

    assert (verdict.change.step, verdict.sends) == (Step.CLAIM, True)


@given(rules, looks(tasks(Status.PENDING, Status.ENQUEUED)), draws, st.booleans())
def test_what_expired_before_its_start_is_ended_and_not_sent(r, seen, draw, backed_up):
    task, now = seen
    late = replace(task, spec=replace(task.spec, expires_at=now))
    verdict = look(r, late, now=now, draw=draw, backed_up=backed_up)

    assert (verdict.change.step, verdict.sends) == (Step.EXPIRE, False)
    assert verdict.change.applied_to(late).status is Status.EXPIRED


@given(rules, looks(tasks(Status.RETRYING)), draws, st.booleans())
def test_a_retry_of_what_was_to_be_cancelled_while_it_ran_is_ended_and_not_sent(
    r, seen, draw, backed_up
):
    task, now = seen
    asked = replace(task, cancel_requested=True)
    verdict = look(r, asked, now=now, draw=draw, backed_up=backed_up)

    assert (verdict.change.step, verdict.sends) == (Step.CANCEL, False)
    assert verdict.change.expect.holds(asked)
    assert verdict.change.applied_to(asked).status is Status.CANCELLED


@given(rules, looks(sent), draws)
def test_a_message_that_was_not_taken_is_sent_again_under_the_same_token(r, seen, draw):
    task, now = seen
    verdict = look(r, task, now=now, draw=draw, backed_up=False)
    changed = verdict.change.applied_to(task)

    assert (verdict.change.step, verdict.sends) == (Step.WATCH, True)
    wait = min(15 * MINUTE * 2**task.sends, 6 * HOUR)
    watch = r.wake(WakeKind.WATCH, task.id, task.lane, now + wait, now=now)
    assert changed == replace(task, wake=watch, sends=task.sends + 1, skips=0)


def test_a_message_nobody_takes_is_sent_ever_more_seldom():
    task, now, waited = a_sent_task(), NOW + 5 * MINUTE, []
    for _ in range(8):
        task = look(RULES, task, now=now, draw=a_draw(), backed_up=False).change.applied_to(task)
        waited.append((task.wake.at - now) // MINUTE)
        now = task.wake.at

    assert waited == [15, 30, 60, 120, 240, 360, 360, 360]


@given(rules, looks(sent), draws)
def test_a_backed_up_lane_gets_no_second_copy_at_first(r, seen, draw):
    task, now = seen
    verdict = look(r, task, now=now, draw=draw, backed_up=True)
    changed = verdict.change.applied_to(task)

    assert verdict.sends == (task.skips >= 3)
    if not verdict.sends:
        assert changed.wake.at == now + FIRST_WATCH + round(WATCH_SPREAD * draw.spread)
        assert changed == replace(task, wake=changed.wake, skips=task.skips + 1)


def test_a_backed_up_lane_is_skipped_three_times_running():
    task, now, sends = a_sent_task(), NOW + 5 * MINUTE, []
    for _ in range(9):
        verdict = look(RULES, task, now=now, draw=a_draw(), backed_up=True)
        task = verdict.change.applied_to(task)
        sends.append(verdict.sends)
        now = task.wake.at

    assert sends == [False, False, False, True] * 2 + [False]


@given(rules, looks(running), draws, st.booleans())
def test_a_living_lease_only_moves_the_watch(r, seen, draw, backed_up):
    task, now = seen
    alive = replace(task, lease_until=now - lease.GRACE)
    verdict = look(r, alive, now=now, draw=draw, backed_up=backed_up)
    changed = verdict.change.applied_to(alive)

    watch_at = alive.lease_until + 60 * SECOND
    assert not verdict.sends
    assert changed == replace(
        alive, wake=r.wake(WakeKind.WATCH, task.id, task.lane, watch_at, now=now)
    )


@given(rules, looks(running), waits, draws, st.booleans())
def test_a_lease_that_has_run_out_ends_the_attempt(r, seen, wait, draw, backed_up):
    task, now = seen
    dead = replace(task, lease_until=now - lease.GRACE - 1 - wait)
    verdict = look(r, dead, now=now, draw=draw, backed_up=backed_up)
    changed = verdict.change.applied_to(dead)

    if task.cancel_requested:
        assert changed.status is Status.CANCELLED
    elif task.attempt == task.budget:
        assert changed.status is Status.DEAD
    else:
        assert changed.status is Status.RETRYING
        assert changed.current.outcome is Outcome.LEASE_EXPIRED
    near = changed.status is Status.RETRYING and changed.due_at - now <= r.horizon
    assert verdict.sends == near


@given(rules, looks(running), draws)
def test_a_renewal_wins_over_a_look(r, seen, draw):
    task, now = seen
    change = look(r, task, now=now, draw=draw, backed_up=False).change
    renewed = renew(task, now=task.lease_until + 1).applied_to(task)

    assert not change.expect.holds(renewed)


@given(rules, looks(sent), draws, st.booleans())
def test_a_lease_wins_over_a_look(r, seen, draw, backed_up):
    task, now = seen
    change = look(r, task, now=now, draw=draw, backed_up=backed_up).change
    leased = take_lease(delivery_of(task, now), now=now, holder="me").applied_to(task)

    assert not change.expect.holds(leased)


@given(rules, tasks(), waits)
def test_after_a_restart_only_what_was_sent_or_running_is_touched(r, task, wait):
    change = orphan(r, task, now=task.updated_at + wait)

    watched = task.wake is not None and task.wake.kind is WakeKind.WATCH
    assert (change is not None) == watched


@given(rules, sent, waits)
def test_after_a_restart_every_delivery_is_made_again(r, task, wait):
    now = task.due_at + wait

    change = orphan(r, task, now=now)

    assert change == release(r, delivery_of(task, now), now=now)
    assert change.expect.holds(task)


@given(rules, running, waits, draws)
def test_after_a_restart_no_holder_lives(r, task, wait, draw):
    now = task.updated_at + wait

    change = orphan(r, task, now=now)
    orphaned = change.applied_to(task)

    assert change.expect.holds(task)
    assert lease.run_out(orphaned.lease_until, now)
    assert (orphaned.wake.kind, orphaned.wake.at) == (WakeKind.WATCH, now)
    assert orphaned.wake.bucket == bucket_of(minute_of(now), shard_of(task.id, r.shards))
    verdict = look(r, orphaned, now=now, draw=draw, backed_up=False)
    assert verdict.change.applied_to(orphaned).status is not Status.RUNNING


@pytest.mark.parametrize("moved", ["wake", "lease_until"])
def test_after_a_restart_what_has_moved_on_is_left_alone(moved):
    task = a_running_task(spec=a_spec(run_at=NOW))
    other = a_running_task(spec=a_spec(run_at=NOW + SECOND))
    stored = replace(task, **{moved: getattr(other, moved)})

    assert not orphan(RULES, task, now=NOW).expect.holds(stored)
