from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.codec import to_json
from duetime.core.delivery import delivery_of, new_token
from duetime.core.lifecycle import FINISHED, Outcome, Status, Step
from duetime.core.retry import RetryPolicy
from duetime.core.steps.lease import lease, renew
from duetime.core.steps.record import (
    INTERRUPTED,
    MAX_ATTEMPTS,
    Failure,
    fail,
    lease_expired,
    leaves_delivery,
    started,
    succeed,
)
from duetime.core.task import Progress, TaskError
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from duetime.core.wakes import WakeKind
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_sent_task, a_spec, a_task
from tests.strategies import draws, failures, json_values, others, tasks, waits, wake_policies

running = tasks(Status.RUNNING)
ERROR = TaskError(type="HTTPError", message="503")


def a_failure(**overrides):
    return Failure(**{"outcome": Outcome.FAILED, "error": ERROR} | overrides)


@given(running, st.none() | json_values.map(to_json), waits)
def test_success_ends_the_attempt_and_the_task(task, result, wait):
    now = task.updated_at + wait
    change = succeed(task, result=result, now=now)
    ended = change.applied_to(task)

    assert change.expect.holds(task)
    assert (ended.status, ended.result) == (Status.SUCCEEDED, result)
    assert ended.current == replace(task.current, outcome=Outcome.SUCCEEDED, finished_at=now)
    assert (ended.wake, ended.lease_until, ended.finished_at) == (None, None, now)
    assert (ended.attempt, ended.holder) == (task.attempt, task.holder)


@given(wake_policies, running, failures, waits, draws, st.booleans())
def test_a_failure_stops_buries_or_retries(wake_policy, task, failure, wait, draw, cancelled):
    change = fail(
        wake_policy, task, failure, now=task.updated_at + wait, draw=draw, cancelled=cancelled
    )

    if cancelled:
        expected = (Step.STOP, Status.CANCELLED)
    elif failure.permanent or task.attempt == task.budget:
        expected = (Step.BURY, Status.DEAD)
    else:
        expected = (Step.RETRY, Status.RETRYING)
    assert (change.step, change.sets["status"]) == expected


@given(wake_policies, running, failures, waits, draws, st.booleans())
def test_a_failure_ends_the_attempt_with_its_error(
    wake_policy, task, failure, wait, draw, cancelled
):
    now = task.updated_at + wait
    change = fail(wake_policy, task, failure, now=now, draw=draw, cancelled=cancelled)
    ended = change.applied_to(task)

    assert change.expect.holds(task)
    assert ended.current == replace(
        task.current,
        outcome=Outcome.CANCELLED if cancelled else failure.outcome,
        error=failure.error,
        finished_at=now,
    )
    assert ended.previous == task.previous
    assert (ended.attempt, ended.holder, ended.lease_until) == (task.attempt, task.holder, None)
    assert (ended.wake is None) == ended.status.finished
    assert ended.status.finished == (ended.status in FINISHED)


@given(wake_policies, running, failures, waits, draws)
def test_a_retry_is_never_due_before_its_backoff_or_what_the_target_asked(
    wake_policy, task, failure, wait, draw
):
    now = task.updated_at + wait
    change = fail(wake_policy, task, failure, now=now, draw=draw)
    if change.step is Step.RETRY:
        retried = change.applied_to(task)
        policy = task.spec.retry
        failed = task.attempt - (task.budget - policy.max_attempts)

        asked = min(failure.retry_after or 0, DAY)
        waited = retried.due_at - now
        assert waited >= max(policy.delay(failed, 0.0), asked)
        assert waited <= max(policy.delay(failed, 1.0), asked)


@given(wake_policies, running, failures, waits, draws)
def test_a_retry_has_a_new_token_and_a_fresh_watch(wake_policy, task, failure, wait, draw):
    now = task.updated_at + wait
    change = fail(wake_policy, task, failure, now=now, draw=draw)
    if change.step is Step.RETRY:
        retried = change.applied_to(task)

        assert retried.token == f"{retried.due_at:013d}-{draw.nonce}"
        assert delivery_of(retried, now).due_at == retried.due_at
        assert retried.wake == wake_policy.place(
            task.id, task.lane, retried.due_at, now=now, draw=draw
        )
        assert (retried.resends, retried.skips) == (0, 0)
        assert retried.updated_at == now


@given(wake_policies, running, failures, waits, draws)
def test_a_delivery_goes_out_exactly_when_the_retry_is_near(wake_policy, task, failure, wait, draw):
    now = task.updated_at + wait
    change = fail(wake_policy, task, failure, now=now, draw=draw)

    near = change.step is Step.RETRY and change.sets["due_at"] - now <= wake_policy.horizon
    assert leaves_delivery(change) == near


