"""Lanes in memory: the SQLite backend's LaneQueue.

A message becomes visible at its time, to the millisecond. Among the messages that are visible,
fairness keys take turns. A received message stays with its receiver until it is deleted or handed
back. There is no visibility timeout, because the receiver and the lanes live in the same process.
Overdue work, which is paced, has a queue of its own and comes after all fresh work that is ready.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from time import monotonic, time

from duetime.core.delivery import Delivery, Message
from duetime.core.lanes import Lane, Queue, queue_of, queues_of
from duetime.core.ports import Clock, Depth
from duetime.core.times import SECOND, Millis
from duetime.sqlite.handler_queue import HandlerQueue, Handlers

MILLISECOND = 0.001  # in seconds


class MemoryLaneQueue:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._queues: dict[Queue, _MemoryQueue] = defaultdict(_MemoryQueue)
        self.on_change: Callable[[], object] = lambda: None  # called when a message may be ready

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:  # noqa: ARG002
        with self._changed:
            for delivery in deliveries:
                self._queues[delivery.queue].push(delivery, delivery.visible_at)
            self._changed.notify_all()
        self.on_change()
        return [True] * len(deliveries)

    def receive(self, queue: Queue, limit: int, wait: float) -> list[Message]:
        with self._changed:
            if wait:
                self._wait([queue], wait, 1)
            return self._queues[queue].pop(limit, self._clock.now())

    def ready(self, wait: float, limit: int, pool: str | None = None) -> dict[Lane, int]:
        """Returns how many messages of each lane of a pool are visible, or `limit` if there are
        more; waits up to `wait` seconds for the first."""
        with self._changed:
            ready = self._wait(queues_of(pool), wait, limit)
        return {queue.lane: count for queue, count in ready.items()}

    def ready_for(
        self, pool: str | None, lanes: Sequence[Lane], handlers: Handlers, limit: int
    ) -> dict[Lane, int]:
        """As `ready`, for the messages of some handlers, without a wait. It may count messages of
        others that no worker has met yet."""
        with self._changed:
            now = self._clock.now()
            counts = {
                lane: self._queues[queue_of(lane, pool)].ready(now, limit, handlers)
                for lane in lanes
            }
        return {lane: count for lane, count in counts.items() if count}

    def take_for(self, queue: Queue, handlers: Handlers, limit: int) -> list[Message]:
        with self._changed:
            found = self._queues[queue]
            aside = found.aside
            messages = found.pop(limit, self._clock.now(), handlers)
            met = found.aside > aside
        if met:
            self.on_change()  # another worker may have a handler for what this one has put aside
        return messages

    def next_visible_for(
        self, pool: str | None, lanes: Sequence[Lane], handlers: Handlers
    ) -> Millis | None:
        with self._changed:
            times = [self._queues[queue_of(lane, pool)].next_visible(handlers) for lane in lanes]
        return min((at for at in times if at is not None), default=None)

    def delete(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._queues[message.queue].in_flight.pop(message.receipt, None)

    def hand_back(self, message: Message, delay: Millis) -> None:
        with self._changed:
            queue = self._queues[message.queue]
            delivery = queue.in_flight.pop(message.receipt, message.delivery)  # of another runner
            queue.push(delivery, self._clock.now() + delay)
            self._changed.notify_all()
        self.on_change()

    def hold(self, messages: Sequence[Message], span: Millis) -> None:
        """Does nothing: here a message is not received again by itself."""

    def bury(self, messages: Sequence[Message]) -> None:
        """Deletes the messages: dead letters are listed from the tasks, which are already DEAD."""
        self.delete(messages)

    def depth(self, queue: Queue) -> Depth:
        with self._changed:
            return self._queues[queue].depth(self._clock.now())

    def purge(self) -> int:
        """Deletes the messages that no executor has received. Returns how many there were."""
        with self._changed:
            return sum(queue.purge() for queue in self._queues.values())

    def next_visible(self) -> Millis | None:
        """Returns when the next message becomes visible; None if there is none."""
        with self._changed:
            return self._next_visible(list(self._queues))

    def _wait(self, queues: Iterable[Queue], wait: float, limit: int) -> dict[Queue, int]:
        give_up = monotonic() + wait
        while True:
            now = self._clock.now()
            counts = {queue: self._queues[queue].ready(now, limit) for queue in queues}
            ready = {queue: count for queue, count in counts.items() if count}
            left = give_up - monotonic()
            if ready or left <= 0:
                return ready
            if (at := self._next_visible(queues)) is not None:
                # The clock shows whole milliseconds: a part of the first one has passed.
                left = min(left, (at - now) / SECOND - time() % MILLISECOND)
            self._changed.wait(max(left, 0))

    def _next_visible(self, queues: Iterable[Queue]) -> Millis | None:
        times = (self._queues[queue].next_visible() for queue in queues)
        return min((at for at in times if at is not None), default=None)


class _MemoryQueue:
    """One queue. Its caller holds the lock."""

    def __init__(self) -> None:
        self.in_flight: dict[str, Delivery] = {}
        self._fresh = HandlerQueue()
        self._paced = HandlerQueue()
        self._numbers = count(1)

    def push(self, delivery: Delivery, visible_at: Millis) -> None:
        queue = self._paced if delivery.paced else self._fresh
        queue.push(delivery, delivery.group, visible_at)

    @property
    def aside(self) -> int:
        return self._fresh.aside + self._paced.aside

    def pop(self, limit: int, now: Millis, handlers: Handlers = None) -> list[Message]:
        messages: list[Message] = []
        while len(messages) < limit:
            delivery = self._fresh.pop(now, handlers) or self._paced.pop(now, handlers)
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

    def ready(self, now: Millis, limit: int | None = None, handlers: Handlers = None) -> int:
        fresh = self._fresh.ready(now, limit, handlers)
        left = None if limit is None else limit - fresh
        return fresh + self._paced.ready(now, left, handlers)

    def depth(self, now: Millis) -> Depth:
        ready = self.ready(now)
        times = (queue.oldest(now) for queue in (self._fresh, self._paced))
        return Depth(
            ready=ready,
            delayed=len(self._fresh) + len(self._paced) - ready,
            in_flight=len(self.in_flight),
            oldest=min((at for at in times if at is not None), default=None),
        )

    def next_visible(self, handlers: Handlers = None) -> Millis | None:
        times = (queue.next_at(handlers) for queue in (self._fresh, self._paced))
        return min((at for at in times if at is not None), default=None)

    def purge(self) -> int:
        waiting = len(self._fresh) + len(self._paced)
        self._fresh, self._paced = HandlerQueue(), HandlerQueue()
        return waiting
