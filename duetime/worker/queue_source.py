"""Where a worker of a pool takes messages from: the queues of its pool.

A message is received only while a slot is free, because every receive counts: a queue moves a
message to its dead-letter queue after ten. Where all lanes have work and few slots are free, a
message may be received and find no slot. It waits for one, hidden, for up to WAITS_FOR; then
another worker may have it.
"""

import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence

from duetime.core.delivery import Message
from duetime.core.lanes import Lane, Queue
from duetime.core.ports import Clock, LaneQueue
from duetime.core.times import MINUTE, Millis

RECEIVE_BATCH = 10
WAITS_FOR: Millis = MINUTE  # less than the queues of a pool hide a message

WaitForSlots = Callable[[float], int]


class QueueSource:
    """`queues` are those of the lanes that the worker serves, `free_slots` waits up to some seconds
    for a free slot and returns how many there are."""

    def __init__(
        self, lanes: LaneQueue, queues: Mapping[Lane, Queue], free_slots: WaitForSlots, clock: Clock
    ) -> None:
        self.polled: Collection[Lane] = tuple(queues)
        self._lanes = lanes
        self._queues = queues
        self._free_slots = free_slots
        self._clock = clock
        self._changed = threading.Condition()
        self._at_hand: dict[Lane, deque[Message]] = {lane: deque() for lane in queues}
        self._received_at: dict[Lane, Millis] = {}
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

    def poll(self, lane: Lane, wait: float) -> None:
        """Receive messages of a lane while slots are free, up to `wait` seconds."""
        if self._at_hand[lane]:
            self._wait_until_taken(lane, wait)
            return
        free = self._free_slots(wait)
        if not free or self._closed:
            return
        limit = min(max(free // len(self._queues), 1), RECEIVE_BATCH)
        messages = self._lanes.receive(self._queues[lane], limit, wait)
        with self._changed:
            closed = self._closed
            if not closed:
                self._at_hand[lane].extend(messages)
                self._received_at[lane] = self._clock.monotonic()
                self._changed.notify_all()
        if closed:
            self._hand_back(messages)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            left = [message for messages in self._at_hand.values() for message in messages]
            for messages in self._at_hand.values():
                messages.clear()
            self._changed.notify_all()
        self._hand_back(left)

    def _wait_until_taken(self, lane: Lane, wait: float) -> None:
        with self._changed:
            at_hand = self._at_hand[lane]
            self._changed.wait_for(lambda: not at_hand, wait)
            if self._clock.monotonic() - self._received_at[lane] < WAITS_FOR:
                return
            left = list(at_hand)
            at_hand.clear()
        self._hand_back(left)
        self._free_slots(wait)

    def _hand_back(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._lanes.hand_back(message, 0)