def test_five_attempts_back_off_and_then_the_task_is_dead():
    task = a_task(spec=a_spec(run_at=NOW))
    now, waited = NOW, []
    for number in range(1, 6):
        task = lease(delivery_of(task, now), now=now, holder=f"h{number}").applied_to(task)
        task = fail(WAKE_POLICY, task, a_failure(), now=now, draw=a_draw()).applied_to(task)
        waited.append(task.due_at - now)
        now = task.due_at

    assert task.status is Status.DEAD
    assert waited[:4] == [1 * SECOND, 2 * SECOND, 4 * SECOND, 8 * SECOND]
    assert (task.attempt, task.current.number, task.previous.number) == (5, 5, 4)


def test_a_revived_task_backs_off_from_the_beginning():
    task = a_running_task(attempt=6, budget=10)  # five used up, five more after a revival

    change = fail(WAKE_POLICY, task, a_failure(), now=NOW, draw=a_draw())

    assert change.sets["due_at"] == NOW + 1 * SECOND


def test_without_a_delay_the_next_attempt_is_due_at_once():
    at_once = RetryPolicy(base_delay=0.0, jitter=0.0)
    task = a_running_task(spec=a_spec(run_at=NOW, retry=at_once))

    change = fail(WAKE_POLICY, task, a_failure(), now=NOW, draw=a_draw())

    assert change.sets["due_at"] == NOW


@pytest.mark.parametrize(
    ("asked", "waited"),
    [(None, SECOND), (-HOUR, SECOND), (HOUR, HOUR), (DAY, DAY), (DAY + 1, DAY), (10**18, DAY)],
)
def test_target_can_ask_for_a_delay_of_at_most_a_day(asked, waited):
    change = fail(
        WAKE_POLICY, a_running_task(), a_failure(retry_after=asked), now=NOW, draw=a_draw()
    )

    assert change.sets["due_at"] == NOW + waited


def test_a_retry_beyond_the_horizon_waits_for_the_scanner():
    slow = RetryPolicy(base_delay=3600.0)
    task = a_running_task(spec=a_spec(run_at=NOW, retry=slow))

    change = fail(WAKE_POLICY, task, a_failure(), now=NOW, draw=a_draw())

    assert change.sets["wake"].kind is WakeKind.DISPATCH
    assert change.sets["due_at"] == change.sets["wake"].at == NOW + HOUR
    assert not leaves_delivery(change)


@given(wake_policies, running, failures, draws, st.data())
def test_only_the_holder_of_this_attempt_records(wake_policy, task, failure, draw, data):
    stored = data.draw(others(task))
    now = task.updated_at
    outcomes = [
        succeed(task, result=None, now=now),
        fail(wake_policy, task, failure, now=now, draw=draw, cancelled=data.draw(st.booleans())),
        lease_expired(wake_policy, task, now=now, draw=draw),
    ]
    ours = (stored.status, stored.holder, stored.attempt) == (
        Status.RUNNING,
        task.holder,
        task.attempt,
    )

    for outcome in outcomes:
        assert outcome.expect.holds(stored) == ours


@given(wake_policies, running, failures, draws)
def test_an_outcome_is_recorded_once(wake_policy, task, failure, draw):
    now = task.updated_at
    success = succeed(task, result=None, now=now)
    failed = fail(wake_policy, task, failure, now=now, draw=draw)

    assert not failed.expect.holds(success.applied_to(task))
    assert not success.expect.holds(failed.applied_to(task))


@given(wake_policies, running, waits, draws)
def test_attempt_of_a_dead_executor_ends_with_lease_expired(wake_policy, task, wait, draw):
    now = task.lease_until + 5 * SECOND + 1 + wait
    change = lease_expired(wake_policy, task, now=now, draw=draw)
    ended = change.applied_to(task)

    assert change.expect.holds(task)
    if task.cancel_requested:
        assert (ended.status, ended.current.outcome) == (Status.CANCELLED, Outcome.CANCELLED)
    else:
        left = task.attempt < task.budget
        assert ended.status is (Status.RETRYING if left else Status.DEAD)
        assert ended.current.outcome is Outcome.LEASE_EXPIRED
    assert ended.current.error.type == "LeaseExpired"


@given(wake_policies, running, waits, draws)
def test_an_executor_that_renews_first_keeps_its_attempt(wake_policy, task, wait, draw):
    now = task.lease_until + 5 * SECOND + 1 + wait
    renewed = renew(task, now=now).applied_to(task)

    assert not lease_expired(wake_policy, task, now=now, draw=draw).expect.holds(renewed)


