from hypothesis import given
from hypothesis import strategies as st

from duetime.core.lifecycle import Status
from duetime.core.steps.submit import submit
from duetime.core.times import SECOND
from duetime.core.wakes import WakeKind
from tests.factories import NOW, WAKE_POLICY, a_draw, a_spec
from tests.strategies import draws, task_ids, timed_specs, waits, wake_policies


@st.composite
def submissions(draw):
    """A spec and the time of its submission, before or after its run_at."""
    spec = draw(timed_specs())
    wait = draw(waits)
    return spec, spec.run_at - wait if draw(st.booleans()) else spec.run_at + wait


@given(wake_policies, task_ids, submissions(), draws)
def test_a_task_is_never_due_before_it_was_asked_for(wake_policy, task_id, submission, draw):
    spec, now = submission
    task = submit(wake_policy, task_id, spec, now=now, draw=draw)

    asked_for = max(spec.run_at, now)
    assert asked_for <= task.due_at <= asked_for + spec.jitter * SECOND + 1


@given(wake_policies, task_ids, submissions(), draws)
def test_task_due_within_the_horizon_takes_the_fast_path(wake_policy, task_id, submission, draw):
    spec, now = submission
    task = submit(wake_policy, task_id, spec, now=now, draw=draw)

    soon = task.due_at - now <= wake_policy.horizon
    assert task.status is (Status.ENQUEUED if soon else Status.PENDING)
    assert task.wake.kind is (WakeKind.WATCH if soon else WakeKind.DISPATCH)
    assert task.wake == wake_policy.place(task_id, spec.priority, task.due_at, now=now, draw=draw)


@given(wake_policies, task_ids, submissions(), draws)
def test_new_task_has_its_whole_budget_and_no_attempts(wake_policy, task_id, submission, draw):
    spec, now = submission
    task = submit(wake_policy, task_id, spec, now=now, draw=draw)

    assert (task.id, task.spec) == (task_id, spec)
    assert (task.attempt, task.budget) == (0, spec.retry.max_attempts)
    assert task.created_at == task.updated_at == now
    assert task.token.startswith(f"{task.due_at:013d}-")
    assert (task.holder, task.lease_until, task.current, task.previous) == (None,) * 4
    assert not task.cancel_requested


def test_a_past_time_means_now():
    task = submit(WAKE_POLICY, "t", a_spec(run_at=NOW - 60_000), now=NOW, draw=a_draw())

    assert task.due_at == NOW


def test_jitter_spreads_a_spike():
    spike = a_spec(run_at=NOW, jitter=100.0)
    dues = {
        submit(WAKE_POLICY, "t", spike, now=NOW, draw=a_draw(luck=n / 10)).due_at for n in range(10)
    }

    assert dues == {NOW + n * 10 * SECOND for n in range(10)}
