"""Messages, settled: deleted, handed back or buried. One that cannot be settled, because the lane
is not reached, comes again and finds its token spent."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lambdas.core.delivery import Message
from lambdas.core.errors import Unavailable
from lambdas.core.ports import LaneQueue
from lambdas.core.times import MINUTE, SECOND, Millis

log = logging.getLogger(__name__)

SOON: Millis = 5 * SECOND  # when to try again what could not be leased
LATEST: Millis = 5 * MINUTE  # the same, when it has come in vain again and again
LETTERS_KNOWN = 10_000

Letters = set[tuple[str, str]]


class Messages:
    """`letters` are those known to be dead letters; they come again until the queue has enough of
    them, and need not be looked up each time. One that is redriven has another id."""

    def __init__(self, lanes: LaneQueue, letters: Letters | None = None) -> None:
        self._lanes = lanes
        self._letters: Letters = set() if letters is None else letters

    def delete(self, messages: Sequence[Message]) -> None:
        if messages:
            with _lane_not_reached(messages):
                self._lanes.delete(messages)

    def bury(self, messages: Sequence[Message]) -> None:
        if not messages:
            return
        if len(self._letters) > LETTERS_KNOWN:
            self._letters.clear()
        self._letters.update(_letter(message) for message in messages)
        with _lane_not_reached(messages):
            self._lanes.bury(messages)

    def without_letters(self, messages: Sequence[Message]) -> list[Message]:
        """Bury the dead letters among them; the rest."""
        letters = [message for message in messages if _letter(message) in self._letters]
        self.bury(letters)
        return [message for message in messages if message not in letters]

    def hand_back(self, message: Message, delay: Millis) -> None:
        with _lane_not_reached([message]):
            self._lanes.hand_back(message, delay)

    def give_back(self, message: Message) -> None:
        """One that could not be leased. Each time it stays away for longer: a queue counts, and
        takes one that comes too often for a dead letter."""
        self.hand_back(message, min(SOON * 2 ** (message.receives - 1), LATEST))

    def hold(self, messages: Sequence[Message], span: Millis) -> bool:
        """Whether the lane was reached."""
        with _lane_not_reached(messages):
            self._lanes.hold(messages, span)
            return True
        return False


@contextmanager
def _lane_not_reached(messages: Sequence[Message]) -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        ids = [message.delivery.task_id for message in messages]
        log.warning("lane not reached: %s", error, extra={"step": "execute", "task_ids": ids})


def _letter(message: Message) -> tuple[str, str]:
    """Ids of messages are unique in their queue."""
    return message.delivery.token, message.message_id
