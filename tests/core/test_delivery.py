from hypothesis import given

from lambdas.core.delivery import Delivery, delivery_of, new_token
from lambdas.core.lifecycle import Status
from tests.strategies import lanes, moments, nonces, tasks


@given(moments, nonces, lanes)
def test_a_token_tells_when_its_delivery_is_due(due_at, nonce, lane):
    token = new_token(due_at, nonce)
    delivery = Delivery(
        task_id="t", token=token, attempt=1, lane=lane, written_at=due_at, timeout=60.0
    )

    assert delivery.due_at == due_at


@given(moments, nonces, nonces)
def test_two_draws_make_two_tokens(due_at, one, other):
    assert (new_token(due_at, one) == new_token(due_at, other)) == (one == other)


@given(moments, moments, nonces)
def test_two_due_times_make_two_tokens(one, other, nonce):
    assert (new_token(one, nonce) == new_token(other, nonce)) == (one == other)


@given(tasks(Status.ENQUEUED, Status.RETRYING), moments)
def test_a_delivery_is_for_the_coming_attempt_of_its_task(task, now):
    assert delivery_of(task, now) == Delivery(
        task_id=task.id,
        token=task.token,
        attempt=task.attempt + 1,
        lane=task.spec.priority,
        written_at=now,
        timeout=task.spec.timeout,
        sends=task.sends,
        watch=task.wake,
    )
