"""Lanes in memory: the SQLite backend's LaneQueue.

A message becomes visible at its time, to the millisecond. Among the messages that are visible,
fairness keys take turns. A received message stays with its receiver until it is deleted or handed
back. There is no visibility timeout, because the receiver and the lanes live in the same process.
Overdue work, which is paced, has a queue of its own and comes after all fresh work that is ready.
"""

import threading
from collections.abc import Iterable, Sequence
from itertools import count
from time import monotonic

from duetime.core.delivery import Delivery, Message
from duetime.core.fair_queue import FairQueue
from duetime.core.lanes import Lane
from duetime.core.ports import Clock, Depth
from duetime.core.times import SECOND, Millis


class MemoryLaneQueue:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._lanes = {lane: _MemoryLane() for lane in Lane}

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:  # noqa: ARG002
        with self._changed:
            for delivery in deliveries:
                self._lanes[delivery.lane].push(delivery, delivery.visible_at)
            self._changed.notify_all()
        return [True] * len(deliveries)

    def receive(self, lane: Lane, limit: int, wait: float) -> list[Message]:
        with self._changed:
            if wait:
                self._wait([lane], wait, 1)
            return self._lanes[lane].pop(limit, self._clock.now())

    def ready(self, wait: float, limit: int) -> dict[Lane, int]:
        """Returns how many messages of each lane are visible, or `limit` if there are more; waits
        up to `wait` seconds for the first."""
        with self._changed:
            return self._wait(Lane, wait, limit)

    def delete(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._lanes[message.delivery.lane].in_flight.pop(message.receipt, None)

    def hand_back(self, message: Message, delay: Millis) -> None:
        with self._changed:
            lane = self._lanes[message.delivery.lane]
            lane.push(lane.in_flight.pop(message.receipt), self._clock.now() + delay)
            self._changed.notify_all()

    def hold(self, messages: Sequence[Message], span: Millis) -> None:
        """Does nothing: here a message is not received again by itself."""

    def bury(self, messages: Sequence[Message]) -> None:
        """Deletes the messages: dead letters are listed from the tasks, which are already DEAD."""
        self.delete(messages)

    def depth(self, lane: Lane) -> Depth:
        with self._changed:
            return self._lanes[lane].depth(self._clock.now())

    def purge(self) -> int:
        """Deletes the messages that no executor has received. Returns how many there were."""
        with self._changed:
            return sum(lane.purge() for lane in self._lanes.values())

    def next_visible(self) -> Millis | None:
        """Returns when the next message becomes visible; None if the lanes are empty."""
        with self._changed:
            return self._next_visible(Lane)

    def _wait(self, lanes: Iterable[Lane], wait: float, limit: int) -> dict[Lane, int]:
        give_up = monotonic() + wait
        while True:
            now = self._clock.now()
            counts = {lane: self._lanes[lane].ready(now, limit) for lane in lanes}
            ready = {lane: count for lane, count in counts.items() if count}
            left = give_up - monotonic()
            if ready or left <= 0:
                return ready
            if (at := self._next_visible(lanes)) is not None:
                left = min(left, (at - now) / SECOND)
            self._changed.wait(max(left, 0))

    def _next_visible(self, lanes: Iterable[Lane]) -> Millis | None:
        times = (self._lanes[lane].next_visible() for lane in lanes)
        return min((at for at in times if at is not None), default=None)


class _MemoryLane:
    """One lane. Its caller holds the lock."""

    def __init__(self) -> None:
        self.in_flight: dict[str, Delivery] = {}
        self._fresh: FairQueue[Delivery] = FairQueue()
        self._paced: FairQueue[Delivery] = FairQueue()
        self._numbers = count(1)

    def push(self, delivery: Delivery, visible_at: Millis) -> None:
        queue = self._paced if delivery.paced else self._fresh
        queue.push(delivery, delivery.group, visible_at)

    def pop(self, limit: int, now: Millis) -> list[Message]:
        messages: list[Message] = []
        while len(messages) < limit:
            delivery = self._fresh.pop(now) or self._paced.pop(now)
            if delivery is None:
                break
            receipt = str(next(self._numbers))
            self.in_flight[receipt] = delivery
            messages.append(
                Message(
                    delivery=delivery,
                    receipt=receipt,
                    message_id=receipt,
                    sent_at=delivery.written_at,
                )
            )
        return messages

    def ready(self, now: Millis, limit: int | None = None) -> int:
        fresh = self._fresh.ready(now, limit)
        return fresh + self._paced.ready(now, None if limit is None else limit - fresh)

    def depth(self, now: Millis) -> Depth:
        ready = self.ready(now)
        times = (queue.oldest(now) for queue in (self._fresh, self._paced))
        return Depth(
            ready=ready,
            delayed=len(self._fresh) + len(self._paced) - ready,
            in_flight=len(self.in_flight),
            oldest=min((at for at in times if at is not None), default=None),
        )

    def next_visible(self) -> Millis | None:
        times = (queue.next_at() for queue in (self._fresh, self._paced))
        return min((at for at in times if at is not None), default=None)

    def purge(self) -> int:
        waiting = len(self._fresh) + len(self._paced)
        self._fresh, self._paced = FairQueue(), FairQueue()
        return waiting
