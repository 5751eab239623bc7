"""Where the local runner takes messages from: lanes in memory, or queues that must be polled."""

from collections.abc import Collection, Mapping

from duetime.core.delivery import Message
from duetime.core.lanes import Lane, queue_of
from duetime.core.ports import LaneQueue
from duetime.executor.lane_sources import PolledSource
from duetime.sqlite.lane_queue import MemoryLaneQueue

AT_HAND = 10  # messages that are received before a slot is free, in each polled lane


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


class PolledLanes(PolledSource):
    """Keeps a few messages of each lane at hand, so that every lane with work can be seen when a
    slot becomes free. If a message is at hand for longer than its queue hides it, another executor
    may start it first; then its token is spent."""

    def __init__(self, lanes: LaneQueue, pool: str | None = None) -> None:
        super().__init__(lanes, tuple(Lane))
        self._pool = pool

    def poll(self, lane: Lane, wait: float) -> None:
        """Receives more once half of what was at hand is taken."""
        if not self._wait_for_room(lane, AT_HAND // 2, wait):
            return
        room = AT_HAND - len(self._at_hand[lane])
        self._keep(lane, self._queues.receive(queue_of(lane, self._pool), room, wait))
