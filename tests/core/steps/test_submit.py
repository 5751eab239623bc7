from hypothesis import given
from hypothesis import strategies as st

from lambdas.core.lifecycle import Status
from lambdas.core.steps.submit import submit
from lambdas.core.times import SECOND
from lambdas.core.wakes import WakeKind
from tests.factories import NOW, RULES, a_draw, a_spec
from tests.strategies import draws, rules, task_ids, timed_specs, waits


@st.composite
def submissions(draw):
    """A spec and the time at which it comes in: before its run_at, or after."""
    spec = draw(timed_specs())
    wait = draw(waits)
    return spec, spec.run_at - wait if draw(st.booleans()) else spec.run_at + wait


@given(rules, task_ids, submissions(), draws)
def test_a_task_is_never_due_before_it_was_asked_for(r, task_id, submission, draw):
    spec, now = submission
    task = submit(r, task_id, spec, now=now, draw=draw)

    asked_for = max(spec.run_at, now)
    assert asked_for <= task.due_at <= asked_for + spec.jitter * SECOND + 1


@given(rules, task_ids, submissions(), draws)
def test_what_is_due_within_the_horizon_takes_the_fast_path(r, task_id, submission, draw):
    spec, now = submission
    task = submit(r, task_id, spec, now=now, draw=draw)

    soon = task.due_at - now <= r.horizon
    assert task.status is (Status.ENQUEUED if soon else Status.PENDING)
    assert task.wake.kind is (WakeKind.WATCH if soon else WakeKind.DISPATCH)
    assert task.wake == r.place(task_id, spec.priority, task.due_at, now=now, draw=draw)


@given(rules, task_ids, submissions(), draws)
def test_a_new_task_has_its_whole_budget_and_no_past(r, task_id, submission, draw):
    spec, now = submission
    task = submit(r, task_id, spec, now=now, draw=draw)

    assert (task.id, task.spec) == (task_id, spec)
    assert (task.attempt, task.budget) == (0, spec.retry.max_attempts)
    assert task.created_at == task.updated_at == now
    assert task.token.startswith(f"{task.due_at:013d}-")
    assert (task.holder, task.lease_until, task.current, task.previous) == (None,) * 4
    assert not task.cancel_requested


def test_a_past_time_means_now():
    task = submit(RULES, "t", a_spec(run_at=NOW - 60_000), now=NOW, draw=a_draw())

    assert task.due_at == NOW


def test_jitter_spreads_a_spike():
    spike = a_spec(run_at=NOW, jitter=100.0)
    dues = {submit(RULES, "t", spike, now=NOW, draw=a_draw(luck=n / 10)).due_at for n in range(10)}

    assert dues == {NOW + n * 10 * SECOND for n in range(10)}
