"""What the lanes in memory do beyond the contract."""

import threading

import pytest

from duetime.core.delivery import delivery_of
from duetime.core.lanes import Lane, Queue
from duetime.core.times import HOUR, SECOND
from duetime.engine.clock import SystemClock
from duetime.sqlite.lane_queue import MemoryLaneQueue
from tests.factories import NOW, SteppedClock, a_sent_task, a_spec


def test_fresh_work_is_taken_before_overdue_work_however_long_that_has_been_ready():
    clock = SteppedClock()
    lanes = MemoryLaneQueue(clock)
    overdue = [a_sent_task(spec=a_spec(run_at=NOW - HOUR)) for _ in range(3)]
    lanes.send([delivery_of(task, NOW, not_before=NOW) for task in overdue], NOW)
    clock.advance(30 * SECOND)
    fresh = a_sent_task(now=clock.now(), spec=a_spec(run_at=clock.now()))
    lanes.send([delivery_of(fresh, clock.now())], clock.now())

    taken = lanes.receive(Queue(Lane.MEDIUM), 2, wait=0)

    assert [message.delivery.task_id for message in taken] == [fresh.id, overdue[0].id]


def test_quiet_tenant_is_served_between_the_tasks_of_a_noisy_one():
    lanes = MemoryLaneQueue(SteppedClock())
    noisy = [a_sent_task(spec=a_spec(run_at=NOW, namespace="noisy")) for _ in range(100)]
    quiet = [a_sent_task(spec=a_spec(run_at=NOW, namespace="quiet")) for _ in range(5)]
    keyed = a_sent_task(spec=a_spec(run_at=NOW, namespace="noisy", fairness_key="vip"))
    lanes.send([delivery_of(task, NOW) for task in (*noisy, *quiet, keyed)], NOW)

    taken = [m.delivery.task_id for m in lanes.receive(Queue(Lane.MEDIUM), 12, wait=0)]

    assert [i for i in taken if i in {t.id for t in quiet}] == [task.id for task in quiet]
    assert keyed.id in taken[:3]
    assert lanes.ready(0, 100) == {Lane.MEDIUM: 94}


def test_lanes_wait_for_the_first_message_of_any():
    lanes = MemoryLaneQueue(SystemClock())
    task = a_sent_task(spec=a_spec(run_at=NOW, priority=Lane.LOW))
    waiting = threading.Thread(target=lambda: seen.append(lanes.ready(60, 100)))
    seen: list[dict[Lane, int]] = []
    waiting.start()

    lanes.send([delivery_of(task, NOW)], NOW)
    waiting.join(60)

    assert seen == [{Lane.LOW: 1}]
    assert lanes.ready(0, 100) == {Lane.LOW: 1}, "nothing is taken"


def test_overdue_work_that_is_handed_back_still_comes_last():
    clock = SteppedClock()
    lanes = MemoryLaneQueue(clock)
    overdue = a_sent_task(spec=a_spec(run_at=NOW - HOUR))
    lanes.send([delivery_of(overdue, NOW, not_before=NOW)], NOW)
    [message] = lanes.receive(Queue(Lane.MEDIUM), 1, wait=0)
    lanes.hand_back(message, 0)
    fresh = a_sent_task(spec=a_spec(run_at=NOW))
    lanes.send([delivery_of(fresh, NOW)], NOW)

    assert lanes.depth(Queue(Lane.MEDIUM)).ready == 2
    assert [m.delivery.task_id for m in lanes.receive(Queue(Lane.MEDIUM), 1, wait=0)] == [fresh.id]


def test_wait_for_a_message_takes_off_the_part_of_a_millisecond_that_has_passed(monkeypatch):
    clock = SteppedClock()
    lanes = MemoryLaneQueue(clock)
    task = a_sent_task(spec=a_spec(run_at=NOW + 20))
    lanes.send([delivery_of(task, NOW)], NOW)
    waits: list[float] = []

    def wait(timeout: float) -> None:
        waits.append(timeout)
        clock.advance(20)

    monkeypatch.setattr(lanes._changed, "wait", wait)
    monkeypatch.setattr("duetime.sqlite.lane_queue.time", lambda: NOW / SECOND + 0.0007)

    assert lanes.ready(60, 1) == {Lane.MEDIUM: 1}
    assert waits == [pytest.approx(0.0193, abs=1e-5)]
