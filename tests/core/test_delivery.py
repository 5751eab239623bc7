from dataclasses import replace

import pytest
from hypothesis import given

from duetime.core.delivery import Delivery, Message, delivery_of, new_token
from duetime.core.lifecycle import Status
from duetime.core.times import CLOCK_SKEW, MINUTE, SECOND
from tests.factories import NOW, a_sent_task
from tests.strategies import lanes, moments, nonces, tasks


@given(moments, nonces, lanes)
def test_token_contains_the_due_time_of_its_delivery(due_at, nonce, lane):
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
    delivery = delivery_of(task, now)

    assert replace(delivery, limits=None) == Delivery(
        task_id=task.id,
        token=task.token,
        attempt=task.attempt + 1,
        lane=task.lane,
        written_at=now,
        timeout=task.spec.timeout,
        group=task.spec.fairness_key or task.spec.namespace,
        watch=task.wake,
    )
    limited = task.spec.limits or task.spec.ordering_key is not None
    assert (delivery.limits is not None) == bool(limited)


DIED_AT = NOW + 10 * SECOND


@pytest.mark.parametrize(
    ("sent_at", "redriven"),
    [
        (NOW, False),  # the first send
        (NOW + 3 * SECOND, False),  # a slow send
        (NOW + MINUTE, False),
        (NOW + MINUTE + 1, True),
    ],
)
def test_a_message_enqueued_long_after_it_was_written_was_redriven(sent_at, redriven):
    assert a_message(sent_at).redriven(DIED_AT) == redriven


@pytest.mark.parametrize(
    ("after", "redriven"), [(-1, False), (CLOCK_SKEW, False), (CLOCK_SKEW + 1, True)]
)
def test_a_message_that_was_enqueued_before_its_task_died_was_not_redriven(after, redriven):
    """Its sender was frozen between writing and sending, and its attempt died."""
    died_at = NOW + 5 * MINUTE

    assert a_message(died_at + after).redriven(died_at) == redriven


def a_message(sent_at):
    delivery = delivery_of(a_sent_task(), NOW)
    return Message(delivery=delivery, receipt="r", message_id="m", sent_at=sent_at)


@given(tasks(Status.ENQUEUED, Status.RETRYING), moments, moments)
def test_paced_delivery_is_visible_neither_before_its_due_time_nor_before_its_slot(task, now, slot):
    assert delivery_of(task, now, not_before=slot).visible_at == max(task.due_at, slot)
