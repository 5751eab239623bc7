from dataclasses import replace

import pytest

from duetime.core.delivery import Delivery, Limits, new_token
from duetime.core.lanes import Lane, Queue
from duetime.core.limits.definition import LimitUse
from duetime.core.ports import Depth
from duetime.core.times import SECOND
from tests.backends import Lanes
from tests.factories import an_id

EARLY = 2 * SECOND  # an executor waits for this rest
SECONDS_TO_BURY = 120


def a_delivery(lanes: Lanes, due_in: int = 0, lane: Lane = Lane.MEDIUM) -> Delivery:
    now = lanes.now()
    return Delivery(
        task_id=an_id(),
        token=new_token(now + due_in, "nonce"),
        attempt=1,
        lane=lane,
        timeout=60.0,
        written_at=now,
    )


def send(lanes: Lanes, *deliveries: Delivery) -> list[bool]:
    return lanes.queue.send(list(deliveries), lanes.now())


def received(lanes: Lanes, lane: Lane = Lane.MEDIUM, limit: int = 10) -> list[Delivery]:
    return [message.delivery for message in lanes.queue.receive(Queue(lane), limit, 0)]


def test_a_delivery_that_is_sent_is_received(lanes: Lanes):
    delivery = replace(a_delivery(lanes), attempt=3)

    assert send(lanes, delivery) == [True]
    assert received(lanes) == [delivery]
    assert received(lanes) == [], "it is in the receiver's hands"


def test_an_empty_lane_gives_nothing(lanes: Lanes):
    assert received(lanes) == []
    assert send(lanes) == []


def test_each_lane_has_its_own_line(lanes: Lanes):
    deliveries = [a_delivery(lanes, lane=lane) for lane in (Lane.LOW, Lane.HIGH, Lane.LOW)]

    assert send(lanes, *deliveries) == [True] * 3
    assert received(lanes, Lane.HIGH) == [deliveries[1]]
    assert received(lanes, Lane.MEDIUM) == []
    assert {d.task_id for d in received(lanes, Lane.LOW)} == {
        deliveries[0].task_id,
        deliveries[2].task_id,
    }


def test_more_deliveries_than_a_batch_are_sent(lanes: Lanes):
    deliveries = [a_delivery(lanes) for _ in range(23)]
    assert send(lanes, *deliveries) == [True] * 23

    messages = [m for _ in range(3) for m in lanes.queue.receive(Queue(Lane.MEDIUM), 10, 0)]
    lanes.queue.delete(messages)

    assert {m.delivery.task_id for m in messages} == {d.task_id for d in deliveries}
    assert lanes.queue.depth(Queue(Lane.MEDIUM)) == Depth(ready=0, delayed=0, in_flight=0)


def test_receive_returns_at_most_the_limit(lanes: Lanes):
    send(lanes, *(a_delivery(lanes) for _ in range(5)))

    assert len(received(lanes, limit=2)) == 2
    assert len(received(lanes, limit=50)) <= 3


def test_a_delivery_is_held_until_shortly_before_it_is_due(lanes: Lanes):
    delivery = a_delivery(lanes, due_in=EARLY + 50)
    send(lanes, delivery)

    assert received(lanes) == []
    lanes.pass_time(delivery.due_at - lanes.now())
    assert received(lanes) == [delivery]


def test_overdue_work_can_be_sent_for_later(lanes: Lanes):
    delivery = a_delivery(lanes, due_in=-60 * SECOND)
    later = lanes.now() + EARLY + 50
    send(lanes, replace(delivery, not_before=later))

    assert received(lanes) == []
    lanes.pass_time(later - lanes.now())
    assert [d.token for d in received(lanes)] == [delivery.token]


def test_message_carries_its_time_and_its_grant(lanes: Lanes):
    """The delay of a message may end early, so the executor waits for what the message says."""
    slot = lanes.now() + 1_234
    uses = (LimitUse(name="stripe", key="acct-7"),)
    granted = Limits(namespace="default", uses=uses, grant=slot)
    delivery = replace(a_delivery(lanes), not_before=slot, limits=granted)
    send(lanes, delivery)
    lanes.pass_time(slot - lanes.now())

    [found] = received(lanes)
    assert (found.not_before, found.visible_at, found.limits) == (slot, slot, granted)


def test_granted_task_is_not_taken_for_overdue_work(lanes: Lanes):
    slot = lanes.now() - 5
    granted = Limits(namespace="default", uses=(LimitUse(name="stripe"),), grant=slot)
    overdue = replace(a_delivery(lanes, due_in=-60 * SECOND), not_before=slot - 1)
    delivery = replace(a_delivery(lanes, due_in=-60 * SECOND), not_before=slot, limits=granted)

    assert (overdue.paced, delivery.paced) == (True, False)


def test_a_message_is_not_received_before_it_is_due(lanes: Lanes):
    delivery = a_delivery(lanes, due_in=600 * SECOND)
    send(lanes, replace(delivery, not_before=lanes.now()))

    assert lanes.queue.depth(Queue(Lane.MEDIUM)) == Depth(ready=0, delayed=1, in_flight=0)


