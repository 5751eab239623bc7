from hypothesis import given

from duetime.core.lifecycle import Status, Step
from duetime.core.steps.discard import DISCARDED, discard
from duetime.core.steps.revive import revive
from tests.factories import WAKE_POLICY, a_draw
from tests.strategies import tasks, waits

dead = tasks(Status.DEAD)


@given(dead, waits)
def test_discarded_task_is_final_and_keeps_its_error_its_token_and_its_wake(task, wait):
    change = discard(task, now=task.updated_at + wait)
    ended = change.applied_to(task)

    assert change.expect.holds(task)
    assert (change.step, ended.status, ended.reason) == (Step.DISCARD, "CANCELLED", DISCARDED)
    assert ended.status.final
    assert (ended.token, ended.wake, ended.current) == (task.token, task.wake, task.current)
    assert change.already_in(ended), "a repeated write recognises its own values"


@given(dead, waits)
def test_of_a_discard_and_a_revival_one_counts(task, wait):
    now = task.updated_at + wait
    end, again = discard(task, now=now), revive(WAKE_POLICY, task, now=now, draw=a_draw())

    assert not again.expect.holds(end.applied_to(task))
    assert not end.expect.holds(again.applied_to(task))


@given(tasks(*set(Status) - {Status.DEAD}), waits)
def test_only_a_dead_task_is_discarded(task, wait):
    assert not discard(task, now=task.updated_at + wait).expect.holds(task)
