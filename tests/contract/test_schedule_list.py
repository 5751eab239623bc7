"""Schedules in a list, newest first; and the occurrences of one among the tasks."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from duetime.core.lifecycle import Status
from duetime.core.occurrence import Occurrence
from duetime.core.ports import TaskStore
from duetime.core.schedules.ports import ScheduleListing, ScheduleStore
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.task import Task
from duetime.core.times import DAY, HOUR
from tests.backends import Stores
from tests.contract.test_listing import flat, read_all
from tests.factories import NOW, a_schedule, a_spec, a_task, an_id

LONG = "p" * 10_000


def pages_of(schedules: ScheduleStore, **listing: object) -> list[Sequence[Schedule]]:
    pages = []
    cursor = None
    for _ in range(100):
        page = schedules.page(ScheduleListing(cursor=cursor, **listing))
        pages.append(page.schedules)
        cursor = page.cursor
        if cursor is None:
            return pages
    raise AssertionError("the list does not end")


def listed(schedules: ScheduleStore, **listing: object) -> list[Schedule]:
    return [schedule for page in pages_of(schedules, **listing) for schedule in page]


def made(schedules: ScheduleStore, count: int, **fields: object) -> list[Schedule]:
    """Newest first."""
    some = [a_schedule(now=NOW + n * HOUR, **fields) for n in range(count)]
    schedules.put(some)
    return some[::-1]


def test_list_of_all_namespaces_is_newest_first(schedules: ScheduleStore):
    names = ("default", "shop", "growth")
    some = [
        a_schedule(
            now=NOW + n * HOUR,
            task=a_spec(run_at=0, namespace=names[n % 3]),
            status=ScheduleStatus.ACTIVE if n % 2 else ScheduleStatus.PAUSED,
        )
        for n in range(11)
    ]
    schedules.put(some)

    for limit in (1, 4, 30):
        pages = pages_of(schedules, namespace=None, limit=limit)
        assert [s for page in pages for s in page] == some[::-1]
        assert max(map(len, pages)) <= limit
    paused = listed(schedules, namespace=None, status=ScheduleStatus.PAUSED, limit=4)
    assert paused == some[::-2]


def test_an_empty_list_ends(schedules: ScheduleStore):
    assert pages_of(schedules) == [[]]


@pytest.mark.parametrize("limit", [1, 2, 7, 30])
def test_pages_neither_skip_nor_repeat(schedules: ScheduleStore, limit: int):
    some = made(schedules, 20)

    pages = pages_of(schedules, limit=limit)

    assert [s for page in pages for s in page] == some
    assert max(map(len, pages)) == min(limit, 20)


def test_long_plans_are_listed_in_full(schedules: ScheduleStore):
    some = made(schedules, 3, task=a_spec(payload=LONG))

    assert listed(schedules) == some


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_a_status_is_picked_out(schedules: ScheduleStore, limit: int):
    paused = ScheduleStatus.PAUSED
    old = made(schedules, 4, status=paused)
    made(schedules, 9)
    new = made(schedules, 3, status=paused)
    some = sorted(old + new, key=lambda s: s.id, reverse=True)

    assert listed(schedules, status=paused, limit=limit) == some
    assert listed(schedules, status=ScheduleStatus.BROKEN, limit=limit) == []


def test_a_list_filters_by_the_current_status(schedules: ScheduleStore):
    [schedule] = made(schedules, 1)
    paused = replace(schedule, revision=2, status=ScheduleStatus.PAUSED, wake=None)
    schedules.put([paused])

    assert listed(schedules, status=ScheduleStatus.ACTIVE) == []
    assert listed(schedules, status=ScheduleStatus.PAUSED) == [paused]


def test_a_namespace_sees_its_own(schedules: ScheduleStore):
    mine = made(schedules, 3, task=a_spec(namespace="mine"))
    made(schedules, 3, task=a_spec(namespace="mine.too"))

    assert listed(schedules, namespace="mine") == mine
    assert listed(schedules) == []


def test_a_schedule_that_moves_to_another_namespace_is_listed_there(schedules: ScheduleStore):
    [schedule] = made(schedules, 1)
    plan = replace(schedule.plan, task=replace(schedule.plan.task, namespace="theirs"))
    moved = replace(schedule, revision=2, plan=plan)
    schedules.put([moved])

    assert listed(schedules) == []
    assert listed(schedules, namespace="theirs") == [moved]


def test_a_deleted_schedule_is_not_listed(schedules: ScheduleStore):
    some = made(schedules, 3)
    schedules.delete(some[1].id)

    assert listed(schedules) == [some[0], some[2]]


def test_an_unreadable_task_does_not_fail_the_list(stores: Stores):
    some = made(stores.schedules, 5)
    stores.spoil(some[2].id)

    assert listed(stores.schedules, limit=2) == [*some[:2], *some[3:]]


def test_a_list_of_tasks_has_no_schedules_nor_the_other_way_round(stores: Stores):
    some, task = made(stores.schedules, 3), a_task()
    stores.tasks.put([task])

    assert flat(read_all(stores.tasks)) == [task]
    assert listed(stores.schedules) == some


@pytest.mark.parametrize("cursor", ["garbage", "%%%", "ä", " ", "MjA3NzMv"])
def test_a_garbage_cursor_is_an_error(schedules: ScheduleStore, cursor: str):
    with pytest.raises(ValueError, match="cursor"):
        schedules.page(ScheduleListing(cursor=cursor))


def an_occurrence(schedule_id: str, *, at: int = NOW, payload: object = None) -> Task:
    of = Occurrence(schedule_id=schedule_id, scheduled_for=at, version=1)
    return a_task(spec=a_spec(occurrence=of, payload=payload), now=at)


def test_the_occurrences_of_a_schedule_are_picked_out(store: TaskStore):
    one, other = an_id(), an_id()
    some = [an_occurrence(one, at=NOW - n * DAY) for n in range(4)]
    some[1] = replace(some[1], status=Status.DEAD, wake=None)
    rest = [an_occurrence(other), *(a_task(now=NOW - n * HOUR) for n in range(9))]
    store.put([*some, *rest])

    assert flat(read_all(store, schedule_id=one, limit=2)) == some
    assert flat(read_all(store, schedule_id=one, statuses={Status.DEAD})) == [some[1]]
    assert flat(read_all(store, schedule_id=other)) == [rest[0]]
    assert flat(read_all(store, schedule_id=an_id())) == []
    assert flat(read_all(store, schedule_id=one, namespace="theirs")) == []


def test_an_occurrence_with_a_long_payload_is_found_too(store: TaskStore):
    schedule_id = an_id()
    task = an_occurrence(schedule_id, payload=LONG)
    store.put([task])

    assert flat(read_all(store, schedule_id=schedule_id)) == [task]
