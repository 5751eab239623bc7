from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from duetime.core.change import Change
from duetime.core.delivery import delivery_of
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.retry import RetryPolicy
from duetime.core.steps.claim import claim, release
from duetime.core.steps.defer import UNSTARTED, Deferral, budget_after, defer
from duetime.core.steps.lease import lease
from duetime.core.steps.record import fail
from duetime.core.task import Spec, Task
from duetime.core.wakes import WakeKind
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_spec, a_task
from tests.strategies import draws, failures, tasks, timed_specs, waits, wake_policies

deferrable = tasks(*sources(Step.DEFER))


@st.composite
def deferrals(draw: st.DrawFn) -> tuple[Task, Change]:
    task, spec = draw(deferrable), draw(timed_specs())
    now = task.updated_at + draw(waits)
    wanted = Deferral(spec=spec, due_at=draw(st.just(task.due_at) | waits.map(lambda w: now + w)))
    random = draw(draws)
    assume(not task.token.endswith(random.nonce))
    return task, defer(draw(wake_policies), task, wanted, now=now, draw=random)


@given(deferrals())
def test_deferred_task_has_the_spec_and_a_new_token_of_its_due_time(case):
    task, change = case
    after = change.applied_to(task)

    assert change.expect.holds(task)
    assert after.spec == change.sets["spec"]
    assert after.token != task.token, "even at the same due time"
    assert delivery_of(after, after.updated_at).due_at == after.due_at
    assert (after.wake.lane, after.wake.task_id) == (after.spec.priority, task.id)
    assert (after.attempt, after.current, after.previous) == (
        task.attempt,
        task.current,
        task.previous,
    )


@given(wake_policies, deferrable, waits, waits, draws)
def test_deferred_task_due_within_the_horizon_is_sent_at_once(wake_policy, task, wait, ahead, draw):
    now = task.updated_at + wait
    wanted = Deferral(spec=task.spec, due_at=now + ahead)
    after = defer(wake_policy, task, wanted, now=now, draw=draw).applied_to(task)

    soon = ahead <= wake_policy.horizon
    assert after.wake.kind is (WakeKind.WATCH if soon else WakeKind.DISPATCH)
    if task.status in UNSTARTED:
        assert after.status is (Status.ENQUEUED if soon else Status.PENDING)
    else:
        assert after.status is Status.RETRYING


@given(deferrals())
def test_message_of_the_old_version_starts_nothing(case):
    task, change = case
    later = max(task.due_at, task.updated_at, change.sets["due_at"])
    old = lease(delivery_of(task, task.updated_at), now=later, holder="me")

    assert not old.expect.holds(change.applied_to(task))


@given(deferrals())
def test_task_that_has_started_is_not_deferred(case):
    task, change = case
    leased = lease(delivery_of(task, task.updated_at), now=max(task.due_at, NOW), holder="me")

    assert not change.expect.holds(leased.applied_to(task))
    assert not change.already_in(leased.applied_to(task))


@given(deferrals(), timed_specs(), draws)
def test_of_two_deferrals_one_counts(case, spec, draw):
    task, first = case
    assume(not first.sets["token"].endswith(draw.nonce))
    now = first.sets["updated_at"]
    wanted = Deferral(spec=spec, due_at=now)
    second = defer(WAKE_POLICY, task, wanted, now=now, draw=draw)
    after = first.applied_to(task)

    assert not second.expect.holds(after)
    assert not second.already_in(after)
    assert first.already_in(after), "a repeated write recognises its own values"


@given(wake_policies, tasks(*set(Status) - sources(Step.DEFER)), draws)
def test_running_or_finished_task_is_not_deferred(wake_policy, task, draw):
    wanted = Deferral(spec=task.spec, due_at=task.due_at)
    change = defer(wake_policy, task, wanted, now=task.updated_at, draw=draw)

    assert not change.expect.holds(task)


def moved(task: Task, due_at: int = NOW + 1, **fields: object) -> Change:
    spec: Spec = replace(task.spec, **fields)
    wanted = Deferral(spec=spec, due_at=due_at)
    return defer(WAKE_POLICY, task, wanted, now=NOW, draw=a_draw())


def test_claim_before_a_deferral_changes_nothing():
    task = a_task()
    claimed = claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw()).applied_to(task)

    assert moved(task).expect.holds(claimed)


def test_claim_and_release_after_a_deferral_do_not_bring_the_old_version_back():
    task = a_task()
    deferred = moved(task).applied_to(task)
    sent = replace(task, status=Status.ENQUEUED)

    assert not claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw()).expect.holds(deferred)
    assert not release(WAKE_POLICY, delivery_of(sent, NOW), now=NOW).expect.holds(deferred)


@given(deferrable, st.integers(1, 100))
def test_budget_follows_the_attempts_that_count(task, max_attempts):
    spec = replace(task.spec, retry=replace(task.spec.retry, max_attempts=max_attempts))

    uncounted = task.budget - task.spec.retry.max_attempts
    assert budget_after(task, spec) == uncounted + max_attempts
    assert budget_after(task, task.spec) == task.budget


@given(failures)
def test_backoff_after_a_deferral_goes_on_counting(failure):
    retry = RetryPolicy(max_attempts=3, base_delay=10, jitter=0)
    running = a_running_task(spec=a_spec(run_at=NOW, retry=retry))
    ordinary = replace(failure, permanent=False, retry_after=None)
    failed = fail(WAKE_POLICY, running, ordinary, now=NOW, draw=a_draw()).applied_to(running)
    again = moved(failed, retry=replace(retry, max_attempts=5)).applied_to(failed)
    second = lease(delivery_of(again, NOW), now=NOW + 1, holder="me").applied_to(again)

    change = fail(WAKE_POLICY, second, ordinary, now=NOW + 1, draw=a_draw())

    assert (again.budget, change.sets["due_at"]) == (5, NOW + 1 + 20_000)
