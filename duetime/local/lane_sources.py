"""Where the local runner takes messages from: lanes in memory, or queues that must be polled."""

import threading
from collections import deque
from collections.abc import Collection, Mapping
from typing import Protocol

from duetime.core.delivery import Message
from duetime.core.lanes import Lane, queue_of
from duetime.core.ports import LaneQueue
from duetime.sqlite.lane_queue import MemoryLaneQueue

AT_HAND = 10  # messages that are received before a slot is free, in each polled lane


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


class MemoryLanes:
    """Lanes in memory: they say what they have, so nothing is received ahead of its slot."""

    polled: Collection[Lane] = ()

    def __init__(self, lanes: MemoryLaneQueue, pool: str | None = None) -> None:
        self._lanes = lanes
        self._pool = pool

    def ready(self, wait: float, limit: int) -> Mapping[Lane, int]:
        return self._lanes.ready(wait, limit, self._pool)

    def take(self, lane: Lane, limit: int) -> list[Message]:
        return self._lanes.receive(queue_of(lane, self._pool), limit, 0)

    def poll(self, lane: Lane, wait: float) -> None:
        """Does nothing: no lane is polled."""

    def close(self) -> None:
        """Does nothing: every message that was received was taken."""


class PolledLanes:
    """Queues that can only be waited for one by one, as those of SQS. A thread for each lane keeps
    a few messages at hand, so that every lane with work can be seen when a slot becomes free. If a
    message is at hand for longer than its queue hides it, another executor may start it first; then
    its token is spent."""

    polled: Collection[Lane] = tuple(Lane)

    def __init__(self, lanes: LaneQueue, pool: str | None = None) -> None:
        self._lanes = lanes
        self._pool = pool
        self._changed = threading.Condition()
        self._at_hand: dict[Lane, deque[Message]] = {lane: deque() for lane in Lane}
        self._closed = False

    def ready(self, wait: float, limit: int) -> Mapping[Lane, int]:  # noqa: ARG002
        with self._changed:
            self._changed.wait_for(lambda: any(self._at_hand.values()), wait)
            return {lane: len(messages) for lane, messages in self._at_hand.items() if messages}

    def take(self, lane: Lane, limit: int) -> list[Message]:
        with self._changed:
            at_hand = self._at_hand[lane]
            taken = [at_hand.popleft() for _ in range(min(limit, len(at_hand)))]
            self._changed.notify_all()
            return taken

    def poll(self, lane: Lane, wait: float) -> None:
        """Receive more once half of what was at hand is taken, up to `wait` seconds each."""
        with self._changed:
            at_hand = self._at_hand[lane]
            if not self._changed.wait_for(lambda: len(at_hand) <= AT_HAND // 2, wait):
                return
        room = AT_HAND - len(at_hand)
        messages = self._lanes.receive(queue_of(lane, self._pool), room, wait)
        with self._changed:
            at_hand.extend(messages)
            closed = self._closed
            self._changed.notify_all()
        if closed:
            self.close()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            left = [message for messages in self._at_hand.values() for message in messages]
            for messages in self._at_hand.values():
                messages.clear()
        for message in left:
            self._lanes.hand_back(message, 0)
