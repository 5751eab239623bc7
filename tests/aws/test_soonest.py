"""Lists by due time from a wake index that is too large to read as a whole."""

from collections.abc import Sequence
from typing import Any

import pytest

from duetime.aws import soonest
from duetime.core.lanes import Lane
from duetime.core.listings import ListOrder, Page
from duetime.core.ports import TaskStore
from duetime.core.task import Task
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.core.wake_policy import LONGEST_HORIZON
from tests.aws.stored import a_store
from tests.factories import NOW, a_listing, a_spec, a_task


@pytest.fixture(autouse=True)
def _large_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soonest, "FEW_WAKES", 0)
    monkeypatch.setattr(soonest, "AHEAD", HOUR)


def due_in(*delays: int, **fields: Any) -> list[Task]:
    return [a_task(spec=a_spec(run_at=NOW + delay, **fields), now=NOW) for delay in delays]


def pages(store: TaskStore, **listing: Any) -> list[Page]:
    found: list[Page] = []
    while not found or found[-1].cursor:
        cursor = found[-1].cursor if found else None
        wanted = a_listing(order=ListOrder.SOONEST, due_from=NOW, cursor=cursor, **listing)
        found.append(store.page(wanted))
    return found


def flat(pages: Sequence[Page]) -> list[Task]:
    return [task for page in pages for task in page.tasks]


@pytest.mark.parametrize("limit", [2, 100])
def test_soonest_list_merges_what_was_sent_with_what_was_not(dynamodb: Any, table: str, limit: int):
    """And says how far it looked."""
    store = a_store(dynamodb, table)
    sent = due_in(30 * SECOND, 3 * MINUTE)
    ahead = due_in(5 * MINUTE, 6 * MINUTE, 6 * MINUTE, 50 * MINUTE)
    store.put([*sent, *ahead, *due_in(2 * HOUR), *due_in(HOUR // 2, namespace="shop")])

    read = pages(store, limit=limit)

    assert flat(read) == [*sent, *ahead]
    assert (read[0].looked_from, read[-1].looked_until) == (NOW, NOW + HOUR)


def test_soonest_list_reads_a_long_bucket_lane_by_lane(
    dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(soonest, "BUCKET_LIMIT", 3)
    store = a_store(dynamodb, table)
    lanes = (Lane.LOW, Lane.HIGH, Lane.MEDIUM)
    tasks = [
        task for n in range(20) for task in due_in(20 * MINUTE + n * SECOND, priority=lanes[n % 3])
    ]
    store.put(tasks)

    assert flat(pages(store, limit=4)) == tasks


def test_soonest_list_reads_a_limited_number_of_tasks(
    dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(soonest, "MAX_TASKS_READ", 3)
    store = a_store(dynamodb, table)
    tasks = due_in(*(20 * MINUTE + n * SECOND for n in range(8)))
    wanted = due_in(21 * MINUTE, name="wanted")
    store.put([*tasks, *wanted])

    read = pages(store, name="wanted")

    assert flat(read) == wanted
    assert [len(page.tasks) for page in read] == [0, 0, 1, 0]


def test_soonest_list_starts_after_the_horizon_if_too_many_were_sent(
    dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(soonest, "MAX_SENT", 2)
    store = a_store(dynamodb, table)
    later = due_in(HOUR // 2)
    store.put([*due_in(SECOND, 2 * SECOND, 3 * SECOND), *later])

    [page, *_] = read = pages(store)

    assert flat(read) == later
    assert page.looked_from == NOW + LONGEST_HORIZON
