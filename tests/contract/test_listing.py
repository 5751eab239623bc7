from collections.abc import Sequence
from typing import Any

import pytest

from duetime.core.lifecycle import Status
from duetime.core.listings import Listing
from duetime.core.ports import TaskStore
from duetime.core.task import Task
from duetime.core.times import DAY, HOUR, MINUTE
from tests.factories import NOW, a_listing, a_spec, a_task, an_id


def tasks_of(*created: int, namespace: str = "default", **fields: object) -> list[Task]:
    """Returns a task for each time, newest first."""
    spec = a_spec(run_at=NOW + DAY, namespace=namespace)
    tasks = [a_task(spec=spec, now=at, **fields) for at in created]
    return sorted(tasks, key=lambda task: task.id, reverse=True)


def read_all(store: TaskStore, start: str | None = None, **listing: Any) -> list[Sequence[Task]]:
    pages = []
    cursor = start
    for _ in range(100):
        page = store.page(a_listing(cursor=cursor, **listing))
        pages.append(page.tasks)
        cursor = page.cursor
        if cursor is None:
            return pages
    raise AssertionError("the list does not end")


def flat(pages: list[Sequence[Task]]) -> list[Task]:
    return [task for page in pages for task in page]


def test_an_empty_list_ends(store: TaskStore):
    assert flat(read_all(store)) == []


def test_newest_first_across_days(store: TaskStore):
    tasks = tasks_of(NOW, NOW - HOUR, NOW - DAY, NOW - DAY - HOUR, NOW - 4 * DAY)
    store.put(tasks)

    assert flat(read_all(store)) == tasks


@pytest.mark.parametrize("limit", [1, 2, 7, 30])
def test_pages_neither_skip_nor_repeat(store: TaskStore, limit: int):
    tasks = tasks_of(*(NOW - n * 3 * HOUR - m for n in range(10) for m in range(3)))
    store.put(tasks)

    pages = read_all(store, limit=limit)

    assert flat(pages) == tasks
    assert max(len(page) for page in pages) == limit


def test_many_tasks_of_one_instant_are_all_listed(store: TaskStore):
    tasks = tasks_of(*[NOW] * 40)
    store.put(tasks)

    assert flat(read_all(store, limit=3)) == tasks


def test_a_status_is_picked_out(store: TaskStore):
    dead = tasks_of(NOW - HOUR, NOW - 2 * DAY, status=Status.DEAD, wake=None)
    store.put([*dead, *tasks_of(*(NOW - n * HOUR for n in range(20)))])

    pages = read_all(store, statuses={Status.DEAD}, limit=5)

    assert flat(pages) == dead


def test_a_page_after_a_full_page_of_a_status_starts_where_it_ended(store: TaskStore):
    dead = tasks_of(*(NOW - n * HOUR for n in range(9)), status=Status.DEAD, wake=None)
    store.put([*dead, *tasks_of(*(NOW - n * HOUR for n in range(20)))])

    assert flat(read_all(store, statuses={Status.DEAD}, limit=2)) == dead


def test_a_namespace_sees_its_own(store: TaskStore):
    mine, theirs = tasks_of(NOW, NOW - 1, namespace="mine"), tasks_of(NOW, namespace="theirs")
    store.put([*mine, *theirs])

    assert flat(read_all(store, namespace="mine")) == mine
    assert flat(read_all(store, namespace="nobody")) == []


def test_a_task_added_between_two_pages_does_not_disturb_the_list(store: TaskStore):
    tasks = tasks_of(NOW - 2, NOW - 3, NOW - 4)
    store.put(tasks)
    first = store.page(Listing(limit=1))
    store.put(tasks_of(NOW - 1))

    second = store.page(Listing(limit=1, cursor=first.cursor))

    assert [*first.tasks, *second.tasks] == tasks[:2]


@pytest.mark.parametrize("limit", [1, 3, 30])
def test_a_list_before_a_moment_leaves_out_ids_of_a_later_one(store: TaskStore, limit: int):
    """A run of a schedule is created before its fire time, which is in its id."""
    midnight = NOW - NOW % DAY
    put_at = midnight - MINUTE
    runs = [a_task(id=an_id(put_at + n * MINUTE), now=put_at) for n in range(4)]
    others = tasks_of(put_at - HOUR, put_at - DAY)
    store.put([*runs, *others])

    first, *rest = read_all(store, before=midnight, limit=limit)

    assert flat([first, *rest]) == [runs[0], *others], "one that is due at midnight is not over"
    assert len(first) == min(limit, 3)


GARBAGE = ["garbage", "%%%", "OTk5OTk5OTk5OTk5Lw==", "LTEv", "MjA3NzMv!!!!", "ä", " "]


@pytest.mark.parametrize("cursor", GARBAGE)
def test_a_garbage_cursor_is_an_error(store: TaskStore, cursor: str):
    with pytest.raises(ValueError, match="cursor"):
        store.page(Listing(cursor=cursor))
