"""The lanes during one invocation of an executor that answers with its failed messages."""

import logging
from collections.abc import Collection, Sequence

from duetime.core.delivery import Delivery, Message
from duetime.core.lanes import Lane
from duetime.core.ports import Depth, LaneQueue
from duetime.core.times import Millis

log = logging.getLogger(__name__)


class BatchLanes:
    """Collects the ids of the messages that SQS must keep, in `kept`.

    `own` are the lanes that the messages of the invocation came from."""

    def __init__(self, lanes: LaneQueue, own: Collection[Lane]) -> None:
        self._lanes = lanes
        self._own = own
        self.kept: list[str] = []

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        """Refuses a delivery for another lane, which occurs when a message was redriven into the
        wrong queue. The caller then releases the task, and the scanner sends it to its lane."""
        own = [delivery for delivery in deliveries if delivery.lane in self._own]
        if len(own) < len(deliveries):
            ids = [d.task_id for d in deliveries if d.lane not in self._own]
            fields = {"step": "enqueue", "task_ids": ids}
            log.info("delivery left to the scanner: another lane", extra=fields)
        sent = iter(self._lanes.send(own, now) if own else ())
        return [delivery.lane in self._own and next(sent) for delivery in deliveries]

    def receive(self, lane: Lane, limit: int, wait: float) -> list[Message]:
        return self._lanes.receive(lane, limit, wait)

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

    def depth(self, lane: Lane) -> Depth:
        return self._lanes.depth(lane)
