"""The worlds that are cut, and what a cut means in each.

`embedded`: a part of the runner dies, and takes along the messages that it held.
`restarted`: the runner dies, and with it the lanes; another one opens the file.
`moto`: one function of many dies; its messages come again when their queue shows them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from operator import itemgetter
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.sqs.models import Queue, sqs_backends

from duetime.embedded.lanes import MemoryLanes
from lambdas.aws.messages import ATTRIBUTES, read_message
from lambdas.core.delivery import Delivery, Message, delivery_of
from lambdas.core.lanes import Lane
from lambdas.core.lifecycle import Status
from lambdas.core.ports import Depth
from lambdas.core.times import Millis
from tests.factories import SteppedClock
from tests.world import RULES, World, embedded_world, moto_world

LANE = Lane.MEDIUM

UNKNOWN = dict.fromkeys(ATTRIBUTES, "0")


class RedrivableLanes(MemoryLanes):
    """Lanes in memory have no dead letters. These take back what SQS would have kept as one,
    the way SQS makes it: the same delivery, enqueued anew. And they tell what comes next."""

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

    def receive(self, lane: Lane, limit: int, wait: float) -> list[Message]:
        return [self._taken(message) for message in super().receive(lane, limit, wait)]

    def hand_back(self, message: Message, delay: Millis) -> None:
        self._visible.append((self._clock.now() + delay, message.delivery))
        super().hand_back(message, delay)

    def _taken(self, message: Message) -> Message:
        of_it = [pair for pair in self._visible if pair[1] == message.delivery]
        self._visible.remove(min(of_it, key=itemgetter(0)))
        sent_at = self._redriven.get(message.delivery, message.sent_at)
        return replace(message, sent_at=sent_at)


@dataclass
class Embedded:
    world: World
    restarts: bool
    halves = False  # what is written together is one transaction
    keeps_letters = False
    _letters: list[Delivery] = field(default_factory=list)

    def fall(self) -> None:
        if self.restarts:
            self.world.purge()
            self.world.store._store.recover(RULES, self.world.clock.now())

    def next_message(self) -> Millis | None:
        return self._lanes.next_message()

    def left(self) -> Depth:
        """What a part of the runner held when it died is never seen again."""
        return replace(self.world.lanes.depth(LANE), in_flight=0)

    def letters(self) -> list[str]:
        return []

    def take_letters(self, dead: list[str]) -> None:
        self._letters = [_letter_of(self.world, task_id) for task_id in dead]

    def redrive(self) -> None:
        for letter in self._letters:
            self._lanes.redrive(letter)

    @property
    def _lanes(self) -> RedrivableLanes:
        lanes: Any = self.world.lanes.lanes
        return lanes  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Aws:
    """What all worlds on moto share: making a table and queues takes longer than a life."""

    dynamodb: Any
    sqs: Any
    table: str
    urls: dict[Lane, str]

    @property
    def lane(self) -> Queue:
        return self._queue(self.urls[LANE])

    @property
    def dead_letters(self) -> Queue:
        return self._queue(self.dead_letters_url)

    @property
    def dead_letters_url(self) -> str:
        return f"{self.urls[LANE]}-dlq"

    def clear(self) -> None:
        backend = dynamodb_backends[DEFAULT_ACCOUNT_ID][self.dynamodb.meta.region_name]
        backend.tables[self.table].items.clear()
        for queue in (self.lane, self.dead_letters):
            for messages in (queue._messages, queue.pending_messages, queue.deleted_messages):
                messages.clear()

    def _queue(self, url: str) -> Queue:
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

    def fall(self) -> None:
        """Everybody else lives on."""

    def next_message(self) -> Millis | None:
        messages = self.aws.lane._messages
        return min((ceil(max(m.visible_at, m.delayed_until)) for m in messages), default=None)

    def left(self) -> Depth:
        return self.world.lanes.depth(LANE)

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
        """As SQS moves messages: the same bodies, sent anew."""
        for body in self._bodies:
            self.aws.sqs.send_message(QueueUrl=self.aws.urls[LANE], MessageBody=body)


Backend = Embedded | Moto


@contextmanager
def opened(name: str, aws: Aws | None) -> Iterator[Backend]:
    if aws is not None:
        aws.clear()
        with moto_world(aws.dynamodb, aws.sqs, aws.table, aws.urls) as world:
            yield Moto(world, aws)
        return
    with embedded_world() as world:
        world.empty_lanes = lambda: RedrivableLanes(world.clock)
        world.purge()
        yield Embedded(world, restarts=name == "restarted")


def _letter_of(world: World, task_id: str) -> Delivery:
    """The message of a dead task's last attempt."""
    task = world.task(task_id)
    if task.status is not Status.DEAD or task.current is None:
        raise AssertionError(f"{task_id} is {task.status}: it has no letter")
    return replace(delivery_of(task, task.sends), attempt=task.attempt)
