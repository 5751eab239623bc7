"""What the local runner knows about its lanes, for GET /v1/lanes."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from time import monotonic

from duetime.api.lanes import LaneActivity
from duetime.core.delivery import Delivery, Message
from duetime.core.lanes import Queue, queues_of
from duetime.core.ports import Depth, LaneQueue
from duetime.core.shares import Weights
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.executor.runs import Run
from duetime.scanner.report import TickReport

MINUTE = 60  # seconds


class LastMinute:
    """Counts events of the last 60 seconds, in steps of a second."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counts = [0] * MINUTE  # by second, round and round
        self._second = int(clock())

    def add(self, count: int) -> None:
        with self._lock:
            self._move_on()
            self._counts[self._second % MINUTE] += count

    def total(self) -> int:
        with self._lock:
            self._move_on()
            return sum(self._counts)

    def _move_on(self) -> None:
        now = int(self._clock())
        for second in range(max(self._second, now - MINUTE) + 1, now + 1):
            self._counts[second % MINUTE] = 0
        self._second = max(self._second, now)


class LaneCounts:
    """Counts what enters and leaves the lanes of this runner, from any thread."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._entered: dict[Queue, LastMinute] = defaultdict(lambda: LastMinute(clock))
        self._left: dict[Queue, LastMinute] = defaultdict(lambda: LastMinute(clock))
        self._promoted: Counter[Queue] = Counter()  # since the start; written by the tick alone

    def sent(self, deliveries: Sequence[Delivery | Task]) -> None:
        """Counts deliveries, or tasks that have started without one."""
        for queue, count in Counter(delivery.queue for delivery in deliveries).items():
            self._entered[queue].add(count)

    def started(self, runs: Sequence[Run]) -> None:
        for queue, count in Counter(run.message.queue for run in runs).items():
            self._left[queue].add(count)

    def ticked(self, report: TickReport) -> None:
        self._promoted += report.promoted

    def activity(
        self,
        weights: Weights,
        running: Counter[Queue],
        waiting: Counter[Queue] | None,
        pools: Iterable[str] = (),
    ) -> dict[Queue, LaneActivity]:
        """Returns the activity of each lane.

        Args:
            weights: Of the lanes.
            running: How many attempts of each queue run now.
            waiting: How many tasks of each queue wait for a limit; None if that is not known.
            pools: The pools beside the lanes of tasks without one."""
        return {
            queue: LaneActivity(
                weight=weights.of(queue.lane),
                running=running[queue],
                in_per_minute=self._entered[queue].total(),
                out_per_minute=self._left[queue].total(),
                promoted=self._promoted[queue],
                waiting=None if waiting is None else waiting[queue],
            )
            for pool in (None, *pools)
            for queue in queues_of(pool)
        }


class CountedLanes:
    """The lanes, with a count of what is sent to them."""

    def __init__(self, lanes: LaneQueue, counts: LaneCounts) -> None:
        self._lanes = lanes
        self._counts = counts

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        sent = self._lanes.send(deliveries, now)
        pairs = zip(deliveries, sent, strict=True)
        self._counts.sent([delivery for delivery, accepted in pairs if accepted])
        return sent

    def receive(self, queue: Queue, limit: int, wait: float) -> list[Message]:
        return self._lanes.receive(queue, limit, wait)

    def delete(self, messages: Sequence[Message]) -> None:
        self._lanes.delete(messages)

    def hand_back(self, message: Message, delay: Millis) -> None:
        self._lanes.hand_back(message, delay)

    def hold(self, messages: Sequence[Message], span: Millis) -> None:
        self._lanes.hold(messages, span)

    def bury(self, messages: Sequence[Message]) -> None:
        self._lanes.bury(messages)

    def depth(self, queue: Queue) -> Depth:
        return self._lanes.depth(queue)
