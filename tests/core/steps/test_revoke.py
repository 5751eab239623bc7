from hypothesis import assume, given

from duetime.core.delivery import delivery_of
from duetime.core.lifecycle import Status
from duetime.core.steps.lease import lease
from duetime.core.steps.revoke import revoke
from tests.factories import a_running_task
from tests.strategies import draws, tasks, waits


@given(tasks(Status.ENQUEUED), waits, draws)
def test_messages_of_a_revoked_task_start_nothing_and_the_next_one_does(task, wait, draw):
    now = max(task.updated_at, task.due_at) + wait
    assume(task.attempt == 0 and not task.token.endswith(draw.nonce) and not task.expired(now))
    message = delivery_of(task, now)
    change = revoke(task, now=now, nonce=draw.nonce)
    revoked = change.applied_to(task)

    assert change.expect.holds(task)
    assert (revoked.status, revoked.due_at, revoked.wake) == (task.status, task.due_at, task.wake)
    assert not lease(message, now=now, holder="me").expect.holds(revoked)
    assert lease(delivery_of(revoked, now), now=now, holder="me").expect.holds(revoked)


def test_a_task_that_has_started_is_not_revoked():
    task = a_running_task()

    assert not revoke(task, now=task.updated_at, nonce="another").expect.holds(task)
