"""Pacing: when overdue work may reach an executor.

An outage leaves thousands of tasks overdue at once. They enter their lane one by one, each at a
slot of its own, so that targets see an even load and fresh work overtakes them. The end of a lane's
slots is saved between ticks, and the next tick continues from there; a late tick does not make up
for lost slots. Two ticks of a slice at the same time, or a tick that is cut off before it saves,
may double the pace for a minute.
"""

from collections.abc import Mapping
from math import ceil

from duetime.core.lanes import Lane
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.core.wakes import Wake, WakeKind

CATCH_UP = 100  # overdue tasks a second in each lane, by default
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
        # A clock that once ran ahead must not block a lane for longer than a minute.
        self._starts = {lane: min(max(ends.get(lane, 0), now), self._until) for lane in Lane}
        self._slots: dict[Lane, dict[str, Millis]] = {lane: {} for lane in Lane}

    @property
    def slots_a_tick(self) -> float:
        return self._rate * PACED_AHEAD / SECOND

    def overdue(self, at: Millis) -> bool:
        return at < self._now - OVERDUE_AFTER

    def slot(self, lane: Lane, task_id: str) -> Millis | None:
        """Returns when the task may reach an executor, or None if the lane has no slot left."""
        slots = self._slots[lane]
        if task_id not in slots:
            if self.used_up(lane):
                return None
            slots[task_id] = self._next(lane)
        return slots[task_id]

    def used_up(self, lane: Lane) -> bool:
        return self._next(lane) >= self._until

    def ends(self) -> dict[str, Millis]:
        """Returns where the next tick continues, for lanes whose slots reach past now."""
        return {lane.value: end for lane in Lane if (end := self._next(lane)) > self._now}

    def _next(self, lane: Lane) -> Millis:
        return self._starts[lane] + ceil(len(self._slots[lane]) * SECOND / self._rate)
