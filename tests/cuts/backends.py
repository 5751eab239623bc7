"""The backends of the scenarios, and what a cut does to each.

`sqlite`: one thread of the runner dies, and the messages that it held are lost.
`restarted`: the runner dies with its lanes, and another runner opens the file.
`moto`: one function of many dies, and its messages become visible again.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from operator import itemgetter
from typing import Any, Literal

from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.moto_api._internal import mock_random
from moto.sqs.models import Queue as MotoQueue
from moto.sqs.models import sqs_backends

from duetime.aws.message_codec import ATTRIBUTES, read_message
from duetime.core.delivery import Delivery, Message, delivery_of
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Status
from duetime.core.ports import Depth
from duetime.core.times import Millis
from duetime.sqlite.lane_queue import MemoryLaneQueue
from tests.factories import SteppedClock
from tests.world import WAKE_POLICY, World, moto_world, sqlite_world

LANE = Lane.MEDIUM
LANES = (LANE, Lane.HIGH)  # a promotion leads to the second

Rows = Literal["task", "run"]

UNKNOWN = dict.fromkeys(ATTRIBUTES, "0")


class RedrivableLanes(MemoryLaneQueue):
    """Lanes in memory with a redrive, and with the time of the next message.

    Lanes in memory have no dead letters, so the test hands over the delivery that SQS would have
    kept. As in SQS, a redriven message is the same delivery, enqueued again."""

    def __init__(self, clock: SteppedClock) -> None:
        super().__init__(clock)
        self._clock = clock
        self._visible: list[tuple[Millis, Delivery]] = []
        self._redriven: dict[Delivery, Millis] = {}

    def next_message(self) -> Millis | None:
        return min((at for at, _ in self._visible), default=None)

    def redrive(self, letter: Delivery) -> None:
        self._redriven[letter] = self._clock.now()
        self.send([letter], self._clock.now())

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        self._visible += [(delivery.visible_at, delivery) for delivery in deliveries]
        return super().send(deliveries, now)

    def receive(self, queue: Queue, limit: int, wait: float) -> list[Message]:
        return [self._taken(message) for message in super().receive(queue, limit, wait)]

    def take_for(self, queue: Queue, handlers: Collection[str], limit: int) -> list[Message]:
        return [self._taken(message) for message in super().take_for(queue, handlers, limit)]

    def hand_back(self, message: Message, delay: Millis) -> None:
        self._visible.append((self._clock.now() + delay, message.delivery))
        super().hand_back(message, delay)

    def _taken(self, message: Message) -> Message:
        of_it = [pair for pair in self._visible if pair[1] == message.delivery]
        self._visible.remove(min(of_it, key=itemgetter(0)))
        sent_at = self._redriven.get(message.delivery, message.sent_at)
        return replace(message, sent_at=sent_at)


@dataclass
class Sqlite:
    world: World
    restarts: bool
    halves = False  # a batch is one transaction
    keeps_letters = False
    _letters: list[Delivery] = field(default_factory=list)

    def after_cut(self) -> None:
        if self.restarts:
            self.world.purge()
            self.world.store.port.recover(WAKE_POLICY, self.world.clock.now())

    def next_message(self) -> Millis | None:
        return self._lanes.next_message()

    def sent_to(self) -> set[str]:
        """Returns the ids of the tasks that have a message in a lane. One that a dead thread had
        taken is lost."""
        return {delivery.task_id for _, delivery in self._lanes._visible}

    def ids(self, kind: Rows) -> list[str]:
        with self.world.store.port._database.read() as connection:
            return [row_id for (row_id,) in connection.execute(f"SELECT id FROM {kind}s")]

    def left(self) -> Depth:
        """Returns the depth without messages in flight: those of a dead thread are lost."""
        return replace(_depth(self.world), in_flight=0)

    def letters(self) -> list[str]:
        return []

    def take_letters(self, dead: list[str]) -> None:
        self._letters = [_letter_of(self.world, task_id) for task_id in dead]

    def redrive(self) -> None:
        for letter in self._letters:
            self._lanes.redrive(letter)

    @property
    def _lanes(self) -> RedrivableLanes:
        lanes: Any = self.world.lanes.port
        return lanes  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Aws:
    """The table and queues that all worlds on moto share: creating them takes longer than a
    scenario."""

    dynamodb: Any
    sqs: Any
    table: str
    urls: dict[Queue, str]

    def lane(self, lane: Lane) -> MotoQueue:
        return self._queue(self.urls[Queue(lane)])

    @property
    def dead_letters(self) -> MotoQueue:
        return self._queue(self.dead_letters_url)

    @property
    def dead_letters_url(self) -> str:
        return f"{self.urls[Queue(LANE)]}-dlq"

    def items(self) -> dict[Any, dict[Any, Any]]:
        """Returns the items of the table by partition key and sort key."""
        backend = dynamodb_backends[DEFAULT_ACCOUNT_ID][self.dynamodb.meta.region_name]
        found: Any = backend.tables[self.table].items
        return found  # type: ignore[no-any-return]

    def clear(self) -> None:
        self.items().clear()
        for queue in (*map(self.lane, LANES), self.dead_letters):
            for messages in (queue._messages, queue.pending_messages, queue.deleted_messages):
                messages.clear()

    def _queue(self, url: str) -> MotoQueue:
        region = self.sqs.meta.region_name
        return sqs_backends[DEFAULT_ACCOUNT_ID][region].queues[url.rsplit("/", 1)[-1]]


@dataclass
class Moto:
    world: World
    aws: Aws
    restarts = False
    halves = True
    keeps_letters = True
    _bodies: list[str] = field(default_factory=list)

    def after_cut(self) -> None:
        """Nothing more: the other functions go on."""

    def next_message(self) -> Millis | None:
        messages = [m for lane in LANES for m in self.aws.lane(lane)._messages]
        return min((ceil(max(m.visible_at, m.delayed_until)) for m in messages), default=None)

    def sent_to(self) -> set[str]:
        """Returns the ids of the tasks that have a message in a lane. One that a dead executor had
        taken comes back later than the watch of its task."""
        now = self.world.clock.now()
        messages = [message for lane in LANES for message in self.aws.lane(lane)._messages]
        bodies = [message.body for message in messages if message.visible_at <= now]
        return {read_message("", "", body, UNKNOWN).delivery.task_id for body in bodies}

    def ids(self, kind: Rows) -> list[str]:
        keys = [key for key, rows in self.aws.items().items() for sk in rows if sk.value == kind]
        return [key.value.removeprefix(f"{kind}#") for key in keys]

    def left(self) -> Depth:
        return _depth(self.world)

    def letters(self) -> list[str]:
        bodies = [letter.body for letter in self.aws.dead_letters._messages]
        return [read_message("", "", body, UNKNOWN).delivery.task_id for body in bodies]

    def take_letters(self, dead: list[str]) -> None:
        assert sorted(self.letters()) == sorted(dead)
        sqs, url = self.aws.sqs, self.aws.dead_letters_url
        letters = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
        self._bodies = [letter["Body"] for letter in letters]
        for letter in letters:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=letter["ReceiptHandle"])

    def redrive(self) -> None:
        """Sends the same bodies again, as SQS does."""
        for body in self._bodies:
            self.aws.sqs.send_message(QueueUrl=self.aws.urls[Queue(LANE)], MessageBody=body)


Backend = Sqlite | Moto


@contextmanager
def open_backend(name: str, aws: Aws | None) -> Iterator[Backend]:
    if aws is not None:
        aws.clear()
        mock_random.seed(7)  # ids of messages, which place the returns of dead letters
        with moto_world(aws.dynamodb, aws.sqs, aws.table, aws.urls) as world:
            yield Moto(world, aws)
        return
    with sqlite_world() as world:
        world.empty_lanes = lambda: RedrivableLanes(world.clock)
        world.purge()
        yield Sqlite(world, restarts=name.startswith("restarted"))


def _depth(world: World) -> Depth:
    """Returns the depth of all lanes."""
    depths = [world.lanes.depth(Queue(lane)) for lane in LANES]
    return Depth(
        ready=sum(depth.ready for depth in depths),
        delayed=sum(depth.delayed for depth in depths),
        in_flight=sum(depth.in_flight for depth in depths),
    )


def _letter_of(world: World, task_id: str) -> Delivery:
    """Returns the message of a dead task's last attempt."""
    task = world.task(task_id)
    if task.status is not Status.DEAD or task.current is None:
        raise AssertionError(f"{task_id} is {task.status}: it has no dead letter")
    return replace(delivery_of(task, task.sends), attempt=task.attempt)
