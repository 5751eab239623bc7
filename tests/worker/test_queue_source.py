"""Where a worker of a pool takes its messages from."""

from collections.abc import Sequence

from duetime.core.delivery import Message, delivery_of
from duetime.core.lanes import Lane, Queue, queue_of
from duetime.core.times import SECOND
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.worker.queue_source import RECEIVE_BATCH, WAITS_FOR, QueueSource
from tests.factories import NOW, SteppedClock, a_sent_task, a_spec

BATCH = {lane: queue_of(lane, "batch") for lane in Lane}


class Pool:
    """The slots of a pool."""

    free = 8

    def wait_for_slots(self, timeout: float) -> int:
        return self.free


class Source:
    def __init__(self, count: int = 0, pool: str | None = "batch") -> None:
        self.clock = SteppedClock()
        self.lanes = MemoryLaneQueue(self.clock)
        tasks = [a_sent_task(spec=a_spec(run_at=NOW, pool=pool)) for _ in range(count)]
        self.lanes.send([delivery_of(task, NOW) for task in tasks], NOW)
        self.pool = Pool()
        self.source = QueueSource(self.lanes, BATCH, self.pool.wait_for_slots, self.clock)

    @property
    def in_flight(self) -> int:
        return self.lanes.depth(Queue(Lane.MEDIUM, "batch")).in_flight

    def take(self, limit: int) -> Sequence[Message]:
        return self.source.take(Lane.MEDIUM, limit)


def test_source_receives_from_the_queues_of_its_pool():
    made = Source(1)
    made.source.poll(Lane.MEDIUM, 0)

    assert made.source.ready(0, 8) == {Lane.MEDIUM: 1}
    [message] = made.take(8)
    assert message.queue == Queue(Lane.MEDIUM, "batch")


def test_source_leaves_the_queues_of_others_alone():
    made = Source(1, pool=None)
    made.source.poll(Lane.MEDIUM, 0)

    assert made.source.ready(0, 8) == {}


def test_source_receives_nothing_while_no_slot_is_free():
    made = Source(3)
    made.pool.free = 0
    made.source.poll(Lane.MEDIUM, 0)

    assert made.in_flight == 0


def test_source_receives_no_more_than_the_share_of_a_lane_and_one_batch():
    made = Source(50)
    made.pool.free = 9
    made.source.poll(Lane.MEDIUM, 0)
    assert made.in_flight == 3
    assert len(made.take(9)) == 3

    made.pool.free = 1_000
    made.source.poll(Lane.MEDIUM, 0)
    assert made.in_flight == 3 + RECEIVE_BATCH


def test_message_that_finds_no_slot_for_a_minute_is_handed_back():
    made = Source(1)
    made.source.poll(Lane.MEDIUM, 0)
    made.pool.free = 0
    made.clock.advance(WAITS_FOR - SECOND)
    made.source.poll(Lane.MEDIUM, 0)
    assert made.in_flight == 1
    made.clock.advance(SECOND)
    made.source.poll(Lane.MEDIUM, 0)

    assert made.in_flight == 0
    assert made.source.ready(0, 8) == {}


def test_closed_source_hands_back_what_no_slot_has_taken():
    made = Source(5)
    made.pool.free = 6
    made.source.poll(Lane.MEDIUM, 0)
    made.take(1)
    made.source.close()

    assert made.in_flight == 1
    made.source.poll(Lane.MEDIUM, 0)
    assert made.in_flight == 1


def test_message_that_arrives_after_the_close_is_handed_back():
    made = Source(1)
    receive = made.lanes.receive

    def closes(queue: Queue, limit: int, wait: float) -> list[Message]:
        found = receive(queue, limit, wait)
        made.source.close()
        return found

    made.lanes.receive = closes  # type: ignore[method-assign]
    made.source.poll(Lane.MEDIUM, 0)

    assert made.in_flight == 0
