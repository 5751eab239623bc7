"""Where the executor of a long-running process takes messages from."""

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from duetime.core.delivery import Message
from duetime.core.lanes import Lane
from duetime.core.ports import LaneQueue


class LaneSource(Protocol):
    """The messages of one pool that could start, lane by lane. A slot is free before one is taken,
    so the lane is chosen when a task can start, not when its message arrives."""

    polled: Collection[Lane]  # the lanes whose `poll` must be called all the time

    def ready(self, wait: float, limit: int) -> Mapping[Lane, int]:
        """Returns how many messages each lane has, at least if they are fewer than `limit`; waits
        up to `wait` seconds for the first."""
        ...

    def take(self, lane: Lane, limit: int) -> list[Message]: ...

    def poll(self, lane: Lane, wait: float) -> None: ...

    def close(self) -> None:
        """Gives back what was received and not taken."""
        ...


class PolledSource(ABC):
    """Queues that can only be waited for one by one, as those of SQS. A thread for each lane polls
    it, and keeps what it has received at hand until a slot takes it."""

    def __init__(self, queues: LaneQueue, polled: Collection[Lane]) -> None:
        self.polled: Collection[Lane] = tuple(polled)
        self._queues = queues
        self._changed = threading.Condition()
        self._at_hand: dict[Lane, deque[Message]] = {lane: deque() for lane in polled}
        self._closed = False

    def ready(self, wait: float, limit: int) -> Mapping[Lane, int]:  # noqa: ARG002
        with self._changed:
            self._changed.wait_for(lambda: self._closed or any(self._at_hand.values()), wait)
            return {lane: len(messages) for lane, messages in self._at_hand.items() if messages}

    def take(self, lane: Lane, limit: int) -> list[Message]:
        with self._changed:
            at_hand = self._at_hand[lane]
            taken = [at_hand.popleft() for _ in range(min(limit, len(at_hand)))]
            self._changed.notify_all()
            return taken

    @abstractmethod
    def poll(self, lane: Lane, wait: float) -> None:
        """Receives messages of a lane as there is room for them, up to `wait` seconds."""

    def close(self) -> None:
        with self._changed:
            self._closed = True
        for lane in self.polled:
            self._give_back(lane)

    def _wait_for_room(self, lane: Lane, most: int, wait: float) -> bool:
        """Waits until `most` messages of a lane are at hand, or fewer. Returns whether that is so
        and the source is open."""
        at_hand = self._at_hand[lane]
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(at_hand) <= most, wait)
            return not self._closed and len(at_hand) <= most

    def _keep(self, lane: Lane, messages: Sequence[Message]) -> None:
        """Keeps at hand what was received. Gives it back if the source was closed meanwhile."""
        with self._changed:
            self._at_hand[lane].extend(messages)
            closed = self._closed
            self._changed.notify_all()
        if closed:
            self._give_back(lane)

    def _give_back(self, lane: Lane) -> None:
        with self._changed:
            left = list(self._at_hand[lane])
            self._at_hand[lane].clear()
            self._changed.notify_all()
        for message in left:
            self._queues.hand_back(message, 0)
