from dataclasses import replace

from hypothesis import assume, given

from duetime.core.delivery import delivery_of
from duetime.core.lifecycle import Status, Step
from duetime.core.steps.lease import lease
from duetime.core.steps.record import fail
from duetime.core.steps.revive import revive
from duetime.core.wakes import WakeKind
from tests.factories import WAKE_POLICY, a_draw
from tests.strategies import draws, failures, tasks, waits, wake_policies

dead = tasks(Status.DEAD)


@given(wake_policies, dead, waits, draws)
def test_a_dead_task_is_due_at_once_with_a_new_token(wake_policy, task, wait, draw):
    assume(not task.token.endswith(draw.nonce))
    now = task.updated_at + wait
    change = revive(wake_policy, task, now=now, draw=draw)
    revived = change.applied_to(task)

    assert change.expect.holds(task)
    assert (change.step, revived.status) == (Step.REVIVE, Status.RETRYING)
    assert revived.due_at == delivery_of(revived, now).due_at == now
    assert revived.token != task.token
    assert revived.wake.kind is WakeKind.WATCH, "its delivery goes out now"
    assert not revived.cancel_requested


@given(wake_policies, dead, waits, draws)
def test_revived_task_continues_its_attempt_numbers_with_a_full_budget(
    wake_policy, task, wait, draw
):
    revived = revive(wake_policy, task, now=task.updated_at + wait, draw=draw).applied_to(task)

    assert revived.attempt == task.attempt
    assert revived.budget - revived.attempt == task.spec.retry.max_attempts


@given(wake_policies, dead, waits, draws, draws)
def test_of_two_revivals_one_counts(wake_policy, task, wait, draw, other):
    now = task.updated_at + wait
    first, second = (revive(wake_policy, task, now=now, draw=d) for d in (draw, other))
    revived = first.applied_to(task)

    assert not second.expect.holds(revived)
    assert first.already_in(revived), "a repeated write recognises its own values"
    assert second.already_in(revived) == (first.sets == second.sets)


@given(wake_policies, tasks(*set(Status) - {Status.DEAD}), waits, draws)
def test_only_a_dead_task_is_revived(wake_policy, task, wait, draw):
    change = revive(wake_policy, task, now=task.updated_at + wait, draw=draw)

    assert not change.expect.holds(task)


@given(dead, waits, failures)
def test_first_failure_of_a_revived_task_has_the_first_backoff(task, wait, failure):
    """Neither the backoff nor the budget includes the attempts before."""
    now = task.updated_at + wait
    revived = revive(WAKE_POLICY, task, now=now, draw=a_draw()).applied_to(task)
    running = lease(delivery_of(revived, now), now=now, holder="me").applied_to(revived)
    ordinary = replace(failure, permanent=False, retry_after=None)
    change = fail(WAKE_POLICY, running, ordinary, now=now, draw=a_draw(luck=0.0))

    if task.spec.retry.max_attempts == 1:
        assert change.step is Step.BURY
    else:
        assert change.sets["due_at"] - now == task.spec.retry.delay(1, 0.0)
