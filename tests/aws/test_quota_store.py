"""Rates that several sandboxes of the API share, and the count of stored tasks."""

import logging
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duetime.aws import clients, schema
from duetime.aws.quota_store import DynamoQuotaStore
from duetime.aws.stored_counts import MAX_COUNTING, StoredCounts
from duetime.core.ports import Shards
from duetime.core.quotas import CLOCK_SKEW, NANOS_PER_MILLI, Grant, Quota, Rate, nanos
from duetime.core.task import Task
from duetime.core.times import DAY, HOUR, SECOND
from tests.backends import a_table, dynamo_stores
from tests.factories import NOW, WAKE_POLICY, SteppedClock, a_spec, a_task

NOWHERE = "http://127.0.0.1:1"
SLOW = Rate(interval=NANOS_PER_MILLI * SECOND, burst=2)


class Watched:
    """A client that notes its calls."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.calls.append(name)
        return getattr(self._client, name)


def rate_of(per_second: float, burst: int | None = None) -> Rate:
    rate = Quota(submissions_per_second=per_second, burst=burst).rate
    assert rate
    return rate


def row_of(dynamodb: Any, table: str, kind: str) -> Any:
    key = {schema.PK: {"S": schema.quota_pk("shop")}, schema.SK: {"S": kind}}
    return dynamodb.get_item(TableName=table, Key=key).get("Item")


def test_sandboxes_share_one_rate(dynamodb: Any, table: str):
    clock = SteppedClock()
    sandboxes = [DynamoQuotaStore(dynamodb, table, clock) for _ in range(3)]

    granted = [sandbox.take("shop", SLOW, 1).granted for sandbox in sandboxes]
    clock.advance(SECOND)
    later = [sandbox.take("shop", SLOW, 1).granted for sandbox in sandboxes]

    assert (granted, later) == ([1, 1, 0], [1, 0, 0])


def test_take_grants_what_there_is_and_names_the_wait(dynamodb: Any, table: str):
    store = DynamoQuotaStore(dynamodb, table, SteppedClock())

    assert store.take("shop", SLOW, 5) == Grant(granted=2, wait=SLOW.interval)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    per_second=st.sampled_from([0.5, 3.0, 40.0, 500.0]),
    burst=st.integers(1, 60),
    steps=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 1_500), st.integers(1, 40)),
        min_size=1,
        max_size=20,
    ),
)
def test_no_span_has_more_than_the_burst_and_the_rate_of_the_span_and_a_second(
    dynamodb: Any, per_second: float, burst: int, steps: list[tuple[int, int, int]]
):
    rate = rate_of(per_second, burst)
    with a_table(dynamodb) as table:
        clock = SteppedClock()
        sandboxes = [DynamoQuotaStore(dynamodb, table, clock) for _ in range(3)]
        granted = []
        for sandbox, pause, wanted in steps:
            clock.advance(pause)
            grant = sandboxes[sandbox].take("shop", rate, wanted)
            granted.append((nanos(clock.now()), grant.granted))
            assert grant.granted == wanted or grant.wait > 0

    for first, (start, _) in enumerate(granted):
        total = 0
        for at, number in granted[first:]:
            total += number
            # A sandbox keeps what it has taken for a second.
            assert (total - burst) * rate.interval <= at - start + nanos(SECOND)


def test_busy_sandbox_takes_blocks(dynamodb: Any, table: str):
    client, clock = Watched(dynamodb), SteppedClock()
    store = DynamoQuotaStore(client, table, clock)
    rate = rate_of(1_000)

    for _ in range(500):
        clock.advance(2)
        assert store.take("shop", rate, 1).granted == 1

    assert len(client.calls) < 25


def test_bucket_that_was_full_for_long_grants_only_its_burst(dynamodb: Any, table: str):
    clock = SteppedClock()
    first, second = (DynamoQuotaStore(dynamodb, table, clock) for _ in range(2))
    assert [sandbox.take("shop", SLOW, 1).granted for sandbox in (first, second)] == [1, 1]

    clock.advance(HOUR)

    assert [second.take("shop", SLOW, 1).granted for _ in range(4)] == [1, 1, 0, 0]


def test_sandbox_loses_the_tokens_that_it_does_not_use_within_a_second(dynamodb: Any, table: str):
    clock = SteppedClock()
    busy, other = (DynamoQuotaStore(dynamodb, table, clock) for _ in range(2))
    rate = rate_of(100, 100)
    for _ in range(6):
        busy.take("shop", rate, 1)
    assert busy._buckets["shop"].tokens > 0

    clock.advance(SECOND)
    other.take("shop", rate, 100)

    assert busy.take("shop", rate, 1).granted == 0


def test_quiet_sandbox_takes_no_more_than_it_needs(dynamodb: Any, table: str):
    clock = SteppedClock()
    quiet = [DynamoQuotaStore(dynamodb, table, clock) for _ in range(20)]
    rate = rate_of(20, 20)

    for _ in range(3):
        clock.advance(SECOND)
        assert [sandbox.take("shop", rate, 1).granted for sandbox in quiet] == [1] * 20


def test_refused_submissions_cost_no_further_calls(dynamodb: Any, table: str):
    client, clock = Watched(dynamodb), SteppedClock()
    store = DynamoQuotaStore(client, table, clock)
    store.take("shop", SLOW, 2)
    before = len(client.calls)

    for _ in range(9):
        clock.advance(100)
        assert store.take("shop", SLOW, 1).granted == 0

    assert len(client.calls) == before


def test_single_submission_is_one_write(dynamodb: Any, table: str):
    client, clock = Watched(dynamodb), SteppedClock()
    store = DynamoQuotaStore(client, table, clock)

    for _ in range(5):
        clock.advance(10 * SECOND)
        store.take("shop", SLOW, 1)

    assert client.calls == ["update_item"] * 5


def test_clock_that_was_an_hour_ahead_does_not_stop_the_namespace(dynamodb: Any, table: str):
    DynamoQuotaStore(dynamodb, table, SteppedClock(NOW + HOUR)).take("shop", SLOW, 2)
    assert int(row_of(dynamodb, table, schema.RATE)[schema.FULL_AT]["N"]) > nanos(NOW) + CLOCK_SKEW
    clock = SteppedClock()
    store = DynamoQuotaStore(dynamodb, table, clock)

    assert store.take("shop", SLOW, 2).granted == 1
    clock.advance(SECOND)
    assert store.take("shop", SLOW, 2).granted == 1


def test_row_of_a_rate_leaves_a_day_after_its_bucket_is_full(dynamodb: Any, table: str):
    DynamoQuotaStore(dynamodb, table, SteppedClock()).take("shop", SLOW, 1)

    row = row_of(dynamodb, table, schema.RATE)

    assert int(row[schema.REMOVE_AFTER]["N"]) == (NOW + 2 * SECOND + DAY) // SECOND


def test_table_that_does_not_answer_allows_everything(caplog: pytest.LogCaptureFixture):
    store = DynamoQuotaStore(clients.dynamodb(NOWHERE), "tasks", SteppedClock())

    with caplog.at_level(logging.WARNING):
        assert store.take("shop", SLOW, 5) == Grant(granted=5)
        assert store.admit("shop", 1, 5) == 5

    messages = [record.message for record in caplog.records]
    assert messages == ["quota not checked: rate", "quota not checked: stored tasks"]


def of_shop(created_at: int = NOW) -> Task:
    return replace(a_task(spec=a_spec(namespace="shop")), created_at=created_at)


def counts_of(dynamodb: Any, table: str, clock: SteppedClock, days: int = 5) -> StoredCounts:
    shards = Shards(count=WAKE_POLICY.shards, since=NOW - days * DAY)
    return StoredCounts(dynamodb, table, shards=lambda now: shards, clock=clock)


def stored(dynamodb: Any, table: str) -> int | None:
    row = row_of(dynamodb, table, schema.STORED)
    return int(row[schema.COUNT]["N"]) if row else None


def test_first_change_counts_what_is_stored_and_later_ones_add(dynamodb: Any):
    with dynamo_stores(dynamodb) as stores:
        table = stores.tasks._table.name
        created = [NOW - 4 * DAY, NOW - DAY, NOW, NOW]
        stores.tasks.put([of_shop(at) for at in created])
        stores.tasks.put([a_task(spec=a_spec(namespace="shopping")), a_task()])
        counts = counts_of(dynamodb, table, stores.clock)

        counts.add({"shop": 1})
        assert stored(dynamodb, table) == 4
        counts.add({"shop": 3, "other": 0})
        counts.add({"shop": -2})
        assert stored(dynamodb, table) == 5


def test_deleted_row_is_counted_again(dynamodb: Any):
    with dynamo_stores(dynamodb) as stores:
        table = stores.tasks._table.name
        stores.tasks.put([of_shop()])
        counts = counts_of(dynamodb, table, stores.clock)
        counts.add({"shop": 1})
        counts.add({"shop": 40})
        key = {schema.PK: {"S": schema.quota_pk("shop")}, schema.SK: {"S": schema.STORED}}
        dynamodb.delete_item(TableName=table, Key=key)

        counts.add({"shop": 1})

        assert stored(dynamodb, table) == 1


def test_count_that_takes_too_long_ends_with_the_newest_days(
    dynamodb: Any, caplog: pytest.LogCaptureFixture
):
    class Passing(SteppedClock):
        def monotonic(self) -> int:
            self.advance(MAX_COUNTING // 3)
            return super().monotonic()

    with dynamo_stores(dynamodb) as stores:
        table = stores.tasks._table.name
        stores.tasks.put([of_shop(NOW - 50 * DAY), of_shop()])

        counts_of(dynamodb, table, Passing(), days=60).add({"shop": 1})

        assert stored(dynamodb, table) == 1
    assert "stored tasks counted in part: too many days" in caplog.text


def test_count_is_read_again_after_five_seconds(dynamodb: Any, table: str):
    client, clock = Watched(dynamodb), SteppedClock()
    store = DynamoQuotaStore(client, table, clock)
    counts = counts_of(dynamodb, table, clock)
    counts.add({"shop": 1})  # makes the row, with 0: no task is stored

    assert [store.admit("shop", 5, 3), store.admit("shop", 5, 3)] == [3, 2]
    assert client.calls == ["get_item"]
    counts.add({"shop": 4})
    clock.advance(5 * SECOND)
    assert store.admit("shop", 5, 3) == 1
