from typing import Any

import pytest

from duetime.aws import listing
from duetime.core.child_ids import call_of, child_id
from duetime.core.lifecycle import Status
from duetime.core.ports import TaskStore
from duetime.core.task import Task
from duetime.core.times import DAY, HOUR
from tests.aws.stored import a_store, asked_of
from tests.factories import NOW, a_listing, a_spec, a_task


def put_tasks(store: TaskStore, count: int, apart: int) -> list[Task]:
    """Newest first."""
    spec = a_spec(run_at=NOW + DAY)
    tasks = [a_task(spec=spec, now=NOW - n * apart) for n in range(count)]
    store.put(tasks)
    return tasks


def pages(store: TaskStore, **wanted: Any) -> list[list[Task]]:
    found, cursor = [], None
    while not found or cursor:
        page = store.page(a_listing(cursor=cursor, **wanted))
        found.append(list(page.tasks))
        cursor = page.cursor
    return found


@pytest.mark.parametrize("limit", [2, 50])
def test_a_page_reads_a_limited_number_of_days(
    dynamodb: Any, table: str, limit: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(listing, "MAX_QUERIES", 1)
    store = a_store(dynamodb, table)
    tasks = put_tasks(store, 10, apart=12 * HOUR)

    read = pages(store, limit=limit)

    assert [task for page in read for task in page] == tasks
    assert max(len(page) for page in read) == 2


def test_a_page_reads_a_limited_number_of_tasks(
    dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(listing, "MAX_TASKS_READ", 3)
    store = a_store(dynamodb, table, shards=2)
    tasks = put_tasks(store, 20, apart=1)
    dead = a_task(now=NOW - 100, status=Status.DEAD, wake=None)
    store.put([dead])

    read = pages(store, limit=3, statuses={Status.DEAD})

    assert [task for page in read for task in page] == [dead]
    assert len(read) > 3, "short pages, each with a cursor"
    assert [t for page in pages(store, limit=3) for t in page] == [*tasks, dead]


def test_list_of_children_reads_no_other_tasks(
    dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(listing, "MAX_TASKS_READ", 3)
    store = a_store(dynamodb, table, shards=2)
    parent = a_task(now=NOW - HOUR)
    spec = a_spec(parent_id=parent.id, run_at=NOW + DAY)
    ids = [child_id(parent, call_of(None, "h", n), 0) for n in range(3)]
    store.put([parent, *(a_task(id=each, spec=spec) for each in ids)])
    put_tasks(store, 20, apart=1)

    [page] = pages(store, limit=3, parent_id=parent.id)[:1]

    assert [task.id for task in page] == sorted(ids, reverse=True)


def test_a_list_covers_the_shards_of_earlier_counts(dynamodb: Any, table: str):
    few, many = a_store(dynamodb, table, shards=2), a_store(dynamodb, table, shards=8)
    older = put_tasks(few, 6, apart=3)
    newer = put_tasks(many, 6, apart=2)

    read = [task for page in pages(many, limit=4) for task in page]

    assert read == sorted([*older, *newer], key=lambda task: task.id, reverse=True)


def test_namespace_is_noted_once_and_before_its_first_task(dynamodb: Any, table: str):
    store, other = a_store(dynamodb, table), a_store(dynamodb, table)
    spec = a_spec(namespace="shop")
    with asked_of(dynamodb) as calls:
        store.put([a_task(spec=spec)])
        store.put([a_task(spec=spec)])
        other.put([a_task(spec=spec)])
        other.put([a_task()])

    first = ["GetItem consistent", "PutItem", "PutItem"]
    assert calls == [*first, "PutItem", "GetItem consistent", "PutItem", "PutItem"]
    tasks = [task for page in pages(store, namespace=None) for task in page]
    assert [task.spec.namespace for task in tasks] == ["default", "shop", "shop", "shop"]
