from dataclasses import fields, replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from duetime.core.change import Change, Expect
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.steps.cancel import cancel, request_cancel
from duetime.core.steps.lease import renew
from duetime.core.steps.record import succeed
from duetime.core.task import Task
from duetime.core.times import MINUTE
from tests.factories import NOW, a_running_task, a_sent_task, a_spec, a_task
from tests.strategies import moments, tasks

ANY_STATUS = frozenset(Status)


def asks_nothing_but(**asked):
    return Expect(statuses=ANY_STATUS, **asked)


@pytest.mark.parametrize("step", Step)
@pytest.mark.parametrize("status", Status)
def test_a_change_starts_only_where_the_table_lets_its_step_start(step, status):
    def change():
        return Change(step=step, task_id="t", expect=Expect(statuses=frozenset({status})), sets={})

    if status in sources(step):
        assert change().step is step
    else:
        with pytest.raises(ValueError, match=step.value):
            change()


@pytest.mark.parametrize("step", Step)
def test_change_with_a_status_outside_the_table_is_refused(step):
    with pytest.raises(ValueError, match=step.value):
        Change(step=step, task_id="t", expect=Expect(statuses=ANY_STATUS), sets={})


@given(tasks())
def test_expectation_of_a_tasks_own_values_holds(task):
    assert Expect(
        statuses=frozenset({task.status}),
        token=task.token,
        wake=task.wake,
        holder=task.holder,
        attempt=task.attempt,
        lease_until=task.lease_until,
    ).holds(task)


@given(tasks())
def test_empty_expectation_holds_for_every_task(task):
    assert asks_nothing_but().holds(task)


@given(tasks(), st.frozensets(st.sampled_from(Status)))
def test_the_status_must_be_among_those_expected(task, statuses):
    assert Expect(statuses=statuses).holds(task) == (task.status in statuses)


@given(tasks(), tasks(), st.sampled_from(["token", "wake", "holder", "attempt", "lease_until"]))
def test_each_expected_value_must_be_found(task, other, field):
    value = getattr(other, field)
    assume(value is not None)

    assert asks_nothing_but(**{field: value}).holds(task) == (getattr(task, field) == value)


@given(tasks(Status.RUNNING), st.integers(1, 100))
def test_attempt_zero_is_an_expectation_too(task, attempt):
    assert not asks_nothing_but(attempt=0).holds(replace(task, attempt=attempt))
    assert asks_nothing_but(attempt=0).holds(replace(task, attempt=0))


@given(tasks(), moments)
def test_only_a_task_that_never_started_can_be_expired(task, now):
    expires_at = task.spec.expires_at
    too_late = task.attempt == 0 and expires_at is not None and expires_at <= now

    assert asks_nothing_but(unexpired_at=now).holds(task) == (not too_late)


@given(tasks(), tasks(Status.RUNNING))
def test_a_change_sets_what_it_names_and_nothing_else(task, other):
    sets = {"status": other.status, "holder": other.holder, "lease_until": other.lease_until}
    change = Change(
        step=Step.LEASE, task_id=task.id, expect=Expect(statuses=sources(Step.LEASE)), sets=sets
    )

    changed = change.applied_to(task)

    for field in fields(Task):
        expected = sets.get(field.name, getattr(task, field.name))
        assert getattr(changed, field.name) == expected


@given(tasks(Status.RETRYING), tasks(Status.RUNNING))
def test_a_kept_attempt_becomes_the_previous_one(task, other):
    change = Change(
        step=Step.LEASE,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.LEASE)),
        sets={"current": other.current},
        keeps_attempt=True,
    )

    changed = change.applied_to(task)

    assert changed.previous == task.current
    assert changed.current == other.current


@given(tasks(*sources(Step.CANCEL)), moments)
def test_change_is_already_in_the_task_that_it_changed(task, now):
    change = cancel(task, now=now)

    assert not change.already_in(task)
    assert change.already_in(change.applied_to(task))


def test_change_is_already_in_a_task_that_was_updated_since():
    task = a_running_task()
    renewal = renew(task, now=NOW + 20_000)
    renewed = renewal.applied_to(task)

    asked_since = request_cancel(task.id, now=NOW + 21_000).applied_to(renewed)

    assert renewal.already_in(asked_since)


def test_change_is_not_in_a_task_where_another_holder_wrote_the_same_values():
    stale = a_running_task()
    renewal = renew(stale, now=NOW + MINUTE)
    held_by_another = replace(stale, holder="you", attempt=2)

    same_instant = renew(held_by_another, now=NOW + MINUTE).applied_to(held_by_another)

    assert not renewal.already_in(same_instant)


def test_cancel_request_is_not_in_a_task_that_has_ended():
    running = a_running_task()
    request = request_cancel(running.id, now=NOW)
    asked = request.applied_to(running)

    ended = succeed(asked, result=None, now=NOW).applied_to(asked)

    assert request.already_in(asked)
    assert not request.already_in(ended)


@pytest.mark.parametrize("field", ["status", "wake", "cancel_requested"])
def test_change_is_not_in_a_task_that_lacks_one_of_its_values(field):
    task = a_task()
    change = cancel(task, now=NOW)
    half_made = replace(change.applied_to(task), **{field: getattr(task, field)})

    assert not change.already_in(half_made)


def test_the_bucket_of_a_wake_is_expected_as_well_as_its_key():
    task = a_sent_task(spec=a_spec(run_at=NOW))
    moved = replace(task, wake=replace(task.wake, bucket="20261116T0905#01"))

    assert moved.wake.key == task.wake.key
    assert not asks_nothing_but(wake=task.wake).holds(moved)
