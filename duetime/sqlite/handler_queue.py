"""A fair queue of deliveries from which workers take only those for their own handlers."""

from collections.abc import Collection, Iterator

from duetime.core.delivery import Delivery
from duetime.core.fair_queue import FairQueue
from duetime.core.times import Millis

Handlers = Collection[str] | None  # None: every delivery, also those without a handler


class HandlerQueue:
    """A delivery that a worker reads and has no handler for is put aside, into a queue for its
    handler. So each delivery is passed over once, and not by every worker that asks. A queue that
    only one executor reads has none aside."""

    def __init__(self) -> None:
        self._first: FairQueue[Delivery] = FairQueue()
        self._aside: dict[str | None, FairQueue[Delivery]] = {}  # by handler; none is empty

    def __len__(self) -> int:
        return len(self._first) + sum(len(queue) for queue in self._aside.values())

    def push(self, delivery: Delivery, group: str, at: Millis) -> None:
        self._first.push(delivery, group, at)

    def pop(self, now: Millis, handlers: Handlers = None) -> Delivery | None:
        """Returns the delivery whose turn it is; None if none is ready. What was put aside came
        earlier."""
        for handler in self._names(handlers) if self._aside else ():
            queue = self._aside[handler]
            delivery = queue.pop(now)
            if not queue:
                del self._aside[handler]
            if delivery is not None:
                return delivery
        while (delivery := self._first.pop(now)) is not None:
            if handlers is None or delivery.handler in handlers:
                return delivery
            aside = self._aside.setdefault(delivery.handler, FairQueue())
            aside.push(delivery, delivery.group, min(delivery.visible_at, now))
        return None

    def ready(self, now: Millis, limit: int | None = None, handlers: Handlers = None) -> int:
        """Returns how many are ready, or `limit` if there are more. With `handlers`, those
        of other handlers count, too, until they are put aside."""
        found = self._first.ready(now, limit)
        for handler in self._names(handlers) if self._aside else ():
            found += self._aside[handler].ready(now, None if limit is None else limit - found)
        return found

    def oldest(self, now: Millis) -> Millis | None:
        times = (queue.oldest(now) for queue in (self._first, *self._aside.values()))
        return min((at for at in times if at is not None), default=None)

    def next_at(self, handlers: Handlers = None) -> Millis | None:
        """Returns when the first is ready, which may have passed; None if there is none."""
        times = [self._first.next_at()]
        times += [self._aside[handler].next_at() for handler in self._names(handlers)]
        return min((at for at in times if at is not None), default=None)

    @property
    def aside(self) -> int:
        """How many were put aside so far and not taken: it grows when a worker passes over some."""
        return sum(len(queue) for queue in self._aside.values())

    def _names(self, handlers: Handlers) -> Iterator[str | None]:
        if handlers is None:
            return iter([*self._aside])
        return iter([handler for handler in self._aside if handler in handlers])
