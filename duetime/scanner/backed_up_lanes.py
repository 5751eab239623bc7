"""Which lanes have more ready messages than their executors soon take."""

from collections import Counter
from collections.abc import Mapping
from math import ceil

from duetime.core.lanes import Lane, Queue
from duetime.core.ports import LaneQueue

BACKED_UP = 1_000  # a lane with fewer ready messages never counts as backed up
TAKEN_PER_MINUTE = 10 * 60  # messages by one executor: batches of ten that take about a second
TICKS_BEFORE_TRICKLE = 5  # ticks in a row that add no overdue task to a backed-up lane
TRICKLE = 0.1  # the share of the pace that enters the lane after that
NO_LIMITS: Mapping[Lane, int] = {}


class BackedUpLanes:
    """The queues during one tick. The depth of each is read once, and only when needed.

    Args:
        lanes: The queues.
        executors: How many executors of each lane run at the same time, where that is known.
        before: For how many ticks in a row each queue was backed up before this one."""

    def __init__(
        self,
        lanes: LaneQueue,
        executors: Mapping[Lane, int] = NO_LIMITS,
        before: Mapping[str, int] | None = None,
    ) -> None:
        self._lanes = lanes
        self._executors = executors
        self._before = before or {}
        self._ready: dict[Queue, int] = {}
        self._refused: Counter[Queue] = Counter()

    def __contains__(self, queue: Queue) -> bool:
        if queue not in self._ready:
            self._ready[queue] = self._lanes.depth(queue).ready
        at_once = self._executors.get(queue.lane, 0) if queue.pool is None else 0
        return self._ready[queue] > max(BACKED_UP, at_once * TAKEN_PER_MINUTE)

    def admit(self, queue: Queue, pace: float) -> bool:
        """Whether one more overdue task may enter a queue, whose pace is `pace` tasks a tick. A
        queue that is backed up gets none. After some ticks it gets a trickle: the count of SQS
        lags, and a wrong count must not hold work back for ever."""
        if queue not in self:
            return True
        self._refused[queue] += 1
        return self._refused[queue] <= self._trickle(queue, pace)

    def after_tick(self) -> dict[str, int]:
        """Returns `before` of the next tick: the queues that had overdue work, and no room for
        it."""
        names = map(str, self._refused)
        return {name: self._before.get(name, 0) + 1 for name in names}

    def _trickle(self, queue: Queue, pace: float) -> int:
        """Returns how many overdue tasks this tick adds to a queue that is backed up."""
        patient = self._before.get(str(queue), 0) < TICKS_BEFORE_TRICKLE
        return 0 if patient else ceil(pace * TRICKLE)
