"""Message acknowledgements: messages are deleted, handed back or buried as dead letters.

A message that could not be acknowledged, because its lane did not answer, is delivered again and
starts nothing, because its token is spent."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from duetime.core.delivery import Message
from duetime.core.errors import Unavailable
from duetime.core.ports import LaneQueue
from duetime.core.times import MINUTE, SECOND, Millis

log = logging.getLogger(__name__)

FIRST_RETRY_DELAY: Millis = 5 * SECOND  # of a message that could not be leased
LONGEST_RETRY_DELAY: Millis = 5 * MINUTE  # when it has failed many times
MAX_DEAD_LETTER_IDS = 10_000

DeadLetterIds = set[tuple[str, str]]  # (token, message id)


class MessageAcks:
    """`dead_letters` are the ids of known dead letters. The queue delivers such a message until
    its receive limit moves it to the dead-letter queue, and the executor need not look its task up
    each time. A redriven message has a new id."""

    def __init__(self, lanes: LaneQueue, dead_letters: DeadLetterIds | None = None) -> None:
        self._lanes = lanes
        self._dead_letters: DeadLetterIds = set() if dead_letters is None else dead_letters

    def delete(self, messages: Sequence[Message]) -> None:
        """A message without a receipt was in no lane: see duetime.executor.new_tasks."""
        received = [message for message in messages if message.receipt]
        if received:
            with _lane_may_fail(received):
                self._lanes.delete(received)

    def bury(self, messages: Sequence[Message]) -> None:
        if not messages:
            return
        if len(self._dead_letters) > MAX_DEAD_LETTER_IDS:
            self._dead_letters.clear()
        self._dead_letters.update(_id(message) for message in messages)
        with _lane_may_fail(messages):
            self._lanes.bury(messages)

    def without_dead_letters(self, messages: Sequence[Message]) -> list[Message]:
        """Bury the known dead letters and return the other messages."""
        dead = [message for message in messages if _id(message) in self._dead_letters]
        self.bury(dead)
        return [message for message in messages if message not in dead]

    def hand_back(self, message: Message, delay: Millis) -> None:
        with _lane_may_fail([message]):
            self._lanes.hand_back(message, delay)

    def hand_back_with_backoff(self, message: Message) -> None:
        """Hand back a message that could not be leased, for longer each time: the queue counts
        its receives, and makes a dead letter of a message that it delivers too often."""
        delay = FIRST_RETRY_DELAY * 2 ** (message.receives - 1)
        self.hand_back(message, min(delay, LONGEST_RETRY_DELAY))

    def hold(self, messages: Sequence[Message], span: Millis) -> bool:
        """Hide messages for longer. Returns whether the lane answered."""
        with _lane_may_fail(messages):
            self._lanes.hold(messages, span)
            return True
        return False


@contextmanager
def _lane_may_fail(messages: Sequence[Message]) -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        ids = [message.delivery.task_id for message in messages]
        fields = {"step": "execute", "task_ids": ids}
        log.warning("message not acknowledged: %s", error, extra=fields)


def _id(message: Message) -> tuple[str, str]:
    """Message ids are unique only within a queue, hence the token."""
    return message.delivery.token, message.message_id
