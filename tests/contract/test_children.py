"""Lists of the children of a task: their ids begin with its creation, on whatever day they are."""

from dataclasses import replace

import pytest

from duetime.core.child_ids import call_of, child_id
from duetime.core.ids import created_at, new_id
from duetime.core.listings import Listing
from duetime.core.ports import TaskStore
from duetime.core.task import Task
from duetime.core.times import DAY, HOUR
from tests.factories import NOW, a_listing, a_spec, a_task

PARENT = a_task(id=new_id(NOW - 5 * DAY - 3, 7), now=NOW - 5 * DAY)
OTHER = a_task(id=new_id(NOW - 5 * DAY - 3, 8), now=NOW - 5 * DAY)


def a_child(of: Task, n: int, at: int, **spec: str) -> Task:
    made = child_id(of, call_of(None, "reports.daily", n), 0)
    return a_task(id=made, now=at, spec=a_spec(payload=n, parent_id=of.id, **spec))


CHILDREN = [
    *(a_child(PARENT, n, NOW - 5 * DAY + n * HOUR) for n in range(6)),
    *(a_child(PARENT, n, NOW - 2 * DAY + n) for n in range(10, 13)),
    a_child(PARENT, 20, NOW - HOUR),
]
ELSEWHERE = a_child(PARENT, 30, NOW - HOUR, namespace="shop")
NOT_THEIRS = [a_child(OTHER, n, NOW - 2 * DAY + n) for n in range(4)] + [
    a_task(id=new_id(NOW - 5 * DAY, n), now=NOW - 5 * DAY) for n in range(3)
]


@pytest.fixture
def filled(store: TaskStore) -> TaskStore:
    store.put([PARENT, OTHER, *CHILDREN, ELSEWHERE, *NOT_THEIRS])
    return store


def pages(store: TaskStore, listing: Listing) -> list[list[Task]]:
    found = []
    for _ in range(60):
        page = store.page(listing)
        found.append(list(page.tasks))
        if page.cursor is None:
            return found
        listing = replace(listing, cursor=page.cursor)
    raise AssertionError("the list has no end")


def listed(store: TaskStore, limit: int, namespace: str | None = "default") -> list[Task]:
    listing = a_listing(parent_id=PARENT.id, namespace=namespace, limit=limit)
    return [task for page in pages(store, listing) for task in page]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_children_are_listed_newest_day_first_and_each_once(filled: TaskStore, limit: int):
    expected = sorted(CHILDREN, key=lambda t: (t.created_at // DAY, t.id), reverse=True)

    assert listed(filled, limit) == expected


def test_children_of_all_namespaces_are_listed_together(filled: TaskStore):
    assert {t.id for t in listed(filled, 4, None)} == {t.id for t in (*CHILDREN, ELSEWHERE)}


def test_children_of_a_removed_parent_are_still_listed(store: TaskStore):
    store.put([OTHER, *CHILDREN, *NOT_THEIRS])

    assert {t.id for t in listed(store, 5)} == {t.id for t in CHILDREN}


def test_task_without_children_has_none(filled: TaskStore):
    assert not any(pages(filled, a_listing(parent_id=CHILDREN[0].id)))


def test_id_of_a_child_is_that_of_its_parent_and_its_call():
    ids = {
        child_id(parent, call, ordinal)
        for parent in (PARENT, OTHER)
        for call in (call_of("a", "h", 1), call_of(None, "h", 1), call_of(None, "h", "1"))
        for ordinal in (0, 1)
    }

    assert len(ids) == 12
    assert {created_at(each) for each in ids} == {PARENT.created_at}
    assert child_id(PARENT, call_of(None, "h", {"a": 1, "b": 2}), 0) == child_id(
        PARENT, call_of(None, "h", {"b": 2, "a": 1}), 0
    )
    assert call_of("a", "h", 1) == call_of("a", "i", 2)
    again = replace(PARENT, attempt=3, updated_at=NOW)
    assert child_id(PARENT, ("step", "a"), 0) == child_id(again, ("step", "a"), 0)


def test_ids_of_children_stay_as_they_are():
    """A task that is stored by this version is found by the attempts of a later one."""
    step, call = "01M7H6N7007A73RPBHB2117141", "01M7H6N700XPMWKYERVE9QEB7Y"
    parent = a_task(id="01M7H64P7KAAJZWRTDWAWEWR1E", now=1_794_800_000_000)

    assert child_id(parent, call_of("report", "shop.notify", None), 0) == step
    assert child_id(parent, call_of(None, "shop.notify", {"a": [1, "ä"]}), 2) == call
