"""Where a worker of a pool takes messages from: the queues of its pool.

A message is received only while a slot is free, because every receive counts: a queue moves a
message to its dead-letter queue after ten. Where all lanes have work and few slots are free, a
message may be received and find no slot. It waits for one, hidden, for up to WAITS_FOR; then
another worker may have it.
"""

from collections.abc import Callable, Mapping

from duetime.core.lanes import Lane, Queue
from duetime.core.ports import Clock, LaneQueue
from duetime.core.times import MINUTE, Millis
from duetime.executor.lane_sources import PolledSource

RECEIVE_BATCH = 10
WAITS_FOR: Millis = MINUTE  # less than the queues of a pool hide a message

WaitForSlots = Callable[[float], int]


class QueueSource(PolledSource):
    """`queues` are those of the lanes that the worker serves, `free_slots` waits up to some seconds
    for a free slot and returns how many there are."""

    def __init__(
        self, lanes: LaneQueue, queues: Mapping[Lane, Queue], free_slots: WaitForSlots, clock: Clock
    ) -> None:
        super().__init__(lanes, tuple(queues))
        self._queue_of = queues
        self._free_slots = free_slots
        self._clock = clock
        self._received_at: dict[Lane, Millis] = {}

    def poll(self, lane: Lane, wait: float) -> None:
        """Receives messages of a lane while slots are free."""
        if self._at_hand[lane]:
            self._wait_until_taken(lane, wait)
            return
        free = self._free_slots(wait)
        if not free or self._closed:
            return
        limit = min(max(free // len(self.polled), 1), RECEIVE_BATCH)
        messages = self._queues.receive(self._queue_of[lane], limit, wait)
        self._received_at[lane] = self._clock.monotonic()
        self._keep(lane, messages)

    def _wait_until_taken(self, lane: Lane, wait: float) -> None:
        self._wait_for_room(lane, 0, wait)
        if self._clock.monotonic() - self._received_at[lane] >= WAITS_FOR:
            self._give_back(lane)
            self._free_slots(wait)
