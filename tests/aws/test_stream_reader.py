from dataclasses import replace
from typing import Any

import pytest

from duetime.aws import clients
from duetime.aws.stream_reader import StreamReader, stream_arn
from duetime.core.delivery import delivery_of
from duetime.core.events import StatusChange, status_change
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Outcome, Status
from duetime.core.ports import Reservation, TaskStore
from duetime.core.steps.lease import lease, renew
from duetime.core.steps.record import Failure, fail, succeed
from duetime.core.task import TaskError
from duetime.core.times import SECOND
from tests.aws.stored import a_store
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_sent_task, a_spec, an_id


@pytest.fixture
def store(dynamodb: Any, table: str) -> TaskStore:
    return a_store(dynamodb, table)


def a_feed(dynamodb: Any, table: str, *, from_start: bool = False) -> StreamReader:
    return StreamReader(clients.streams(), stream_arn(dynamodb, table), from_start=from_start)


def test_every_status_change_is_in_the_stream_once_and_in_order(
    dynamodb: Any, table: str, store: TaskStore
):
    feed = a_feed(dynamodb, table)
    task = a_sent_task(spec=a_spec(run_at=NOW, name="report", namespace="growth"))
    store.put([task])
    [leased] = store.apply([lease(delivery_of(task, NOW), now=NOW + 7, holder="me")])
    [renewed] = store.apply([renew(leased.stored, now=NOW + SECOND)])
    [done] = store.apply([succeed(renewed.stored, result="x" * 5_000, now=NOW + 2 * SECOND)])

    assert feed.poll() == [
        status_change(None, task),
        status_change(task, leased.stored),
        status_change(renewed.stored, replace(done.stored, result=None)),  # kept in another row
    ]
    assert feed.poll() == []


def test_a_later_change_is_read_by_the_next_poll(dynamodb: Any, table: str, store: TaskStore):
    feed = a_feed(dynamodb, table)
    for _ in range(2):
        task = a_sent_task()
        store.put([task])
        assert feed.poll() == [status_change(None, task)]


def test_a_feed_begins_now_or_at_the_start(dynamodb: Any, table: str, store: TaskStore):
    task = a_sent_task()
    store.put([task])

    assert a_feed(dynamodb, table).poll() == []
    assert a_feed(dynamodb, table, from_start=True).poll() == [status_change(None, task)]


def test_rows_that_are_no_tasks_are_passed_over(dynamodb: Any, table: str, store: TaskStore):
    feed = a_feed(dynamodb, table)
    task = a_running_task()
    store.keep_attempt(task.id, task.current)
    key = Reservation(namespace="default", key="k", task_id=an_id(), body_hash="h", expires_at=NOW)
    store.reserve([key], NOW)

    assert feed.poll() == []


def test_long_texts_are_cut_not_missed(dynamodb: Any, table: str, store: TaskStore):
    task = a_running_task(
        spec=a_spec(run_at=NOW, payload="p" * 5_000, name="n" * 200, namespace="growth")
    )
    store.put([task])
    feed = a_feed(dynamodb, table)
    error = TaskError(type="ValueError", message="m" * 5_000)
    failure = Failure(outcome=Outcome.FAILED, error=error, permanent=True)
    store.apply([fail(WAKE_POLICY, task, failure, now=NOW + SECOND, draw=a_draw())])

    assert feed.poll() == [
        StatusChange(
            task_id=task.id,
            namespace="growth",
            name="n" * 64,
            target=None,
            lane=Lane.MEDIUM,
            before=Status.RUNNING,
            after=Status.DEAD,
            attempt=1,
            at=NOW + SECOND,
            due_at=task.due_at,
            ahead_ms=task.due_at - task.created_at,
            drift_ms=task.current.drift_ms,
            outcome=Outcome.FAILED,
            error=TaskError(type="ValueError", message="m" * 64),
            has_follow_up=False,
            schedule_id=None,
            took_ms=NOW + SECOND - task.current.started_at,
            max_attempts=task.budget,
        )
    ]
