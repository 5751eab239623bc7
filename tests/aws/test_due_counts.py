"""Forecasts from a wake index that is too large to read as a whole: the bounds of the reads."""

from typing import Any

import pytest

from duetime.aws import due_counts, soonest
from duetime.core.forecast import DueSpan
from duetime.core.lanes import Lane
from duetime.core.task import Task
from duetime.core.times import HOUR, MINUTE
from duetime.core.wake_policy import LONGEST_HORIZON
from duetime.core.wakes import minute_of
from tests.aws.stored import a_store
from tests.factories import NOW, a_spec, a_task

SPAN = DueSpan.ahead(NOW, 1)


@pytest.fixture(autouse=True)
def _large_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_counts, "WHOLE_INDEX", 0)
    monkeypatch.setattr(soonest, "FEW_WAKES", 0)


def due_in(*delays: int, **fields: Any) -> list[Task]:
    return [a_task(spec=a_spec(run_at=NOW + delay, **fields)) for delay in delays]


def test_forecast_of_a_long_bucket_counts_keys_without_reading_them(
    dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(due_counts, "BUCKET_LIMIT", 2)
    store = a_store(dynamodb, table)
    store.put([*due_in(*[30 * MINUTE] * 20), *due_in(*[30 * MINUTE] * 7, priority=Lane.HIGH)])
    at = minute_of(NOW) + 30
    assert store.due_counts(SPAN).tasks == {(at, Lane.MEDIUM): 20, (at, Lane.HIGH): 7}


def test_forecast_reads_no_more_buckets_than_its_bound(
    dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(due_counts, "MAX_QUERIES", 40)
    monkeypatch.setattr(due_counts, "WINDOW", 5)
    store = a_store(dynamodb, table)
    store.put(due_in(HOUR))
    shards = store._shards().count
    read: list[int] = []
    bucket = due_counts.DueCounter._bucket
    monkeypatch.setattr(
        due_counts.DueCounter, "_bucket", lambda *args: read.append(args[1]) or bucket(*args)
    )
    found = store.due_counts(DueSpan.ahead(NOW, 24))
    assert len(read) <= 40 + (due_counts.LOOK_BACK + due_counts.WINDOW) * shards
    assert found.looked_until == (max(read) + 1) * MINUTE


def test_forecast_with_too_many_sent_tasks_starts_after_the_horizon(
    dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(due_counts, "MAX_SENT", 2)
    store = a_store(dynamodb, table)
    store.put([*due_in(MINUTE, MINUTE, 2 * MINUTE), *due_in(40 * MINUTE)])
    found = store.due_counts(SPAN)
    assert found.looked_from == NOW + LONGEST_HORIZON
    assert found.tasks == {(minute_of(NOW) + 40, Lane.MEDIUM): 1}


def test_forecast_of_a_namespace_ends_where_its_pages_do(
    dynamodb: Any, table: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(due_counts, "MAX_PAGES", 2)
    monkeypatch.setattr(soonest, "MAX_TASKS_READ", 2)
    store = a_store(dynamodb, table)
    store.put(due_in(*(n * MINUTE for n in (20, 21, 22, 23, 24, 25)), namespace="shop"))
    found = store.due_counts(DueSpan.ahead(NOW, 1, "shop"))
    assert found.looked_until < NOW + HOUR
    complete = {m for m in range(20, 26) if NOW + m * MINUTE < found.looked_until}
    assert complete
    assert {m - minute_of(NOW) for m, _ in found.tasks} >= complete
