"""Pacing: when overdue work may reach an executor.

An outage leaves thousands of tasks overdue at once. They enter their queue one by one, each at a
slot of its own, so that targets see an even load and fresh work overtakes them. The end of the
slots of a queue is saved between ticks, and the next tick continues from there; a late tick does
not make up for lost slots. Two ticks of a slice at the same time, or a tick that is cut off before
it saves, may double the pace for a minute.
"""

from collections import defaultdict
from collections.abc import Mapping
from math import ceil

from duetime.core.lanes import Queue
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.core.wakes import Wake, WakeKind

CATCH_UP = 100  # overdue tasks a second in each queue, by default
OVERDUE_AFTER: Millis = MINUTE  # a tick may be a minute late without an outage
PACED_AHEAD: Millis = MINUTE  # the next tick assigns the slots after that


def due_at(found: Wake, horizon: Millis) -> Millis:
    """Returns when the work of a wake is due. A schedule wakes a horizon before its next
    occurrence, so nothing is overdue when its wake is a little late."""
    return found.at + horizon if found.kind is WakeKind.SCHEDULE else found.at


class Pacer:
    """Assigns the slots of one tick. A task keeps its slot when its batch fails and is repeated."""

    def __init__(self, ends: Mapping[str, Millis], *, rate: float, now: Millis) -> None:
        self._rate = rate
        self._now = now
        self._until = now + PACED_AHEAD
        # A clock that once ran ahead must not block a queue for longer than a minute.
        self._starts = {queue: min(max(end, now), self._until) for queue, end in ends.items()}
        self._slots: dict[Queue, dict[str, Millis]] = defaultdict(dict)

    @property
    def slots_a_tick(self) -> float:
        return self._rate * PACED_AHEAD / SECOND

    def overdue(self, at: Millis) -> bool:
        return at < self._now - OVERDUE_AFTER

    def slot(self, queue: Queue, task_id: str) -> Millis | None:
        """Returns when the task may reach an executor, or None if the queue has no slot left."""
        slots = self._slots[queue]
        if task_id not in slots:
            if self.used_up(queue):
                return None
            slots[task_id] = self._next(queue)
        return slots[task_id]

    def used_up(self, queue: Queue) -> bool:
        return self._next(queue) >= self._until

    def ends(self) -> dict[str, Millis]:
        """Returns where the next tick continues, for queues whose slots reach past now."""
        used = {**dict.fromkeys(self._starts), **{str(queue): None for queue in self._slots}}
        ends = ((name, self._next(Queue.parse(name))) for name in used)
        return {name: end for name, end in ends if end > self._now}

    def _next(self, queue: Queue) -> Millis:
        start = self._starts.get(str(queue), self._now)
        return start + ceil(len(self._slots[queue]) * SECOND / self._rate)
