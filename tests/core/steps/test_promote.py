from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from duetime.core.delivery import delivery_of
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status, Step
from duetime.core.steps.claim import claim, release
from duetime.core.steps.defer import Deferral, defer
from duetime.core.steps.lease import lease
from duetime.core.steps.promote import promote
from duetime.core.steps.record import Failure, fail
from duetime.core.steps.revive import revive
from duetime.core.steps.watch import check_wake
from duetime.core.task import ORDERING_KEY, Outcome, Promotion, Task, TaskError
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.core.wakes import WakeKind
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_sent_task, a_spec
from tests.strategies import aging_policies, draws, tasks, waits


def a_waiting_task(lane: Lane = Lane.LOW, **fields) -> Task:
    """A task that is due now, in its lane."""
    return a_sent_task(spec=a_spec(run_at=NOW, priority=lane), **fields)


SPREAD = 5 * SECOND  # of an hour, with the draw of one half


def watched(task):
    return replace(task, wake=replace(task.wake, kind=WakeKind.WATCH))


waiting = tasks(Status.ENQUEUED, Status.RETRYING).map(watched)


def verdict_on(task: Task, now: int, *, backed_up: bool = False, policy=WAKE_POLICY):
    return check_wake(policy, task, now=now, draw=a_draw(), backed_up=backed_up)


@pytest.mark.parametrize("backed_up", [False, True])
def test_task_that_has_waited_for_an_hour_is_promoted(backed_up):
    task = a_waiting_task()
    before = verdict_on(task, NOW + HOUR - 11 * SECOND, backed_up=backed_up)
    aged = verdict_on(task, NOW + HOUR, backed_up=backed_up)
    promoted = aged.change.applied_to(task)

    assert before.change.step is Step.WATCH
    assert (aged.change.step, aged.enqueues, aged.reason) == (Step.PROMOTE, True, "aged")
    assert (promoted.lane, promoted.spec.priority) == (Lane.MEDIUM, Lane.LOW)
    assert promoted.promoted == Promotion(lane=Lane.MEDIUM, at=NOW + HOUR)
    assert promoted.wake.lane is delivery_of(promoted, NOW).lane is Lane.MEDIUM
    assert (promoted.status, promoted.due_at) == (task.status, task.due_at)
    assert promoted.token != task.token


def test_promotion_goes_up_one_lane_for_each_hour_and_ends_at_the_top():
    task, now, lanes = a_waiting_task(), NOW, []
    while now < NOW + 5 * HOUR:
        now = task.wake.at
        change = verdict_on(task, now, backed_up=True).change
        task = change.applied_to(task)
        if change.step is Step.PROMOTE:
            lanes.append((now - NOW, task.lane))

    assert lanes == [(HOUR - SPREAD, Lane.MEDIUM), (2 * (HOUR - SPREAD), Lane.HIGH)]


def test_age_of_zero_promotes_nothing():
    policy = replace(WAKE_POLICY, age_after=0)

    assert verdict_on(a_waiting_task(), NOW + 9 * HOUR, policy=policy).change.step is Step.WATCH


@pytest.mark.parametrize(
    "task",
    [
        a_waiting_task(Lane.HIGH),
        replace(a_waiting_task(), held=0),
        replace(a_waiting_task(), held=ORDERING_KEY),
        a_running_task(spec=a_spec(run_at=NOW, priority=Lane.LOW)),
    ],
    ids=["highest lane", "waits for a limit", "waits for its key", "leased"],
)
def test_aging_leaves_alone_what_does_not_wait_for_an_executor(task):
    verdict = verdict_on(task, NOW + 9 * HOUR)

    assert verdict.change.step is not Step.PROMOTE


@given(aging_policies, waiting, waits, draws, st.booleans())
def test_watch_of_a_task_in_its_lane_is_not_later_than_its_promotion(
    wake_policy, task, wait, draw, backed_up
):
    assume(task.lane is not Lane.HIGH)
    assume(not task.expired(task.due_at + wait))
    now, aged_at = task.due_at + wait, task.due_at + wake_policy.age_after
    verdict = check_wake(wake_policy, task, now=now, draw=draw, backed_up=backed_up)
    changed = verdict.change.applied_to(task)

    if wake_policy.is_aged(task.due_at, now):
        assert now >= aged_at - wake_policy.age_after / 10
        assert verdict.change.step is Step.PROMOTE
        assert changed.lane.rank == task.lane.rank - 1
    else:
        assert verdict.change.step is Step.WATCH
        assert now < changed.wake.at <= aged_at


