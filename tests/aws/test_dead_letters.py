"""The index of dead tasks: its rows, and the writes that it costs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duetime.aws import schema
from duetime.aws.update_expressions import update
from duetime.core import dead_letters as core
from duetime.core.change import Change
from duetime.core.lifecycle import Outcome, Status, Step
from duetime.core.listings import DeadListing
from duetime.core.ports import TaskStore
from duetime.core.retention import RETENTION
from duetime.core.steps.discard import discard
from duetime.core.steps.record import Failure, fail
from duetime.core.steps.revive import revive
from duetime.core.task import Task, TaskError
from duetime.core.times import MINUTE, SECOND
from tests.aws.stored import a_store, asked_of, items_in
from tests.contract.steps import STEPS, Made
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_task

OF_THE_DEAD = {schema.DEAD_BUCKET, schema.DEATH}
NO_MORE = Failure(outcome=Outcome.FAILED, error=TaskError(type="Bad", message="no"), permanent=True)


def a_dead_task(died_at: int = NOW) -> Task:
    return a_task(status=Status.DEAD, wake=None, updated_at=died_at)


def bury(task: Task, now: int = NOW + MINUTE) -> Change:
    return fail(WAKE_POLICY, task, NO_MORE, now=now, draw=a_draw())


def listed(store: TaskStore, **wanted: Any) -> list[Task]:
    found, cursor = [], None
    while True:
        page = store.dead(DeadListing(cursor=cursor, **wanted))
        found += page.tasks
        cursor = page.cursor
        if cursor is None:
            return found


def test_dying_adds_the_keys_of_the_index_and_revival_takes_them(dynamodb: Any, table: str):
    store, task = a_store(dynamodb, table), a_running_task()
    store.put([task])
    alive = items_in(dynamodb, table)[schema.TASK]
    change = bury(task)
    [dead] = store.apply([change])
    item = items_in(dynamodb, table)[schema.TASK]

    assert set(item) - set(alive) == OF_THE_DEAD
    assert item[schema.DEAD_BUCKET]["S"] in {f"dead#{n:02d}" for n in range(WAKE_POLICY.shards)}
    assert item[schema.DEATH] == {"S": f"{NOW + MINUTE}#{task.id}"}

    store.apply([revive(WAKE_POLICY, dead.stored, now=NOW + MINUTE, draw=a_draw())])
    assert not OF_THE_DEAD & set(items_in(dynamodb, table)[schema.TASK])


def test_discarding_takes_the_keys_of_the_index_and_sets_when_to_remove_the_task(
    dynamodb: Any, table: str
):
    store, task = a_store(dynamodb, table), a_dead_task()
    store.put([task])
    assert schema.REMOVE_AFTER not in items_in(dynamodb, table)[schema.TASK]

    store.apply([discard(task, now=NOW + MINUTE)])

    item = items_in(dynamodb, table)[schema.TASK]
    assert not OF_THE_DEAD & set(item)
    assert schema.REMOVE_AFTER in item


def test_a_task_that_is_stored_dead_has_the_keys_it_would_have_died_with(dynamodb: Any, table: str):
    store, task = a_store(dynamodb, table), a_running_task()
    store.put([task])
    store.apply([bury(task)])
    died = items_in(dynamodb, table)[schema.TASK]
    dynamodb.delete_item(TableName=table, Key={"pk": died["pk"], "sk": died["sk"]})

    store.put([bury(task).applied_to(task)])
    stored = items_in(dynamodb, table)[schema.TASK]

    assert {name: stored[name] for name in OF_THE_DEAD} == {
        name: died[name] for name in OF_THE_DEAD
    }


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.DEAD}))
def test_a_living_task_is_stored_without_the_keys_of_the_index(
    dynamodb: Any, table: str, status: Status
):
    a_store(dynamodb, table).put([a_task(status=status)])

    assert not OF_THE_DEAD & set(items_in(dynamodb, table)[schema.TASK])


@pytest.mark.parametrize("made", STEPS, ids=lambda made: made.__name__)
def test_no_other_step_writes_the_keys_of_the_index(made: Callable[[], Made]):
    _, change = made()
    parameters = update(change, WAKE_POLICY.shards, RETENTION).parameters
    written = parameters["UpdateExpression"].replace(",", " ").split()

    both = change.step in (Step.BURY, Step.REVIVE, Step.DISCARD)
    assert OF_THE_DEAD & set(written) == (OF_THE_DEAD if both else set())


def test_the_steps_of_this_suite_are_all_steps():
    assert {made()[1].step for made in STEPS} == set(Step)


def test_a_list_asks_each_shard_and_reads_only_the_dead(dynamodb: Any, table: str):
    store, dead = a_store(dynamodb, table), a_dead_task()
    store.put([*(a_running_task() for _ in range(30)), dead])

    with asked_of(dynamodb) as asked:
        assert listed(store) == [dead]

    assert sorted(asked) == ["BatchGetItem consistent", *["Query"] * WAKE_POLICY.shards]


def test_a_span_of_time_is_asked_of_the_index(dynamodb: Any, table: str):
    store = a_store(dynamodb, table)
    store.put([a_dead_task(NOW - n) for n in range(9)])

    cursor = store.dead(DeadListing(limit=1)).cursor

    with asked_of(dynamodb) as asked:
        assert listed(store, since=NOW + 1) == listed(store, before=NOW - 8) == []
        assert store.dead(DeadListing(before=NOW - 8, cursor=cursor)).tasks == []
    assert asked == ["Query"] * 3 * WAKE_POLICY.shards, "no task was read"


def test_an_empty_span_of_time_makes_no_query(dynamodb: Any, table: str):
    """DynamoDB refuses a range whose end is before its start."""
    with asked_of(dynamodb) as asked:
        assert listed(a_store(dynamodb, table), since=NOW, before=NOW - 1) == []

    assert asked == []


@pytest.mark.parametrize("limit", [1, 4, 50])
def test_a_page_makes_a_limited_number_of_queries(
    dynamodb: Any, table: str, limit: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(core, "MAX_INDEX_READS", 1)
    store = a_store(dynamodb, table)
    tasks = [a_dead_task(NOW - n) for n in range(20)]
    store.put(tasks)

    with asked_of(dynamodb) as asked:
        store.dead(DeadListing(limit=limit, error_type="Lost"))

    assert asked.count("Query") == WAKE_POLICY.shards
    assert listed(store, limit=limit) == tasks


def point_at(dynamodb: Any, table: str, task: Task, died_at: int) -> None:
    """Adds the row that a lagging index still has."""
    dynamodb.update_item(
        TableName=table,
        Key={"pk": {"S": schema.task_pk(task.id)}, "sk": {"S": schema.TASK}},
        UpdateExpression=f"SET {schema.DEAD_BUCKET} = :bucket, {schema.DEATH} = :death",
        ExpressionAttributeValues={
            ":bucket": {"S": "dead#00"},
            ":death": {"S": f"{died_at}#{task.id}"},
        },
    )


def test_an_index_that_lags_lists_no_living_task(dynamodb: Any, table: str):
    store, revived, dead = a_store(dynamodb, table), a_running_task(), a_dead_task()
    store.put([revived, dead])
    point_at(dynamodb, table, revived, NOW)

    assert listed(store) == [dead]


def test_an_index_that_lags_lists_no_task_under_an_earlier_death(dynamodb: Any, table: str):
    """The new death has a row of its own; a list that showed both would repeat the task."""
    store, again, dead = a_store(dynamodb, table), a_dead_task(NOW + SECOND), a_dead_task()
    store.put([again, dead])
    point_at(dynamodb, table, again, NOW - SECOND)

    assert listed(store) == [dead]


def test_a_list_covers_the_shards_of_earlier_counts(dynamodb: Any, table: str):
    few, many = a_store(dynamodb, table, shards=2), a_store(dynamodb, table, shards=8)
    older, newer = ([a_dead_task(NOW + n * 10 + at) for n in range(6)] for at in (0, 5))
    few.put(older)
    many.put(newer)
    revival = revive(WAKE_POLICY, older[0], now=NOW, draw=a_draw())
    many.apply([revival])

    read = listed(many, limit=4)

    assert read == sorted([*older[1:], *newer], key=lambda t: t.updated_at, reverse=True)


def test_an_unreadable_dead_task_is_left_out(dynamodb: Any, table: str):
    store = a_store(dynamodb, table)
    first, second = a_dead_task(), replace(a_dead_task(), updated_at=NOW - 1)
    store.put([first, second])
    dynamodb.update_item(
        TableName=table,
        Key={"pk": {"S": schema.task_pk(first.id)}, "sk": {"S": schema.TASK}},
        UpdateExpression=f"REMOVE {schema.SPEC}",
    )

    assert listed(store) == [second]
