from dataclasses import replace

import pytest
from hypothesis import given

from duetime.core.lifecycle import Status
from duetime.core.steps.cancel import cancel, expire, request_cancel
from tests.factories import NOW, a_running_task, a_spec, a_task
from tests.strategies import moments, nonces, tasks

NOT_STARTED = (Status.PENDING, Status.ENQUEUED, Status.RETRYING, Status.WAITING)


@given(tasks(), moments)
def test_task_that_is_not_running_is_cancelled_at_once(task, now):
    change = cancel(task, now=now)

    assert change.expect.holds(task) == (task.status in NOT_STARTED)
    if change.expect.holds(task):
        assert change.applied_to(task) == replace(
            task, status=Status.CANCELLED, wake=None, cancel_requested=True, updated_at=now
        )


@given(tasks(), moments)
def test_running_task_is_asked_to_stop(task, now):
    change = request_cancel(task.id, now=now)

    assert change.expect.holds(task) == (task.status is Status.RUNNING)
    if change.expect.holds(task):
        assert change.applied_to(task) == replace(task, cancel_requested=True, updated_at=now)


@given(tasks(), moments)
def test_every_unfinished_task_can_be_cancelled_in_exactly_one_way(task, now):
    ways = [cancel(task, now=now), request_cancel(task.id, now=now)]

    assert sum(way.expect.holds(task) for way in ways) == (0 if task.status.finished else 1)


@given(tasks(), moments)
def test_only_a_task_that_never_started_expires(task, now):
    change = expire(task, now=now)

    assert change.expect.holds(task) == (task.status in (Status.PENDING, Status.ENQUEUED))
    if change.expect.holds(task):
        assert change.applied_to(task) == replace(
            task, status=Status.EXPIRED, wake=None, updated_at=now
        )


@given(tasks(Status.PENDING, Status.ENQUEUED), nonces)
def test_a_task_whose_time_was_changed_does_not_expire(task, nonce):
    changed = replace(task, token=f"{task.due_at + 1:013d}-{nonce}")

    assert not expire(task, now=task.due_at).expect.holds(changed)


@pytest.mark.parametrize("status", NOT_STARTED)
def test_a_lease_that_was_taken_first_wins_over_a_cancel(status):
    task = a_task(spec=a_spec(run_at=NOW), status=status)
    assert cancel(task, now=NOW).expect.holds(task)

    running = a_running_task(id=task.id)
    assert not cancel(task, now=NOW).expect.holds(running)
