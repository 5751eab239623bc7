"""due_counts: the tasks of a span that are still to start, by minute and lane."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.aws import due_counts as aws_counts
from duetime.aws import soonest
from duetime.core.forecast import DueCounts, DueSpan
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.ports import TaskStore
from duetime.core.task import Task
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.core.wakes import minute_of
from duetime.sqlite import due_counts as sqlite_counts
from tests.backends import Stores
from tests.factories import NOW, a_running_task, a_schedule, a_spec, a_task

HOUR_AHEAD = DueSpan.ahead(NOW, 1)


@pytest.fixture(autouse=True, params=["whole", "by minute"])
def _index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs over a small wake index, and over one that is read minute by minute."""
    if request.param == "by minute":
        monkeypatch.setattr(aws_counts, "WHOLE_INDEX", 0)
        monkeypatch.setattr(soonest, "FEW_WAKES", 0)


def due_in(*delays: int, **fields: Any) -> list[Task]:
    return [a_task(spec=a_spec(run_at=NOW + delay, **fields)) for delay in delays]


def counted(found: DueCounts) -> dict[tuple[int, str], int]:
    """Returns the counts by minutes from now, and lane."""
    return {(m - minute_of(NOW), lane.value): n for (m, lane), n in found.tasks.items()}


def test_tasks_are_counted_by_minute_and_lane(store: TaskStore):
    store.put(
        [
            *due_in(20 * MINUTE, 20 * MINUTE + 59 * SECOND, 21 * MINUTE, priority=Lane.HIGH),
            *due_in(20 * MINUTE + SECOND, 59 * MINUTE + 59 * SECOND, priority=Lane.LOW),
        ]
    )
    found = store.due_counts(HOUR_AHEAD)
    assert counted(found) == {(20, "high"): 2, (21, "high"): 1, (20, "low"): 1, (59, "low"): 1}
    assert (found.looked_from, found.looked_until) == (NOW, NOW + HOUR)


def test_tasks_outside_the_span_are_not_counted(store: TaskStore):
    overdue = a_task(spec=a_spec(run_at=NOW - MINUTE), now=NOW - 2 * MINUTE)
    store.put([overdue, *due_in(HOUR, 2 * HOUR), *due_in(30 * MINUTE)])
    assert counted(store.due_counts(HOUR_AHEAD)) == {(30, "medium"): 1}


def test_tasks_that_were_sent_count_at_their_due_time(store: TaskStore):
    """Their wake is a watch, minutes after it."""
    store.put(due_in(30 * SECOND, 90 * SECOND, 3 * MINUTE))
    counts = counted(store.due_counts(HOUR_AHEAD))
    assert counts == {(0, "medium"): 1, (1, "medium"): 1, (3, "medium"): 1}


def test_tasks_that_run_or_have_ended_are_not_counted(store: TaskStore):
    ended = replace(a_task(spec=a_spec(run_at=NOW + HOUR // 2)), status=Status.CANCELLED, wake=None)
    running = a_running_task(spec=a_spec(run_at=NOW + MINUTE))
    store.put([ended, running, *due_in(HOUR // 2)])
    assert counted(store.due_counts(HOUR_AHEAD)) == {(30, "medium"): 1}


def test_span_may_be_about_one_namespace(store: TaskStore):
    store.put([*due_in(MINUTE, 30 * MINUTE), *due_in(2 * MINUTE, 31 * MINUTE, namespace="shop")])
    shop = store.due_counts(DueSpan.ahead(NOW, 1, "shop"))
    assert counted(shop) == {(2, "medium"): 1, (31, "medium"): 1}
    assert (shop.looked_from, shop.looked_until) == (NOW, NOW + HOUR)
    assert counted(store.due_counts(DueSpan.ahead(NOW, 1, "nobody"))) == {}
    assert sum(store.due_counts(HOUR_AHEAD).tasks.values()) == 4


def test_only_namespace_is_counted_as_any_other(store: TaskStore):
    store.put(due_in(MINUTE, 30 * MINUTE))
    found = store.due_counts(DueSpan.ahead(NOW, 1, "default"))
    assert counted(found) == {(1, "medium"): 1, (30, "medium"): 1}


def test_wakes_of_schedules_come_soonest_first(stores: Stores):
    late, soon, overdue = (a_schedule(due_in=m * MINUTE) for m in (50, 10, 2))
    beyond = a_schedule(due_in=2 * HOUR)
    stores.schedules.put([late, soon, overdue, beyond])
    found = stores.tasks.due_counts(HOUR_AHEAD)
    assert [wake.task_id for wake in found.wakes] == [overdue.id, soon.id, late.id]
    assert not found.tasks


def test_bounded_counts_say_how_far_they_are_complete(
    store: TaskStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sqlite_counts, "MAX_TASKS", 2)
    monkeypatch.setattr(aws_counts, "MAX_QUERIES", 12 * 4)  # minutes of four shards
    monkeypatch.setattr(aws_counts, "WINDOW", 4)
    store.put(due_in(5 * MINUTE, 6 * MINUTE, 40 * MINUTE, 41 * MINUTE))
    found = store.due_counts(HOUR_AHEAD)
    if found.looked_until == NOW + HOUR:  # the whole index was read
        assert sum(found.tasks.values()) == 4
        return
    assert NOW + 6 * MINUTE < found.looked_until <= NOW + 40 * MINUTE
    assert counted(found) == {(5, "medium"): 1, (6, "medium"): 1}


def test_crowded_moment_is_counted_up_to_the_bound(
    store: TaskStore, monkeypatch: pytest.MonkeyPatch
):
    """A task at the same moment must not hide the minute."""
    monkeypatch.setattr(sqlite_counts, "MAX_TASKS", 5)
    monkeypatch.setattr(aws_counts, "BUCKET_LIMIT", 1)
    store.put([*due_in(*[30 * MINUTE] * 9), *due_in(*[30 * MINUTE] * 3, priority=Lane.LOW)])
    found = store.due_counts(HOUR_AHEAD)
    assert sum(found.tasks.values()) in (5, 12)
    assert {minute for minute, _ in found.tasks} == {minute_of(NOW) + 30}
    if sum(found.tasks.values()) == 5:
        assert found.looked_until == NOW + 30 * MINUTE
