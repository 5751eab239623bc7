"""The rows of workers in DynamoDB."""

from typing import Any

import pytest

from duetime.aws.worker_store import DynamoWorkerStore
from duetime.core.lanes import Lane
from duetime.core.times import SECOND
from duetime.core.workers import LIVE_FOR, Running, WorkerRecord
from tests.factories import NOW


@pytest.fixture
def store(dynamodb: Any, table: str) -> DynamoWorkerStore:
    return DynamoWorkerStore(dynamodb, table)


def a_record(name: str = "gpu-1", **fields: Any) -> WorkerRecord:
    given: dict[str, Any] = {"since": NOW, "seen": NOW, "backend": "aws", "pool": "batch"}
    given |= {"lanes": (Lane.HIGH, Lane.LOW), "handlers": ("shop.restock",)}
    return WorkerRecord(name=name, **{**given, **fields})


def test_worker_is_listed_as_it_was_put(store: DynamoWorkerStore):
    full = a_record(
        concurrency=8,
        running=(Running("01K", NOW),),
        draining=True,
        host="ip-10-0-0-1",
        version="1",
    )
    store.put(full)
    store.put(a_record("a"))

    assert list(store.list(NOW)) == [a_record("a"), full]


def test_worker_that_was_put_again_is_listed_once(store: DynamoWorkerStore):
    store.put(a_record())
    store.put(a_record(seen=NOW + SECOND))

    assert list(store.list(NOW + SECOND)) == [a_record(seen=NOW + SECOND)]


def test_worker_that_says_nothing_for_a_minute_is_gone(store: DynamoWorkerStore):
    store.put(a_record())

    assert len(store.list(NOW + LIVE_FOR - 1)) == 1
    assert store.list(NOW + LIVE_FOR) == []


def test_worker_that_has_ended_is_not_listed(store: DynamoWorkerStore):
    store.put(a_record())
    store.remove("gpu-1")
    store.remove("never-there")

    assert store.list(NOW) == []
