from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.delivery import delivery_of
from duetime.core.lifecycle import Status
from duetime.core.limits.definition import LimitUse
from duetime.core.occurrence import Occurrence
from duetime.core.step_ref import StepRef
from duetime.core.steps import lease as leases
from duetime.core.steps.cancel import cancel
from duetime.core.steps.lease import can_start, lease, lease_new, renew
from duetime.core.task import Progress
from tests.factories import NOW, a_running_task, a_sent_task, a_spec, an_id
from tests.strategies import moments, nonces, others, progresses, tasks, waits

sent = tasks(Status.ENQUEUED, Status.RETRYING)


@given(sent, waits)
def test_a_lease_begins_the_coming_attempt(task, wait):
    now = task.due_at + wait
    change = lease(delivery_of(task, now), now=now, holder="me")
    leased = change.applied_to(task)

    assert change.expect.holds(task) == (not task.expired(now))
    assert (leased.status, leased.holder) == (Status.RUNNING, "me")
    assert leased.attempt == leased.current.number == task.attempt + 1
    assert leased.lease_until == leases.renewed(now)
    assert leased.updated_at == now
    assert (leased.current.started_at, leased.current.drift_ms) == (now, wait)
    assert (leased.current.finished_at, leased.current.outcome, leased.current.error) == (None,) * 3
    assert leased.wake == task.wake  # moving the watch would cost two index writes


@given(st.lists(nonces, max_size=5), waits)
def test_new_tasks_are_stored_with_their_lease_as_submission_and_lease_leave_them(holders, wait):
    new = [a_sent_task(spec=a_spec(run_at=NOW)) for _ in holders]
    now = NOW + wait
    leased = lease_new(new, now=now, holders=holders)

    assert leased == [
        lease(delivery_of(task, now), now=now, holder=holder).applied_to(task)
        for task, holder in zip(new, holders, strict=True)
    ]


@given(tasks(), waits)
def test_task_can_start_with_its_submission_only_if_its_lease_would_hold(task, wait):
    now = task.created_at + wait
    if can_start(task, now):
        change = lease(delivery_of(task, now), now=now, holder="me")
        assert change.expect.holds(task)


def test_task_that_is_due_since_its_submission_can_start_with_it():
    assert can_start(a_sent_task(spec=a_spec(run_at=NOW)), NOW)


@pytest.mark.parametrize(
    "fields",
    [
        {"run_at": NOW + 1},
        {"pool": "batch"},
        {"limits": (LimitUse(name="crm"),)},
        {"ordering_key": "a"},
        {"expires_at": NOW},
        {"step": StepRef(run_id=an_id(NOW), step="load")},
        {"occurrence": Occurrence(schedule_id="nightly", scheduled_for=NOW, version=1)},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_task_that_something_is_checked_for_cannot_start_with_its_submission(fields):
    assert not can_start(a_sent_task(spec=a_spec(**{"run_at": NOW} | fields)), NOW)


def test_task_that_is_not_new_cannot_start_with_its_submission():
    task = a_sent_task(spec=a_spec(run_at=NOW), status=Status.RETRYING)

    assert not can_start(task, NOW)
    assert not can_start(a_sent_task(spec=a_spec(run_at=NOW)), NOW - 1)  # the clock was set back
    jittered = a_sent_task(spec=a_spec(run_at=NOW), due_at=NOW + 5)
    assert not can_start(jittered, NOW + 9)  # it does not share its first attempt


@given(tasks(Status.RETRYING), waits)
def test_lease_keeps_the_previous_attempt(task, wait):
    now = task.due_at + wait

    leased = lease(delivery_of(task, now), now=now, holder="me").applied_to(task)

    assert leased.previous == task.current


@given(tasks(Status.ENQUEUED))
def test_first_lease_has_no_previous_attempt(task):
    leased = lease(delivery_of(task, task.due_at), now=task.due_at, holder="me").applied_to(task)

    assert leased.previous is None


@given(tasks(), waits)
def test_only_a_task_that_waits_for_its_message_can_be_leased(task, wait):
    """PENDING too: its message, whose fate was unknown, has arrived."""
    now = task.due_at + wait
    change = lease(delivery_of(task, now), now=now, holder="me")
    waits = task.status in (Status.PENDING, Status.ENQUEUED, Status.RETRYING)
    sent_and_in_time = waits and not task.expired(now)

    assert change.expect.holds(task) == sent_and_in_time


@given(sent, nonces)
def test_delivery_with_another_token_starts_nothing(task, nonce):
    delivery = replace(delivery_of(task, task.due_at), token=f"{task.due_at:013d}-{nonce}")
    change = lease(delivery, now=task.due_at, holder="me")

    assert delivery.token == task.token or not change.expect.holds(task)


@given(sent, st.integers(1, 200))
def test_delivery_of_another_attempt_starts_nothing(task, attempt):
    delivery = replace(delivery_of(task, task.due_at), attempt=attempt)
    unexpired = replace(task, spec=replace(task.spec, expires_at=None))
    change = lease(delivery, now=task.due_at, holder="me")

    assert change.expect.holds(unexpired) == (attempt == task.attempt + 1)


@given(sent)
def test_a_doubled_delivery_starts_nothing(task):
    delivery = delivery_of(task, task.due_at)
    leased = lease(delivery, now=task.due_at, holder="me").applied_to(task)

    doubled = lease(delivery, now=task.due_at, holder="you")

    assert not doubled.expect.holds(leased)
    assert not doubled.already_in(leased)


@given(sent)
def test_a_cancelled_task_is_not_started(task):
    delivery = delivery_of(task, task.due_at)
    cancelled = cancel(task, now=task.due_at).applied_to(task)

    assert not lease(delivery, now=task.due_at, holder="me").expect.holds(cancelled)


@pytest.mark.parametrize(("expires_at", "starts"), [(NOW + 1, True), (NOW, False)])
def test_an_expired_task_is_not_started(expires_at, starts):
    task = a_sent_task(spec=a_spec(run_at=NOW - 1, expires_at=expires_at), now=NOW - 1)
    change = lease(delivery_of(task, NOW - 1), now=NOW, holder="me")

    assert change.expect.holds(task) is starts


@given(tasks(Status.RUNNING), moments)
def test_a_renewal_moves_the_lease_and_nothing_else(task, now):
    change = renew(task, now=now)

    assert change.expect.holds(task)
    assert change.applied_to(task) == replace(task, lease_until=leases.renewed(now))


@given(tasks(Status.RUNNING), moments, progresses)
def test_renewal_can_write_progress(task, now, progress):
    renewed = renew(task, now=now, progress=progress).applied_to(task)

    expected = replace(task, lease_until=leases.renewed(now), progress=progress, updated_at=now)
    assert renewed == expected


@given(tasks(Status.RUNNING), st.data())
def test_only_the_holder_of_this_attempt_renews(task, data):
    stored = data.draw(others(task))
    change = renew(task, now=task.lease_until)
    ours = (Status.RUNNING, task.holder, task.attempt)

    assert change.expect.holds(stored) == ((stored.status, stored.holder, stored.attempt) == ours)


@pytest.mark.parametrize(
    "taken_over",
    [{"holder": "you"}, {"attempt": 2}, {"status": Status.RETRYING}, {"status": Status.CANCELLED}],
)
def test_a_holder_that_lost_its_lease_is_refused(taken_over):
    task = a_running_task()

    change = renew(task, now=NOW, progress=Progress(fraction=0.5))

    assert not change.expect.holds(replace(task, **taken_over))
