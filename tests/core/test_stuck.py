"""Why a task is past its time."""

from typing import Any

import pytest
from hypothesis import given

from duetime.core.lifecycle import TO_START, Status
from duetime.core.stuck import PAST, LaneCondition, Why, why_stuck
from duetime.core.task import ORDERING_KEY, Task
from duetime.core.times import HOUR, MINUTE, SECOND, Millis
from duetime.core.value import replace
from duetime.core.wakes import WakeKind
from tests.factories import NOW, WAKE_POLICY, a_running_task, a_spec, a_task
from tests.strategies import moments, tasks

IDLE = LaneCondition(paced=False, ready=0, in_flight=0)
BUSY = LaneCondition(paced=False, ready=3, in_flight=2)
UNSERVED = LaneCondition(paced=False, ready=3, in_flight=0)
PACED = LaneCondition(paced=True, ready=3, in_flight=2)
LATE = NOW + 2 * MINUTE


def a_due_task(kind: WakeKind, wake_at: Millis = NOW, **fields: Any) -> Task:
    task = a_task(spec=a_spec(run_at=NOW), now=NOW - HOUR)
    wake = WAKE_POLICY.wake(kind, task.id, task.lane, wake_at, now=NOW)
    return replace(task, wake=wake, **fields)


UNSENT = a_due_task(WakeKind.DISPATCH)
SENT = a_due_task(WakeKind.WATCH, NOW + 3 * MINUTE, status=Status.ENQUEUED)


@pytest.mark.parametrize(
    ("task", "lane", "why"),
    [
        (UNSENT, IDLE, Why.NOT_CLAIMED),
        (UNSENT, BUSY, Why.NOT_CLAIMED),
        (replace(UNSENT, status=Status.RETRYING), IDLE, Why.NOT_CLAIMED),
        (UNSENT, PACED, Why.HELD_BACK),
        (a_due_task(WakeKind.DISPATCH, NOW + HOUR), PACED, Why.SET_ASIDE),
        (SENT, IDLE, Why.NOT_TAKEN),
        (SENT, BUSY, Why.QUEUED_BEHIND),
        (SENT, UNSERVED, Why.NO_WORKER),
        (SENT, PACED, Why.HELD_BACK),
        (replace(SENT, held=0), BUSY, Why.LIMIT),
        (replace(SENT, held=ORDERING_KEY), IDLE, Why.QUEUED_BEHIND),
        (replace(UNSENT, wake=None), IDLE, Why.NOT_TAKEN),
    ],
)
def test_task_past_its_due_time_says_why(task: Task, lane: LaneCondition, why: Why):
    stuck = why_stuck(task, lane, now=LATE)

    assert stuck is not None
    assert (stuck.why, stuck.since) == (why, NOW)


def test_attempt_whose_lease_has_run_out_is_stuck_since_then():
    task = a_running_task()
    assert task.lease_until is not None

    assert why_stuck(task, IDLE, now=task.lease_until + PAST - 1) is None
    stuck = why_stuck(task, IDLE, now=task.lease_until + PAST)

    assert stuck is not None
    assert (stuck.why, stuck.since) == (Why.LEASE_RUN_OUT, task.lease_until)


@given(tasks(), moments)
def test_only_a_task_past_its_time_is_stuck(task: Task, now: Millis):
    stuck = why_stuck(task, BUSY, now=now)

    if task.status in TO_START:
        assert (stuck is not None) is (task.due_at <= now - MINUTE)
    elif task.status is not Status.RUNNING:
        assert stuck is None
    assert stuck is None or stuck.since <= now - 60 * SECOND
