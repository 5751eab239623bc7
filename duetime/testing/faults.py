"""Faults that a test asks for: an executor that dies, messages that are lost."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from duetime.core.delivery import Delivery
from duetime.core.target_names import target_name
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.sqlite.lane_queue import MemoryLaneQueue

DiesAt = Literal["start", "end"]


@dataclass
class Kills:
    """The deaths of executors that are still to come: the target of the attempt, and when."""

    planned: list[tuple[str | None, DiesAt]] = field(default_factory=list)

    def take(self, task: Task) -> DiesAt | None:
        """Returns when the executor of this attempt dies; None if it lives."""
        name = target_name(task.spec.target)
        for place, (target, at) in enumerate(self.planned):
            if target in (None, name):
                del self.planned[place]
                return at
        return None


class LossyLanes(MemoryLaneQueue):
    """Lanes that lose the next `to_lose` messages on their way."""

    to_lose = 0

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        lost = min(self.to_lose, len(deliveries))
        self.to_lose -= lost
        super().send(deliveries[lost:], now)
        return [True] * len(deliveries)  # the sender does not notice
