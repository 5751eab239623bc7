"""Conditional changes: every field of a condition, and refused changes."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.core.change import Applied, Change, Expect, Refused
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.ports import TaskStore
from duetime.core.steps.cancel import request_cancel
from duetime.core.steps.lease import renew
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND
from duetime.core.wake_policy import WakePolicy
from tests.factories import NOW, WAKE_POLICY, a_running_task, a_sent_task, a_spec, a_task, an_id


def a_change(task: Task, **expected: Any) -> Change:
    """A change that every status but a finished one allows."""
    statuses = expected.pop("statuses", sources(Step.WATCH))
    expect = Expect(statuses=statuses, **expected)
    return Change(step=Step.WATCH, task_id=task.id, expect=expect, sets={"sends": 9})


def holding(task: Task) -> dict[str, dict[str, Any]]:
    return {
        "statuses": {"statuses": frozenset({Status.RUNNING, Status.PENDING})},
        "token": {"token": task.token},
        "wake": {"wake": task.wake},
        "holder": {"holder": task.holder},
        "attempt": {"attempt": task.attempt},
        "lease_until": {"lease_until": task.lease_until},
        "all": {
            "token": task.token,
            "wake": task.wake,
            "holder": task.holder,
            "attempt": task.attempt,
            "lease_until": task.lease_until,
            "unexpired_at": NOW,
        },
    }


def failing(task: Task) -> dict[str, dict[str, Any]]:
    wake = task.wake
    assert wake is not None
    return {
        "statuses": {"statuses": frozenset({Status.ENQUEUED, Status.PENDING})},
        "no status": {"statuses": frozenset()},
        "token": {"token": "0000000000000-other"},
        "wake bucket": {"wake": replace(wake, bucket="20200101T0000#00")},
        "wake time": {"wake": replace(wake, at=wake.at + 1)},
        "holder": {"holder": "other"},
        "attempt": {"attempt": task.attempt + 1},
        "attempt zero": {"attempt": 0},
        "lease_until": {"lease_until": NOW},
    }


CASES = a_running_task()


@pytest.mark.parametrize("case", holding(CASES))
def test_a_change_that_holds_is_made(store: TaskStore, case: str):
    task = a_running_task()
    store.put([task])
    change = a_change(task, **holding(task)[case])

    assert store.apply([change]) == [Applied(change.applied_to(task))]
    assert store.get([task.id]) == {task.id: change.applied_to(task)}


@pytest.mark.parametrize("case", failing(CASES))
def test_a_change_that_does_not_hold_is_refused(store: TaskStore, case: str):
    task = a_running_task()
    store.put([task])

    assert store.apply([a_change(task, **failing(task)[case])]) == [Refused(task)]
    assert store.get([task.id]) == {task.id: task}


@pytest.mark.parametrize("field", ["wake", "holder", "lease_until"])
def test_an_absent_attribute_equals_no_value(store: TaskStore, field: str):
    task = a_task(wake=None)
    store.put([task])
    expected = {field: getattr(a_running_task(), field)}

    assert store.apply([a_change(task, **expected)]) == [Refused(task)]


@pytest.mark.parametrize(
    ("expires_in", "attempt", "holds"),
    [
        (None, 0, True),
        (1, 0, True),
        (0, 0, False),
        (-1, 0, False),
        (-1, 1, True),  # a task that has started does not expire
    ],
)
def test_a_change_that_expects_an_unexpired_task(
    store: TaskStore, expires_in: int | None, attempt: int, holds: bool
):
    expires_at = None if expires_in is None else NOW + expires_in
    task = a_sent_task(spec=a_spec(run_at=NOW, expires_at=expires_at), attempt=attempt)
    store.put([task])

    [answer] = store.apply([a_change(task, unexpired_at=NOW)])

    assert isinstance(answer, Applied) is holds


def test_a_change_of_a_missing_task_is_refused(store: TaskStore):
    assert store.apply([a_change(a_task(id=an_id()))]) == [Refused(None)]


def test_changes_are_answered_each_alone_and_in_order(store: TaskStore):
    tasks = [a_task() for _ in range(6)]
    store.put(tasks)
    changes = [a_change(task, attempt=number % 2) for number, task in enumerate(tasks)]

    answers = store.apply(changes)

    expected = [
        Refused(task) if number % 2 else Applied(change.applied_to(task))
        for number, (task, change) in enumerate(zip(tasks, changes, strict=True))
    ]
    assert answers == expected


def test_a_repeated_change_is_applied(store: TaskStore):
    task = a_running_task()
    store.put([task])
    moved = WakePolicy(shards=2).wake(
        task.wake.kind, task.id, task.lane, task.wake.at + SECOND, now=NOW
    )
    change = replace(a_change(task, wake=task.wake), sets={"wake": moved})
    after = change.applied_to(task)

    assert store.apply([change]) == [Applied(after)]
    assert store.apply([change]) == [Applied(after)]


def test_a_repeated_change_is_applied_after_a_request_to_cancel(store: TaskStore):
    task = a_running_task()
    store.put([task])
    change = Change(
        step=Step.WATCH,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.WATCH), wake=task.wake),
        sets={
            "wake": WAKE_POLICY.wake(task.wake.kind, task.id, task.lane, NOW, now=NOW),
            "skips": 1,
        },
    )
    asked = Change(
        step=Step.REQUEST_CANCEL,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.REQUEST_CANCEL)),
        sets={"cancel_requested": True, "updated_at": NOW + 5},
    )
    store.apply([change])
    [cancelled] = store.apply([asked])

    assert store.apply([change]) == [cancelled]


def test_the_same_lease_of_another_holder_is_refused(store: TaskStore):
    old = a_running_task()
    renewal = renew(old, now=NOW + MINUTE)
    task = replace(old, holder="another", attempt=2, lease_until=renewal.sets["lease_until"])
    store.put([task])

    assert store.apply([renewal]) == [Refused(task)]


def test_a_repeated_request_to_cancel_is_refused_for_a_finished_task(store: TaskStore):
    task = a_task(status=Status.SUCCEEDED, wake=None, cancel_requested=True)
    store.put([task])

    assert store.apply([request_cancel(task.id, now=NOW)]) == [Refused(task)]


def test_a_repeated_change_is_refused_after_a_later_one(store: TaskStore):
    task = a_running_task()
    store.put([task])
    late = renew(task, now=NOW + 20 * SECOND)
    [newer] = store.apply([replace(late, sets={"lease_until": NOW, "holder": "another"})])

    assert store.apply([late]) == [Refused(newer.stored)]
