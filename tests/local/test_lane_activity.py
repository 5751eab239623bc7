"""What the runner knows about its lanes."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

from duetime.api.lanes import LaneActivity
from duetime.core.delivery import delivery_of
from duetime.core.lanes import Lane, Queue
from duetime.core.limits.slots import Line, Place
from duetime.core.shares import Weights
from duetime.local.lane_activity import CountedLanes, LaneCounts, LastMinute
from duetime.local.options import LocalOptions
from duetime.local.roles import tick_interval
from duetime.scanner.report import TickReport
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import NOW, SteppedClock, a_running_task, a_sent_task, a_spec
from tests.faulty_ports import FaultyLanes


class Time:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def of_lane(lane: Lane, **fields: Any):
    return a_sent_task(spec=a_spec(run_at=NOW, priority=lane), **fields)


def test_last_minute_forgets_what_is_older():
    time = Time()
    count = LastMinute(time)
    count.add(5)
    time.now += 30
    count.add(2)
    assert count.total() == 7

    time.now += 29.9
    assert count.total() == 7
    time.now += 0.1
    assert count.total() == 2
    time.now += 1_000
    assert count.total() == 0
    count.add(1)
    assert count.total() == 1


def test_counts_are_kept_by_lane():
    counts = LaneCounts()
    lanes = FaultyLanes(MemoryLaneQueue(SteppedClock()))
    counted = CountedLanes(lanes, counts)
    low = [delivery_of(of_lane(Lane.LOW), NOW) for _ in range(3)]
    counted.send(low, NOW)
    lanes.fate = "refused"
    counted.send(low, NOW)
    counts.started([SimpleNamespace(message=SimpleNamespace(queue=Queue(Lane.HIGH)))] * 4)
    for _ in range(2):
        counts.ticked(TickReport(promoted=Counter({Queue(Lane.LOW): 5})))

    known = counts.activity(
        Weights(), Counter({Queue(Lane.HIGH): 2}), Counter({Queue(Lane.LOW): 9})
    )

    assert known[Queue(Lane.HIGH)] == LaneActivity(
        weight=60, running=2, in_per_minute=0, out_per_minute=4, promoted=0, waiting=0
    )
    assert known[Queue(Lane.LOW)] == LaneActivity(
        weight=10, running=0, in_per_minute=3, out_per_minute=0, promoted=10, waiting=9
    )
    assert counts.activity(Weights(), Counter(), None)[Queue(Lane.LOW)].waiting is None


def test_tasks_that_wait_for_a_limit_are_counted_by_lane():
    store = SqliteTaskStore(None)
    tasks = [
        of_lane(Lane.LOW, held=0),
        of_lane(Lane.LOW, held=-1),
        of_lane(Lane.HIGH, held=1),
        of_lane(Lane.MEDIUM),  # its turn has not come, and it is not due
        a_running_task(held=0),
    ]
    store.put(tasks)
    line = Line(namespace="default", limit="stripe", key="")
    store.slots().join([(line, Place(position=t.due_at, task_id=t.id)) for t in tasks])

    assert store.waiting() == Counter({Queue(Lane.LOW): 2, Queue(Lane.HIGH): 1})
    store.close()


def test_short_age_makes_the_scanner_tick_more_often():
    assert tick_interval(LocalOptions()) == 60
    assert tick_interval(LocalOptions(age_after=5)) == 1
    assert tick_interval(LocalOptions(age_after=1)) == 0.5
    assert tick_interval(LocalOptions(age_after=5, tick=0.1)) == 0.1
    assert tick_interval(LocalOptions(age_after=0)) == 60
