"""The lanes, as an executor sees them inside a Lambda.

There the event source deletes every message that the function does not name as failed, so a
message is kept by naming it and deleted by saying nothing.
"""

from collections.abc import Sequence

from lambdas.core.delivery import Delivery, Message
from lambdas.core.lanes import Lane
from lambdas.core.ports import Depth, LaneQueue
from lambdas.core.times import Millis


class BatchLanes:
    def __init__(self, lanes: LaneQueue) -> None:
        self._lanes = lanes
        self.kept: list[str] = []

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        return self._lanes.send(deliveries, now)

    def receive(self, lane: Lane, limit: int, wait: float) -> list[Message]:
        return self._lanes.receive(lane, limit, wait)

    def delete(self, messages: Sequence[Message]) -> None:
        """The event source does it."""

    def hand_back(self, message: Message, delay: Millis) -> None:
        self.kept.append(message.message_id)
        self._lanes.hand_back(message, delay)

    def hold(self, messages: Sequence[Message], span: Millis) -> None:
        self._lanes.hold(messages, span)

    def bury(self, messages: Sequence[Message]) -> None:
        self.kept += [message.message_id for message in messages]
        self._lanes.bury(messages)

    def depth(self, lane: Lane) -> Depth:
        return self._lanes.depth(lane)
