"""Where the runner takes messages from."""

import threading
from collections.abc import Sequence

from duetime.core.delivery import Message, delivery_of
from duetime.core.lanes import Lane, Queue
from duetime.local.lane_sources import AT_HAND, MemoryLanes, PolledLanes
from duetime.sqlite.lane_queue import MemoryLaneQueue
from tests.factories import NOW, SteppedClock, a_sent_task, a_spec

PATIENCE = 60


def filled(count: int, lane: Lane = Lane.HIGH) -> MemoryLaneQueue:
    lanes = MemoryLaneQueue(SteppedClock())
    tasks = [a_sent_task(spec=a_spec(run_at=NOW, priority=lane)) for _ in range(count)]
    lanes.send([delivery_of(task, NOW) for task in tasks], NOW)
    return lanes


def ids(messages: Sequence[Message]) -> list[str]:
    return [message.delivery.task_id for message in messages]


def test_memory_lanes_take_nothing_ahead_of_its_slot():
    lanes = filled(30)
    source = MemoryLanes(lanes)

    assert source.ready(0, 100) == {Lane.HIGH: 30}
    assert lanes.depth(Queue(Lane.HIGH)).in_flight == 0
    assert len(source.take(Lane.HIGH, 7)) == 7
    assert source.ready(0, 100) == {Lane.HIGH: 23}


def test_polled_lane_keeps_a_few_messages_at_hand():
    lanes = filled(30)
    source = PolledLanes(lanes)

    assert source.ready(0, 100) == {}
    source.poll(Lane.HIGH, 0)
    source.poll(Lane.HIGH, 0)  # enough is at hand
    assert source.ready(0, 100) == {Lane.HIGH: AT_HAND}
    assert lanes.depth(Queue(Lane.HIGH)).ready == 30 - AT_HAND

    first = source.take(Lane.HIGH, AT_HAND - 4)
    source.poll(Lane.HIGH, 0)
    rest = source.take(Lane.HIGH, 100)
    assert len(set(ids(first + rest))) == AT_HAND - 4 + AT_HAND
    assert source.take(Lane.HIGH, 1) == []


def test_taker_is_woken_by_the_first_message_of_any_lane():
    source = PolledLanes(filled(1, Lane.LOW))
    seen: list[object] = []
    taker = threading.Thread(target=lambda: seen.append(source.ready(PATIENCE, 100)))
    taker.start()
    for lane in Lane:
        source.poll(lane, 0)
    taker.join(PATIENCE)

    assert seen == [{Lane.LOW: 1}]


def test_closed_source_gives_back_what_was_not_taken():
    lanes = filled(30)
    source = PolledLanes(lanes)
    source.poll(Lane.HIGH, 0)
    source.take(Lane.HIGH, 8)
    source.close()
    assert lanes.depth(Queue(Lane.HIGH)).in_flight == 8

    source.poll(Lane.HIGH, 0)  # a poll that was under way
    assert lanes.depth(Queue(Lane.HIGH)).in_flight == 8
    assert source.ready(0, 100) == {}
