"""The lanes during one invocation of an executor that answers with its failed messages."""

from collections.abc import Sequence

from duetime.core.delivery import Delivery, Message
from duetime.core.lanes import Queue
from duetime.core.ports import Depth, LaneQueue
from duetime.core.times import Millis


class BatchLanes:
    """Collects the ids of the messages that SQS must keep, in `kept`."""

    def __init__(self, lanes: LaneQueue) -> None:
        self._lanes = lanes
        self.kept: list[str] = []

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        """To any lane: a handler may submit to another one than its own."""
        return self._lanes.send(deliveries, now)

    def receive(self, queue: Queue, limit: int, wait: float) -> list[Message]:
        return self._lanes.receive(queue, limit, wait)

    def delete(self, messages: Sequence[Message]) -> None:
        """Does nothing: the event source deletes every message that the answer does not name."""

    def hand_back(self, message: Message, delay: Millis) -> None:
        self.kept.append(message.message_id)
        self._lanes.hand_back(message, delay)

    def hold(self, messages: Sequence[Message], span: Millis) -> None:
        self._lanes.hold(messages, span)

    def bury(self, messages: Sequence[Message]) -> None:
        self.kept += [message.message_id for message in messages]
        self._lanes.bury(messages)

    def depth(self, queue: Queue) -> Depth:
        return self._lanes.depth(queue)
