"""The TTL of tasks, and the deletion of their dependent rows."""

from collections.abc import Callable
from typing import Any

import pytest

from duetime.aws import schema, table
from duetime.aws.related_rows import DependentRows
from duetime.aws.update_expressions import update
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Outcome, Status
from duetime.core.occurrence import Occurrence
from duetime.core.retention import RETENTION
from duetime.core.steps.cancel import cancel
from duetime.core.steps.record import Failure, fail, succeed
from duetime.core.steps.revive import revive
from duetime.core.task import Attempt, Task, TaskError
from duetime.core.times import DAY, SECOND
from tests.aws.stored import a_store, asked_of, items_in
from tests.contract.steps import STEPS, Made
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_spec, a_task, an_id

LONG = "p" * 1_000
IN_TIME = {"N": str((NOW + RETENTION) // SECOND + 1)}


def an_attempt(number: int) -> Attempt:
    return Attempt(number=number, started_at=NOW, drift_ms=0)


def with_rows(client: Any, table: str, *, attempts: int) -> Task:
    task, store = a_task(spec=a_spec(payload=LONG)), a_store(client, table)
    store.put([task])
    for number in range(1, attempts + 1):
        store.keep_attempt(task.id, an_attempt(number))
    return task


def remove(client: Any, table: str, task: Task) -> None:
    key = {schema.PK: {"S": schema.task_pk(task.id)}, schema.SK: {"S": schema.TASK}}
    client.delete_item(TableName=table, Key=key)


class Throttled:
    """Processes only the first items of each batch."""

    def __init__(self, client: Any, few: int) -> None:
        self._client = client
        self._few = few
        self.asked: list[int] = []

    def query(self, **parameters: Any) -> Any:
        return self._client.query(**parameters)

    def batch_write_item(self, RequestItems: Any) -> Any:
        [(table, requests)] = RequestItems.items()
        self.asked.append(len(requests))
        done, left = requests[: self._few], requests[self._few :]
        if done:
            self._client.batch_write_item(RequestItems={table: done})
        return {"UnprocessedItems": {table: left} if left else {}}


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    pauses: list[float] = []
    monkeypatch.setattr(table.time, "sleep", pauses.append)
    return pauses


@pytest.mark.parametrize("made", STEPS, ids=lambda made: made.__name__)
def test_a_final_step_sets_the_ttl(made: Callable[[], Made]):
    task, change = made()
    after = change.applied_to(task)
    written = update(change, WAKE_POLICY.shards, 2 * DAY).parameters
    values = written["ExpressionAttributeValues"]

    ended = after.status is not task.status
    if ended and after.status in (Status.SUCCEEDED, Status.CANCELLED, Status.EXPIRED):
        kept, over = int(values[":kept"]["N"]), int(values[":over"]["N"])
        assert kept + over == (after.updated_at + 2 * DAY) // SECOND + 1
        kept_for = f"if_not_exists({schema.KEPT_FOR}, :kept)"
        assert f"{schema.REMOVE_AFTER} = {kept_for} + :over" in written["UpdateExpression"]
    else:
        assert schema.REMOVE_AFTER not in written["UpdateExpression"]


def test_the_ttl_is_written_with_the_outcome(dynamodb: Any, table: str):
    task, store = a_running_task(), a_store(dynamodb, table)
    store.put([task])
    assert schema.REMOVE_AFTER not in items_in(dynamodb, table)[schema.TASK]

    with asked_of(dynamodb) as asked:
        [done] = store.apply([succeed(task, result="1", now=NOW)])

    assert asked == ["UpdateItem"]
    assert items_in(dynamodb, table)[schema.TASK][schema.REMOVE_AFTER] == IN_TIME
    assert store.get([task.id]) == {task.id: done.stored}


def an_occurrence(**fields: Any) -> Task:
    of = Occurrence(schedule_id=an_id(), scheduled_for=NOW, version=1)
    return a_running_task(spec=a_spec(run_at=NOW, occurrence=of), **fields)


@pytest.mark.parametrize(("retention", "days"), [(1, 90), (30, 90), (90, 90), (400, 400)])
def test_an_occurrence_is_kept_as_long_as_the_ledger_that_names_it(
    dynamodb: Any, table: str, retention: int, days: int
):
    store = a_store(dynamodb, table, retention=retention * DAY)
    task, cancelled = an_occurrence(), an_occurrence(status=Status.PENDING)
    stored_over = an_occurrence(status=Status.CANCELLED, updated_at=NOW)
    store.put([task, cancelled, stored_over])

    store.apply([succeed(task, result="1", now=NOW), cancel(cancelled, now=NOW)])

    until = {"N": str((NOW + days * DAY) // SECOND + 1)}
    items = dynamodb.scan(TableName=table)["Items"]
    assert [item[schema.REMOVE_AFTER] for item in items] == [until] * 3


@pytest.mark.parametrize(("before", "after", "days"), [(30, 400, 400), (400, 30, 90)])
def test_the_retention_at_its_end_counts(
    dynamodb: Any, table: str, before: int, after: int, days: int
):
    task = an_occurrence()
    a_store(dynamodb, table, retention=before * DAY).put([task])

    ended = succeed(task, result="1", now=NOW)
    [done] = a_store(dynamodb, table, retention=after * DAY).apply([ended])

    item = items_in(dynamodb, table)[schema.TASK]
    assert item[schema.REMOVE_AFTER] == {"N": str((NOW + days * DAY) // SECOND + 1)}
    assert done.stored == ended.applied_to(task)


@pytest.mark.parametrize("status", Status)
def test_a_task_that_is_stored_finished_has_a_ttl(dynamodb: Any, table: str, status: Status):
    a_store(dynamodb, table).put([a_task(status=status, updated_at=NOW)])

    item = items_in(dynamodb, table)[schema.TASK]
    assert item.get(schema.REMOVE_AFTER) == (IN_TIME if status.final else None)


def test_the_dead_and_the_revived_are_kept(dynamodb: Any, table: str):
    task, store = a_running_task(), a_store(dynamodb, table)
    store.put([task])
    error = TaskError(type="Bad", message="no")
    failure = Failure(outcome=Outcome.FAILED, error=error, permanent=True)

    [dead] = store.apply([fail(WAKE_POLICY, task, failure, now=NOW, draw=a_draw())])
    assert dead.stored.status is Status.DEAD
    assert schema.REMOVE_AFTER not in items_in(dynamodb, table)[schema.TASK]

    store.apply([revive(WAKE_POLICY, dead.stored, now=NOW, draw=a_draw())])
    assert schema.REMOVE_AFTER not in items_in(dynamodb, table)[schema.TASK]


def test_the_rows_beside_a_removed_task_are_deleted(dynamodb: Any, table: str):
    gone, other = (with_rows(dynamodb, table, attempts=2) for _ in range(2))
    remove(dynamodb, table, gone)

    with asked_of(dynamodb) as asked:
        DependentRows(dynamodb, table).delete(gone.id)

    assert asked == ["Query consistent", "BatchWriteItem"]
    left = dynamodb.scan(TableName=table)["Items"]
    assert {item[schema.PK]["S"] for item in left} == {schema.task_pk(other.id)}
    assert a_store(dynamodb, table).get([other.id]) == {other.id: other}


def test_more_rows_than_one_call_takes_are_deleted(dynamodb: Any, table: str):
    task = with_rows(dynamodb, table, attempts=59)
    remove(dynamodb, table, task)

    with asked_of(dynamodb) as asked:
        DependentRows(dynamodb, table).delete(task.id)

    assert asked == ["Query consistent", *["BatchWriteItem"] * 3]
    assert items_in(dynamodb, table) == {}


def test_deleting_dependent_rows_again_changes_nothing(dynamodb: Any, table: str):
    with asked_of(dynamodb) as asked:
        DependentRows(dynamodb, table).delete(a_task().id)

    assert asked == ["Query consistent"]


def test_a_task_that_exists_keeps_its_dependent_rows(dynamodb: Any, table: str):
    task = with_rows(dynamodb, table, attempts=1)
    before = items_in(dynamodb, table)

    DependentRows(dynamodb, table).delete(task.id)

    assert items_in(dynamodb, table) == before


def test_unprocessed_items_of_a_batch_are_requested_again(
    dynamodb: Any, table: str, pauses: list[float]
):
    task = with_rows(dynamodb, table, attempts=29)
    remove(dynamodb, table, task)
    throttled = Throttled(dynamodb, few=10)

    DependentRows(throttled, table).delete(task.id)

    assert throttled.asked == [25, 15, 5, 5]
    assert (pauses, items_in(dynamodb, table)) == ([], {})


def test_a_table_that_does_nothing_for_long_is_unavailable(
    dynamodb: Any, table: str, pauses: list[float]
):
    task = with_rows(dynamodb, table, attempts=1)
    remove(dynamodb, table, task)
    throttled = Throttled(dynamodb, few=0)

    with pytest.raises(Unavailable, match="BatchWriteItem: every key stays unprocessed"):
        DependentRows(throttled, table).delete(task.id)

    assert throttled.asked == [2] * 5
    assert pauses == [0.1, 0.2, 0.4, 0.8]
