"""Simulated SQS: messages come at least once, in any order, late, or not at all."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from duetime.aws import message_codec
from duetime.core.delivery import Delivery, Message, dead_letter_delays
from duetime.core.lanes import Queue
from duetime.core.ports import Depth
from duetime.core.times import MINUTE, SECOND, Millis
from tests.simulation.engine import Engine
from tests.simulation.faults import Faults
from tests.simulation.monitor import Monitor
from tests.simulation.network import Network

VISIBILITY: Millis = 15 * MINUTE
MAX_RECEIVES = 5  # a deployment has 10; fewer is harsher, and quicker
AHEAD: Millis = SECOND
ATTRIBUTES = dict.fromkeys(message_codec.ATTRIBUTES, "0")
STUCK_DEPTH = 1_000_000  # messages that the wrong count of a stuck lane adds

Wanted = Callable[[Delivery], bool]


def _all(delivery: Delivery) -> bool:
    return True


@dataclass(slots=True)
class Held:
    """A message in the queue."""

    message_id: str
    delivery: Delivery
    sent_at: Millis
    visible_at: Millis
    receives: int = 0
    receipt: str = ""


class SimulatedSqs:
    def __init__(self, engine: Engine, faults: Faults, monitor: Monitor) -> None:
        self._engine = engine
        self._faults = faults
        self._monitor = monitor
        self._queues: dict[Queue, dict[str, Held]] = defaultdict(dict)
        self._numbers = 0
        self.coming = 0  # accepted, and in the queue a moment later
        self.dead_letters: list[Held] = []
        self.on_sent: Callable[[Millis], object] = lambda at: None

    # the queue

    def put(self, delivery: Delivery, delay: Millis) -> None:
        engine, faults = self._engine, self._faults
        self._monitor.sent(delivery)
        if engine.chance(faults.message_lost):
            self._monitor.lost(delivery, "lost")
            return
        if engine.chance(faults.message_late):
            delay += engine.between(1, 240)
        copies = 2 if engine.chance(faults.message_doubled) else 1
        for _ in range(copies):
            self._add(delivery, engine.now + delay)

    def arrive(self, delivery: Delivery, delay: Millis) -> None:
        self.coming -= 1
        self.put(delivery, delay)

    def take(self, queue: Queue, limit: int, wanted: Wanted = _all) -> list[Message]:
        engine = self._engine
        ready = [m for m in self._queues[queue].values() if m.visible_at <= engine.now]
        ready = [m for m in ready if wanted(m.delivery)]
        engine.random.shuffle(ready)
        return [self._hand_out(queue, held) for held in ready[:limit] if self._may_go_out(held)]

    def remove(self, message: Message) -> None:
        held = self._held(message)
        outdated = held is not None and held.receipt != message.receipt
        if outdated and self._engine.chance(0.5):  # SQS may take an old receipt, or may not
            return
        if held is not None:
            del self._queues[message.queue][held.message_id]

    def hide(self, message: Message, span: Millis) -> None:
        held = self._held(message)
        if held is not None and held.receipt == message.receipt:
            held.visible_at = self._engine.now + span
            self.on_sent(held.visible_at)

    def purge(self, queue: Queue) -> None:
        for held in self._queues[queue].values():
            self._monitor.lost(held.delivery, "purged")
        self._queues[queue].clear()

    def redrive(self, held: Held, *, copies: int = 1) -> None:
        """Enqueues the same body again, as the SQS console does."""
        self.dead_letters.remove(held)
        self._monitor.redriven(held.delivery)
        for _ in range(copies):
            self._add(held.delivery, self._engine.now)

    def next_visible(self, wanted: Wanted = _all) -> Millis | None:
        held = (m for queue in self._queues.values() for m in queue.values())
        return min((m.visible_at for m in held if wanted(m.delivery)), default=None)

    def count_ready(self, queue: Queue, wanted: Wanted) -> int:
        held, now = self._queues[queue].values(), self._engine.now
        return sum(1 for m in held if m.visible_at <= now and wanted(m.delivery))

    def purge_all(self) -> None:
        for queue in list(self._queues):
            self.purge(queue)

    def has_ready(self, queue: Queue) -> bool:
        now = self._engine.now
        return any(m.visible_at <= now for m in self._queues[queue].values())

    def depth(self, queue: Queue) -> Depth:
        now = self._engine.now
        ready = sum(1 for m in self._queues[queue].values() if m.visible_at <= now)
        if queue.lane is self._faults.stuck:
            ready += STUCK_DEPTH
        return Depth(ready=ready, delayed=len(self._queues[queue]) - ready, in_flight=0)

    @property
    def empty(self) -> bool:
        return not self.coming and not any(self._queues.values())

    def has_another(self, message: Message) -> bool:
        """Whether another copy is in the queue, such as the second of two that were redriven. It
        may have taken the slot anew, and frees it."""
        token = message.delivery.token
        return any(
            held.delivery.token == token and held.message_id != message.message_id
            for queue in self._queues.values()
            for held in queue.values()
        )

    def _add(self, delivery: Delivery, visible_at: Millis) -> None:
        self._numbers += 1
        name = f"m{self._numbers}"
        body = message_codec.body_of(delivery)
        read = message_codec.read_message(name, "", body, ATTRIBUTES).delivery
        held = Held(name, read, self._engine.now, visible_at)
        self._queues[delivery.queue][name] = held
        self.on_sent(visible_at)

    def _may_go_out(self, held: Held) -> bool:
        """Moves a message that was received too often to the dead-letter queue."""
        if held.receives < MAX_RECEIVES:
            return True
        del self._queues[held.delivery.queue][held.message_id]
        self.dead_letters.append(held)
        details = (held.message_id, held.delivery.task_id)
        self._engine.trace.add(self._engine.now, "sqs", "to the DLQ", details)
        return False

    def _hand_out(self, queue: Queue, held: Held) -> Message:
        engine = self._engine
        held.receives += 1
        held.receipt = f"{held.message_id}/{held.receives}"
        held.visible_at = engine.now + VISIBILITY
        if engine.chance(self._faults.message_doubled):
            held.visible_at = engine.now + engine.between(0, 20)
        self.on_sent(held.visible_at)
        return Message(
            delivery=held.delivery,
            receipt=held.receipt,
            message_id=held.message_id,
            sent_at=held.sent_at,
            receives=held.receives,
        )

    def _held(self, message: Message) -> Held | None:
        return self._queues[message.queue].get(message.message_id)


class SimulatedLanes:
    """The LaneQueue of one process: every call can fail in every way."""

    def __init__(self, sqs: SimulatedSqs, network: Network, monitor: Monitor) -> None:
        self._sqs = sqs
        self._network = network
        self._process = network.process
        self._faults = network.faults
        self._monitor = monitor

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        return self._network.carry(lambda: self._send_each(deliveries, now))

    def receive(self, queue: Queue, limit: int, wait: float) -> list[Message]:
        return self._network.call(lambda: self._sqs.take(queue, limit))

    def delete(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._process.note("deletes", message.delivery.task_id, message.receipt)
            if not self._sqs.has_another(message):
                self._monitor.limits.deletes(message.delivery)
        self._network.call(lambda: [self._sqs.remove(message) for message in messages])

    def hand_back(self, message: Message, delay: Millis) -> None:
        self._process.note("hands back", message.delivery.task_id, message.receipt, delay)
        self._network.call(lambda: self._sqs.hide(message, delay))

    def hold(self, messages: Sequence[Message], span: Millis) -> None:
        self._network.call(lambda: [self._sqs.hide(message, span) for message in messages])

    def bury(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._process.note("buries", message.delivery.task_id, message.receipt)
        spans = dead_letter_delays(messages)
        self._network.call(
            lambda: [self._sqs.hide(m, s) for m, s in zip(messages, spans, strict=True)]
        )

    def depth(self, queue: Queue) -> Depth:
        return self._network.call(lambda: self._sqs.depth(queue))

    def _send_each(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        """Sends like SendMessageBatch: single entries fail, or the whole call, made or not."""
        engine, faults = self._process.engine, self._faults
        throttled = engine.chance(faults.unanswered)
        answer_lost = engine.chance(faults.answer_lost)
        return [self._send(d, now, throttled, answer_lost) for d in deliveries]

    def _send(self, delivery: Delivery, now: Millis, throttled: bool, answer_lost: bool) -> bool:
        engine, faults = self._process.engine, self._faults
        refused = throttled or engine.chance(faults.refused_entry)
        fate = "send refused" if refused else "send unknown" if answer_lost else "sends"
        self._process.note(fate, delivery.task_id, delivery.token, delivery.written_at)
        self._monitor.limits.sent(self._process, delivery)
        if refused or answer_lost:
            self._monitor.refused(self._process, delivery)
        if not refused:
            delay = max((delivery.visible_at - now - AHEAD) // SECOND * SECOND, 0)
            late = engine.between(0, 5) if engine.chance(faults.late) else 0
            self._sqs.coming += 1
            engine.after(late, lambda: self._sqs.arrive(delivery, delay))
        return not refused and not answer_lost
