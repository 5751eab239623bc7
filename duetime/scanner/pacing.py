"""pace: when overdue work may reach an executor.

An outage leaves thousands of tasks overdue at once. They are let into their lane one by one,
each at a slot of its own, so that targets see an even trickle and fresh work overtakes them.
Where the slots of a lane ended is kept over ticks: a tick goes on from there, and one that comes
late makes up for nothing. Two ticks of a slice at once, and one that is cut off before it saves,
may double the pace for a minute.
"""

from collections.abc import Mapping
from math import ceil

from lambdas.core.lanes import Lane
from lambdas.core.times import MINUTE, SECOND, Millis
from lambdas.core.wakes import Wake, WakeKind

CATCH_UP = 100  # overdue tasks a second in each lane, unless told otherwise
OVERDUE_AFTER: Millis = MINUTE  # a tick may come a minute late: that is no outage
PACED_AHEAD: Millis = MINUTE  # the next tick hands out the slots after that


def due_at(found: Wake, horizon: Millis) -> Millis:
    """When what a wake is about is to run. A schedule wakes ahead of its next occurrence: it may be
    looked at late, and nothing is overdue yet."""
    return found.at + horizon if found.kind is WakeKind.SCHEDULE else found.at


class Pacer:
    """For one tick: a task that asks again, after a failure in its batch, keeps its slot."""

    def __init__(self, ends: Mapping[str, Millis], *, rate: float, now: Millis) -> None:
        self._rate = rate
        self._now = now
        self._until = now + PACED_AHEAD
        # A clock that once ran ahead must not hold a lane up for longer than a minute.
        self._starts = {lane: min(max(ends.get(lane, 0), now), self._until) for lane in Lane}
        self._slots: dict[Lane, dict[str, Millis]] = {lane: {} for lane in Lane}

    @property
    def slots_a_tick(self) -> float:
        return self._rate * PACED_AHEAD / SECOND

    def overdue(self, at: Millis) -> bool:
        return at < self._now - OVERDUE_AFTER

    def slot(self, lane: Lane, task_id: str) -> Millis | None:
        """When the task may reach an executor; None once the lane's slots are used up."""
        slots = self._slots[lane]
        if task_id not in slots:
            if self.used_up(lane):
                return None
            slots[task_id] = self._next(lane)
        return slots[task_id]

    def used_up(self, lane: Lane) -> bool:
        return self._next(lane) >= self._until

    def ends(self) -> dict[str, Millis]:
        """Where the next tick is to go on, for lanes whose slots reach past now."""
        return {lane.value: end for lane in Lane if (end := self._next(lane)) > self._now}

    def _next(self, lane: Lane) -> Millis:
        return self._starts[lane] + ceil(len(self._slots[lane]) * SECOND / self._rate)
