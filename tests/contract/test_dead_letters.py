"""Dead letters, listed from the table."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from duetime.core import dead_letters as module
from duetime.core.delivery import delivery_of
from duetime.core.lifecycle import Outcome, Status
from duetime.core.listings import DeadListing
from duetime.core.ports import TaskStore
from duetime.core.retry import RetryPolicy
from duetime.core.steps.discard import discard
from duetime.core.steps.lease import lease
from duetime.core.steps.record import Failure, fail
from duetime.core.steps.revive import revive
from duetime.core.task import Attempt, Task, TaskError
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_spec, a_task, an_id


def a_dead_task(
    died_at: int = NOW, *, error: str = "HTTPError", namespace: str = "default"
) -> Task:
    ended = Attempt(
        number=1,
        started_at=died_at - SECOND,
        drift_ms=3,
        finished_at=died_at,
        outcome=Outcome.FAILED,
        error=TaskError(type=error, message="503"),
    )
    return a_task(
        spec=a_spec(namespace=namespace),
        status=Status.DEAD,
        wake=None,
        updated_at=died_at,
        attempt=1,
        current=ended,
    )


def newest_first(tasks: Sequence[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: (task.updated_at, task.id), reverse=True)


def pages(store: TaskStore, **listing: object) -> list[Sequence[Task]]:
    read, cursor = [], None
    for _ in range(200):
        page = store.dead(DeadListing(cursor=cursor, **listing))
        read.append(page.tasks)
        cursor = page.cursor
        if cursor is None:
            return read
    raise AssertionError("the list does not end")


def all_dead(store: TaskStore, **listing: object) -> list[Task]:
    return [task for page in pages(store, **listing) for task in page]


def test_no_dead_tasks(store: TaskStore):
    store.put([a_task(), a_running_task()])

    assert pages(store) == [[]]


@pytest.mark.parametrize("status", sorted(Status))
def test_only_the_dead_are_listed(store: TaskStore, status: Status):
    task = replace(a_dead_task(), status=status)
    store.put([task])

    assert all_dead(store) == ([task] if status is Status.DEAD else [])


def test_the_last_to_die_comes_first_whenever_it_was_submitted(store: TaskStore):
    submitted = [an_id(NOW - n * DAY) for n in range(5)]
    ages = [HOUR, 0, 3 * DAY, MINUTE, 2 * DAY]
    tasks = [
        replace(a_dead_task(NOW - age), id=task_id)
        for task_id, age in zip(submitted, ages, strict=True)
    ]
    store.put(tasks)

    assert all_dead(store) == [tasks[n] for n in (1, 3, 0, 4, 2)]


@pytest.mark.parametrize("limit", [1, 2, 7, 24, 25])
def test_pages_neither_skip_nor_repeat(store: TaskStore, limit: int):
    """Three died in each instant: a page may end between them."""
    tasks = [a_dead_task(NOW - n * 7 * HOUR) for n in range(8) for _ in range(3)]
    store.put([*tasks, a_task()])

    read = pages(store, limit=limit)

    assert [task for page in read for task in page] == newest_first(tasks)
    assert max(len(page) for page in read) == min(limit, 24)


def test_many_tasks_that_died_in_one_instant_are_all_listed(store: TaskStore):
    tasks = [a_dead_task() for _ in range(40)]
    store.put(tasks)

    assert all_dead(store, limit=3) == newest_first(tasks)


def test_dead_letters_of_all_namespaces_are_listed_unless_one_is_named(store: TaskStore):
    mine = [a_dead_task(NOW - n, namespace="mine") for n in range(3)]
    theirs = [a_dead_task(NOW - n, namespace="theirs") for n in range(3)]
    store.put([*mine, *theirs])

    assert all_dead(store, limit=2) == newest_first([*mine, *theirs])
    assert all_dead(store, limit=2, namespace="mine") == mine
    assert all_dead(store, namespace="nobody") == []


def test_an_error_type_is_picked_out(store: TaskStore):
    slow = [a_dead_task(NOW - n * HOUR, error="TimeoutError") for n in range(0, 20, 6)]
    store.put([*slow, *(a_dead_task(NOW - n * HOUR) for n in range(20))])

    assert all_dead(store, error_type="TimeoutError", limit=2) == slow
    assert all_dead(store, error_type="Timeout") == []


def test_a_death_without_an_error_has_no_type(store: TaskStore):
    task = replace(a_dead_task(), current=None)
    store.put([task])

    assert all_dead(store) == [task]
    assert all_dead(store, error_type="HTTPError") == []


@pytest.mark.parametrize("limit", [1, 50])
def test_a_span_of_time_begins_with_since_and_ends_short_of_before(store: TaskStore, limit: int):
    tasks = [a_dead_task(NOW - n) for n in range(6)]
    store.put(tasks)

    def listed(**span: int) -> list[Task]:
        return all_dead(store, limit=limit, **span)

    assert listed(since=NOW - 2) == tasks[:3]
    assert listed(before=NOW - 2) == tasks[3:]
    assert listed(since=NOW - 4, before=NOW - 1) == tasks[2:5]
    assert listed(since=NOW + 1) == []
    assert listed(before=NOW - 5) == []
    assert listed(since=NOW, before=NOW) == []
    assert listed(since=NOW, before=NOW - 3) == []


def test_a_cursor_leads_into_its_span_and_no_further(store: TaskStore):
    tasks = [a_dead_task(NOW - n) for n in range(6)]
    store.put(tasks)
    first = store.dead(DeadListing(limit=1)).cursor
    fourth = store.dead(DeadListing(limit=4)).cursor

    assert store.dead(DeadListing(before=NOW - 3, cursor=first)).tasks == tasks[4:]
    assert store.dead(DeadListing(since=NOW - 2, cursor=fourth)).tasks == []


@pytest.mark.parametrize("far", [-(10**15), 0, 10**15])
def test_a_span_may_reach_beyond_every_task(store: TaskStore, far: int):
    task = a_dead_task()
    store.put([task])

    assert all_dead(store, since=far) == ([task] if far < NOW else [])
    assert all_dead(store, before=far) == ([task] if far > NOW else [])


def test_filters_of_dead_letters_combine(store: TaskStore):
    wanted = [a_dead_task(NOW - n * HOUR, error="Lost", namespace="mine") for n in range(6)]
    others = [
        a_dead_task(NOW - n * HOUR, error=error, namespace=namespace)
        for n in range(6)
        for error, namespace in [("Lost", "theirs"), ("HTTPError", "mine")]
    ]
    store.put([*wanted, *others])

    read = all_dead(
        store,
        namespace="mine",
        error_type="Lost",
        since=NOW - 4 * HOUR,
        before=NOW,
        limit=1,
    )

    assert read == wanted[1:5]


def test_a_page_reads_a_limited_number_of_tasks(store: TaskStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_TASKS_READ", 4)
    last = a_dead_task(NOW - DAY, error="Lost")
    store.put([*(a_dead_task(NOW - n) for n in range(40)), last])

    read = pages(store, limit=2, error_type="Lost")

    assert [task for page in read for task in page] == [last]
    assert len(read) > 3, "short pages, each with a cursor"


def test_a_death_between_two_pages_does_not_disturb_the_list(store: TaskStore):
    tasks = [a_dead_task(NOW - n) for n in range(3)]
    store.put(tasks)
    first = store.dead(DeadListing(limit=1))
    store.put([a_dead_task(NOW + 1)])

    second = store.dead(DeadListing(limit=1, cursor=first.cursor))

    assert [*first.tasks, *second.tasks] == tasks[:2]


def died(store: TaskStore, task: Task, now: int) -> Task:
    failure = Failure(
        outcome=Outcome.FAILED, error=TaskError(type="Bad", message="no"), permanent=True
    )
    change = fail(WAKE_POLICY, task, failure, now=now, draw=a_draw())
    [answer] = store.apply([change])
    return answer.stored


def revived(store: TaskStore, task: Task, now: int) -> Task:
    [answer] = store.apply([revive(WAKE_POLICY, task, now=now, draw=a_draw())])
    return answer.stored


def test_a_revived_task_leaves_the_list_until_it_dies_again(store: TaskStore):
    task = a_running_task(spec=a_spec(run_at=NOW, retry=RetryPolicy(max_attempts=1)))
    store.put([task, a_dead_task(NOW + MINUTE), a_dead_task(NOW + HOUR)])
    others = [t for t in all_dead(store) if t.id != task.id]

    dead = died(store, task, NOW + SECOND)
    assert all_dead(store) == [*others, dead]

    alive = revived(store, dead, NOW + 2 * SECOND)
    assert alive.status is Status.RETRYING
    assert all_dead(store) == others

    [leased] = store.apply([lease(delivery_of(alive, NOW), now=alive.due_at, holder="me")])
    again = died(store, leased.stored, NOW + DAY)
    assert all_dead(store) == [again, *others]


def test_a_discarded_task_leaves_the_list(store: TaskStore):
    tasks = [a_dead_task(NOW - n) for n in range(2)]
    store.put(tasks)

    store.apply([discard(tasks[0], now=NOW + DAY)])

    assert all_dead(store) == tasks[1:]


def test_a_cursor_outlives_the_task_that_it_names(store: TaskStore):
    tasks = [a_dead_task(NOW - n) for n in range(3)]
    store.put(tasks)
    first = store.dead(DeadListing(limit=1))
    revived(store, tasks[0], NOW)

    assert store.dead(DeadListing(cursor=first.cursor)).tasks == tasks[1:]


GARBAGE = [
    "",
    " ",
    "ä",
    "garbage",
    "1794819600000",
    f"1794819600000-{'U' * 26}",
    f"1794819600000#{an_id()}",
    f"179481960000-{an_id()}",
    f"179481960000٣-{an_id()}",
    f"-794819600000-{an_id()}",
    an_id(),
    "OTk5OTk5OTk5OTk5Lw==",
]


@pytest.mark.parametrize("cursor", GARBAGE)
def test_a_garbage_cursor_is_an_error(store: TaskStore, cursor: str):
    with pytest.raises(ValueError, match="not a cursor of this list"):
        store.dead(DeadListing(cursor=cursor))
