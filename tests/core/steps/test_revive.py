from dataclasses import replace

from hypothesis import assume, given

from lambdas.core.delivery import delivery_of
from lambdas.core.lifecycle import Status, Step
from lambdas.core.steps.lease import lease
from lambdas.core.steps.record import fail
from lambdas.core.steps.revive import revive
from lambdas.core.wakes import WakeKind
from tests.factories import RULES, a_draw
from tests.strategies import draws, failures, rules, tasks, waits

dead = tasks(Status.DEAD)


@given(rules, dead, waits, draws)
def test_a_dead_task_is_due_at_once_with_a_new_token(r, task, wait, draw):
    assume(not task.token.endswith(draw.nonce))
    now = task.updated_at + wait
    change = revive(r, task, now=now, draw=draw)
    revived = change.applied_to(task)

    assert change.expect.holds(task)
    assert (change.step, revived.status) == (Step.REVIVE, Status.RETRYING)
    assert revived.due_at == delivery_of(revived, now).due_at == now
    assert revived.token != task.token
    assert revived.wake.kind is WakeKind.WATCH, "its delivery goes out now"
    assert not revived.cancel_requested


@given(rules, dead, waits, draws)
def test_its_attempts_go_on_where_they_were_and_are_as_many_as_at_first(r, task, wait, draw):
    revived = revive(r, task, now=task.updated_at + wait, draw=draw).applied_to(task)

    assert revived.attempt == task.attempt
    assert revived.budget - revived.attempt == task.spec.retry.max_attempts


@given(rules, dead, waits, draws, draws)
def test_of_two_revivals_one_counts(r, task, wait, draw, other):
    now = task.updated_at + wait
    first, second = (revive(r, task, now=now, draw=d) for d in (draw, other))
    revived = first.applied_to(task)

    assert not second.expect.holds(revived)
    assert first.stands_in(revived), "repeated, it knows its own traces"
    assert second.stands_in(revived) == (first.sets == second.sets)


@given(rules, tasks(*set(Status) - {Status.DEAD}), waits, draws)
def test_only_the_dead_are_revived(r, task, wait, draw):
    change = revive(r, task, now=task.updated_at + wait, draw=draw)

    assert not change.expect.holds(task)


@given(dead, waits, failures)
def test_the_first_failure_of_the_new_life_is_the_first_again(task, wait, failure):
    """Neither the backoff nor the budget remembers the old one."""
    now = task.updated_at + wait
    revived = revive(RULES, task, now=now, draw=a_draw()).applied_to(task)
    running = lease(delivery_of(revived, now), now=now, holder="me").applied_to(revived)
    ordinary = replace(failure, permanent=False, retry_after=None)
    change = fail(RULES, running, ordinary, now=now, draw=a_draw(luck=0.0))

    if task.spec.retry.max_attempts == 1:
        assert change.step is Step.BURY
    else:
        assert change.sets["due_at"] - now == task.spec.retry.delay(1, 0.0)