@given(wake_policies, running, waits, draws)
def test_an_executor_that_comes_back_too_late_is_refused(wake_policy, task, wait, draw):
    now = task.lease_until + 5 * SECOND + 1 + wait
    taken = lease_expired(wake_policy, task, now=now, draw=draw).applied_to(task)

    assert not succeed(task, result="late", now=now).expect.holds(taken)
    assert not renew(task, now=now).expect.holds(taken)


def test_task_that_never_started_has_no_outcome():
    with pytest.raises(ValueError, match="no attempt"):
        succeed(a_sent_task(), result=None, now=NOW)


def test_the_next_attempt_begins_without_the_progress_of_this_one():
    task = a_running_task(progress=Progress(fraction=0.9, message="nearly"))

    change = fail(WAKE_POLICY, task, a_failure(), now=NOW, draw=a_draw())

    assert change.applied_to(task).progress is None


def a_snooze(**overrides):
    return a_failure(outcome=Outcome.SNOOZED, delay=30 * SECOND, **overrides)


@given(wake_policies, running, waits, draws)
def test_a_snooze_uses_up_no_attempt_and_lasts_as_long_as_was_asked(wake_policy, task, wait, draw):
    now = task.updated_at + wait
    change = fail(wake_policy, task, a_snooze(), now=now, draw=draw)
    snoozed = change.applied_to(task)

    assert (change.step, snoozed.status) == (Step.RETRY, Status.RETRYING)
    assert snoozed.budget - snoozed.attempt == task.budget - task.attempt + 1
    assert snoozed.due_at == now + 30 * SECOND
    assert snoozed.current.outcome is Outcome.SNOOZED


@given(wake_policies, running, waits, draws)
def test_even_the_last_attempt_can_be_snoozed(wake_policy, task, wait, draw):
    last = replace(task, attempt=task.budget)

    assert (
        fail(wake_policy, last, a_snooze(), now=task.updated_at + wait, draw=draw).step
        is Step.RETRY
    )


@given(wake_policies, running, waits, draws)
def test_an_interrupted_attempt_is_not_used_up_and_the_next_one_is_due_at_once(
    wake_policy, task, wait, draw
):
    now = task.updated_at + wait
    last = replace(task, attempt=task.budget)
    change = fail(wake_policy, last, INTERRUPTED, now=now, draw=draw)
    after = change.applied_to(last)

    assert (after.status, after.due_at) == (Status.RETRYING, now)
    assert after.budget - after.attempt == 1
    assert after.token == new_token(now, draw.nonce)
    assert after.current.outcome is Outcome.INTERRUPTED


def test_interruptions_are_limited():
    task = a_running_task(attempt=MAX_ATTEMPTS, budget=MAX_ATTEMPTS)

    assert fail(WAKE_POLICY, task, INTERRUPTED, now=NOW, draw=a_draw()).step is Step.BURY


def test_a_failure_after_snoozes_is_as_if_there_had_been_none():
    task = a_running_task()
    for _ in range(3):
        snoozed = fail(WAKE_POLICY, task, a_snooze(), now=NOW, draw=a_draw()).applied_to(task)
        task = lease(delivery_of(snoozed, NOW), now=snoozed.due_at, holder="me").applied_to(snoozed)
    failed = fail(WAKE_POLICY, task, a_failure(), now=NOW, draw=a_draw(luck=0.0))

    assert failed.sets["due_at"] == NOW + SECOND
    assert "budget" not in failed.sets


def test_snoozes_are_limited():
    task = a_running_task(attempt=MAX_ATTEMPTS, budget=MAX_ATTEMPTS)

    assert fail(WAKE_POLICY, task, a_snooze(), now=NOW, draw=a_draw()).step is Step.BURY


def test_cancel_request_wins_over_a_snooze():
    change = fail(WAKE_POLICY, a_running_task(), a_snooze(), now=NOW, draw=a_draw(), cancelled=True)

    assert change.step is Step.STOP


@given(wake_policies, running, waits, draws, st.integers(0, 30 * DAY))
def test_retry_later_sets_the_delay_and_uses_up_an_attempt(wake_policy, task, wait, draw, delay):
    now = task.updated_at + wait
    change = fail(wake_policy, task, a_failure(delay=delay), now=now, draw=draw)

    if task.attempt == task.budget:
        assert change.step is Step.BURY
    else:
        assert change.sets["due_at"] == now + delay
        assert "budget" not in change.sets


@pytest.mark.parametrize("now", [NOW + 7, NOW + 6, NOW - MINUTE])
def test_no_attempt_starts_after_its_end_although_two_clocks_measure_it(now: int):
    task = a_running_task()
    attempt = started(task, after=7, now=now)

    ended = succeed(task, result=None, now=now, attempt=attempt).applied_to(task).current

    assert ended.started_at <= ended.finished_at