def test_a_message_tells_which_sending_it_is(lanes: Lanes):
    delivery = replace(a_delivery(lanes), written_at=lanes.now() - 7)
    send(lanes, delivery)

    assert received(lanes) == [delivery]


def test_a_message_tells_when_its_lane_took_it_in(lanes: Lanes):
    before = lanes.now()
    send(lanes, a_delivery(lanes))
    after = lanes.now()
    [message] = lanes.queue.receive(Queue(Lane.MEDIUM), 1, 0)
    lanes.queue.hand_back(message, 0)
    [again] = lanes.queue.receive(Queue(Lane.MEDIUM), 1, 0)

    assert before <= message.sent_at <= after
    assert again.sent_at == message.sent_at
    assert not message.redriven(died_at=0)


def test_a_past_due_time_means_now(lanes: Lanes):
    delivery = a_delivery(lanes, due_in=-60 * SECOND)
    send(lanes, delivery)

    assert received(lanes) == [delivery]


def test_a_deleted_message_does_not_come_back(lanes: Lanes):
    send(lanes, a_delivery(lanes))
    messages = lanes.queue.receive(Queue(Lane.MEDIUM), 1, 0)

    lanes.queue.delete(messages)

    assert lanes.queue.depth(Queue(Lane.MEDIUM)) == Depth(ready=0, delayed=0, in_flight=0)


def test_a_message_handed_back_comes_again_after_the_delay(lanes: Lanes):
    delivery = a_delivery(lanes)
    send(lanes, delivery)
    [message] = lanes.queue.receive(Queue(Lane.MEDIUM), 1, 0)

    lanes.queue.hand_back(message, 900)

    assert received(lanes) == []
    lanes.pass_time(1_050)
    assert received(lanes) == [delivery]


def test_a_message_handed_back_without_delay_comes_at_once(lanes: Lanes):
    delivery = a_delivery(lanes)
    send(lanes, delivery)
    [message] = lanes.queue.receive(Queue(Lane.MEDIUM), 1, 0)

    lanes.queue.hand_back(message, 0)

    assert received(lanes) == [delivery]


@pytest.mark.parametrize("visibility", [2])
def test_messages_that_are_held_do_not_come_back(lanes: Lanes):
    """More messages than one call takes, of two lanes whose queues would soon show them again."""
    for lane in (Lane.MEDIUM, Lane.LOW):
        send(lanes, *(a_delivery(lanes, lane=lane) for _ in range(11)))
    messages = [
        message
        for lane in (Lane.MEDIUM, Lane.LOW)
        for _ in range(2)
        for message in lanes.queue.receive(Queue(lane), 10, 0)
    ]

    lanes.queue.hold(messages, 60 * SECOND)
    lanes.pass_time(2_100)

    assert len(messages) == 22
    assert received(lanes, Lane.MEDIUM) == received(lanes, Lane.LOW) == []


def test_a_message_that_was_held_can_still_be_given_up(lanes: Lanes):
    deliveries = [a_delivery(lanes), a_delivery(lanes)]
    send(lanes, *deliveries)
    first, second = lanes.queue.receive(Queue(Lane.MEDIUM), 2, 0)

    lanes.queue.hold([first, second], 60 * SECOND)
    lanes.queue.delete([first])
    lanes.queue.hand_back(second, 0)

    assert received(lanes) == [second.delivery]
    assert lanes.queue.depth(Queue(Lane.MEDIUM)) == Depth(ready=0, delayed=0, in_flight=1)


def test_holding_what_is_gone_holds_the_rest(lanes: Lanes):
    send(lanes, a_delivery(lanes), a_delivery(lanes))
    gone, there = lanes.queue.receive(Queue(Lane.MEDIUM), 2, 0)
    lanes.queue.delete([gone])

    lanes.queue.hold([gone, there], 60 * SECOND)
    lanes.queue.hold([], 60 * SECOND)

    assert lanes.queue.depth(Queue(Lane.MEDIUM)) == Depth(ready=0, delayed=0, in_flight=1)


def test_a_message_buried_whenever_it_is_seen_leaves_the_lane(lanes: Lanes):
    send(lanes, a_delivery(lanes))
    for _ in range(SECONDS_TO_BURY):
        lanes.queue.bury(lanes.queue.receive(Queue(Lane.MEDIUM), 10, 0))
        if not lanes.queue.depth(Queue(Lane.MEDIUM)).in_flight:
            break
        lanes.pass_time(SECOND)

    assert lanes.queue.receive(Queue(Lane.MEDIUM), 10, 0) == []
    assert lanes.queue.depth(Queue(Lane.MEDIUM)) == Depth(ready=0, delayed=0, in_flight=0)


def test_the_depth_of_a_lane(lanes: Lanes):
    send(lanes, *(a_delivery(lanes) for _ in range(3)), a_delivery(lanes, due_in=600 * SECOND))
    lanes.queue.receive(Queue(Lane.MEDIUM), 1, 0)

    depth = lanes.queue.depth(Queue(Lane.MEDIUM))
    assert replace(depth, oldest=None) == Depth(ready=2, delayed=1, in_flight=1)
    assert lanes.queue.depth(Queue(Lane.HIGH)) == Depth(ready=0, delayed=0, in_flight=0)