@given(aging_policies, waiting, draws)
def test_lease_and_promotion_exclude_each_other(wake_policy, task, draw):
    assume(task.lane is not Lane.HIGH)
    now = task.due_at + wake_policy.age_after
    promotion = promote(wake_policy, task, now=now, draw=draw)
    start = lease(delivery_of(task, now), now=now, holder="h")
    assume(start.expect.holds(task) and draw.nonce not in task.token)

    assert promotion.expect.holds(task)
    assert not promotion.expect.holds(start.applied_to(task))
    assert not start.expect.holds(promotion.applied_to(task))
    again = promote(wake_policy, task, now=now, draw=replace(draw, nonce=draw.nonce + "x"))
    assert not again.expect.holds(promotion.applied_to(task)), "of two watches one wins"
    assert promotion.already_in(promotion.applied_to(task))
    assert not again.already_in(promotion.applied_to(task))


def test_first_watch_comes_with_a_short_age():
    """Of a new task, of a claimed one, and of one that was just promoted."""
    policy = replace(WAKE_POLICY, age_after=5 * SECOND)
    new = policy.place("t", Lane.LOW, NOW + SECOND, now=NOW, draw=a_draw())
    found = WAKE_POLICY.wake(WakeKind.DISPATCH, "t", Lane.LOW, NOW + SECOND, now=NOW)
    claimed = claim(policy, found, now=NOW, draw=a_draw()).sets["wake"]
    task = a_waiting_task()
    promoted = verdict_on(task, NOW + 5 * SECOND, policy=policy).change.sets["wake"]

    assert new.at == claimed.at == NOW + 6 * SECOND - 250
    assert promoted.at == NOW + 10 * SECOND - 250
    highest = policy.place("t", Lane.HIGH, NOW, now=NOW, draw=a_draw())
    assert highest.at >= NOW + 2 * MINUTE


def test_claim_after_an_outage_gives_the_message_time():
    """Its age has passed already, but it has only just been sent."""
    found = WAKE_POLICY.wake(WakeKind.DISPATCH, "t", Lane.LOW, NOW - 3 * HOUR, now=NOW)
    change = claim(WAKE_POLICY, found, now=NOW, draw=a_draw(), not_before=NOW + 30 * SECOND)

    assert change.sets["wake"].at >= NOW + 30 * SECOND + 2 * MINUTE


def test_release_of_a_promoted_task_keeps_its_lane():
    task = a_waiting_task()
    promoted = verdict_on(task, NOW + HOUR).change.applied_to(task)
    released = release(WAKE_POLICY, delivery_of(promoted, NOW + HOUR), now=NOW + HOUR)

    assert released.expect.holds(promoted)
    assert released.sets["wake"].lane is Lane.MEDIUM
    assert not release(WAKE_POLICY, delivery_of(task, NOW), now=NOW).expect.holds(promoted)


def test_retry_keeps_the_lane_and_a_new_life_or_a_change_returns_to_the_priority():
    promotion = Promotion(lane=Lane.HIGH, at=NOW)
    spec = a_spec(run_at=NOW, priority=Lane.LOW)
    running = replace(a_running_task(spec=spec), promoted=promotion)
    error = Failure(outcome=Outcome.FAILED, error=TaskError(type="E", message="m"))
    retried = fail(WAKE_POLICY, running, error, now=NOW, draw=a_draw()).applied_to(running)
    dead = replace(running, status=Status.DEAD, wake=None)
    revived = revive(WAKE_POLICY, dead, now=NOW, draw=a_draw()).applied_to(dead)
    wanted = Deferral(spec=spec, due_at=NOW)
    waits_again = replace(a_waiting_task(), promoted=promotion)
    changed = defer(WAKE_POLICY, waits_again, wanted, now=NOW, draw=a_draw())

    assert (retried.status, retried.lane, retried.wake.lane) == (
        Status.RETRYING,
        Lane.HIGH,
        Lane.HIGH,
    )
    for task in (revived, changed.applied_to(waits_again)):
        assert (task.lane, task.wake.lane, task.promoted) == (Lane.LOW, Lane.LOW, None)
