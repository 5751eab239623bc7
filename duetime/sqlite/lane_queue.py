"""Lanes in memory: the SQLite backend's LaneQueue.

Each lane is a heap ordered by the time at which a message becomes visible, to the millisecond. A
received message stays with its receiver until it is deleted or handed back. There is no
visibility timeout, because the receiver and the lanes live in the same process. Overdue work,
which is paced, has a heap of its own and comes after all fresh work that is ready.
"""

import threading
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import chain, count
from time import monotonic

from duetime.core.delivery import Delivery, Message
from duetime.core.lanes import Lane
from duetime.core.ports import Clock, Depth
from duetime.core.times import SECOND, Millis

Heap = list[tuple[Millis, int, Delivery]]


class MemoryLaneQueue:
    def __init__(self, clock: Clock) -> None:
        self._lanes = {lane: _MemoryLane(clock) for lane in Lane}

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:  # noqa: ARG002
        by_lane: dict[Lane, list[Delivery]] = {}
        for delivery in deliveries:
            by_lane.setdefault(delivery.lane, []).append(delivery)
        for lane, batch in by_lane.items():
            self._lanes[lane].add(batch)
        return [True] * len(deliveries)

    def receive(self, lane: Lane, limit: int, wait: float) -> list[Message]:
        return self._lanes[lane].take(limit, wait)

    def delete(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._lanes[message.delivery.lane].remove(message)

    def hand_back(self, message: Message, delay: Millis) -> None:
        self._lanes[message.delivery.lane].hand_back(message, delay)

    def hold(self, messages: Sequence[Message], span: Millis) -> None:
        """Does nothing: here a message is not received again by itself."""

    def bury(self, messages: Sequence[Message]) -> None:
        """Deletes the messages: dead letters are listed from the tasks, which are already DEAD."""
        self.delete(messages)

    def depth(self, lane: Lane) -> Depth:
        return self._lanes[lane].depth()

    def purge(self) -> int:
        """Deletes the messages that no executor has received. Returns how many there were."""
        return sum(lane.purge() for lane in self._lanes.values())

    def next_visible(self) -> Millis | None:
        """Returns when the next message becomes visible; None if the lanes are empty."""
        times = (lane.next_visible() for lane in self._lanes.values())
        return min((at for at in times if at is not None), default=None)


class _MemoryLane:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._fresh: Heap = []
        self._paced: Heap = []
        self._in_flight: dict[str, Delivery] = {}
        self._numbers = count(1)

    def add(self, deliveries: Sequence[Delivery]) -> None:
        with self._changed:
            for delivery in deliveries:
                self._push(delivery, delivery.visible_at)
            self._changed.notify()

    def take(self, limit: int, wait: float) -> list[Message]:
        give_up = monotonic() + wait
        with self._changed:
            while not (messages := self._pop(limit)):
                left = give_up - monotonic()
                if left <= 0:
                    break
                for heap in (self._fresh, self._paced):
                    if heap:
                        left = min(left, (heap[0][0] - self._clock.now()) / SECOND)
                self._changed.wait(max(left, 0))
            return messages

    def remove(self, message: Message) -> None:
        self._in_flight.pop(message.receipt, None)

    def hand_back(self, message: Message, delay: Millis) -> None:
        with self._changed:
            delivery = self._in_flight.pop(message.receipt)
            self._push(delivery, self._clock.now() + delay)
            self._changed.notify()

    def depth(self) -> Depth:
        with self._changed:
            now = self._clock.now()
            queued = len(self._fresh) + len(self._paced)
            ready = [at for at, _, _ in chain(self._fresh, self._paced) if at <= now]
            return Depth(
                ready=len(ready),
                delayed=queued - len(ready),
                in_flight=len(self._in_flight),
                oldest=min(ready, default=None),
            )

    def purge(self) -> int:
        with self._changed:
            waiting = len(self._fresh) + len(self._paced)
            self._fresh, self._paced = [], []
            return waiting

    def next_visible(self) -> Millis | None:
        with self._changed:
            return min((heap[0][0] for heap in (self._fresh, self._paced) if heap), default=None)

    def _push(self, delivery: Delivery, visible_at: Millis) -> None:
        heap = self._paced if delivery.paced else self._fresh
        heappush(heap, (visible_at, next(self._numbers), delivery))

    def _pop(self, limit: int) -> list[Message]:
        messages = self._pop_from(self._fresh, limit)
        return messages + self._pop_from(self._paced, limit - len(messages))

    def _pop_from(self, heap: Heap, limit: int) -> list[Message]:
        now = self._clock.now()
        messages: list[Message] = []
        while heap and heap[0][0] <= now and len(messages) < limit:
            _, number, delivery = heappop(heap)
            receipt = str(number)
            self._in_flight[receipt] = delivery
            messages.append(
                Message(
                    delivery=delivery,
                    receipt=receipt,
                    message_id=receipt,
                    sent_at=delivery.written_at,
                )
            )
        return messages
