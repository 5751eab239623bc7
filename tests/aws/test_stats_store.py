"""What is special to statistics in DynamoDB: random rows, sets of maxima, sums by the scanner."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.aws import clients, schema
from duetime.aws.stats_store import LATE, MAX_HOURS_OF_MINUTES, DynamoStatsStore, rounded_up
from duetime.core.lanes import Lane
from duetime.core.stats.counts import Counts, LaneCounts
from duetime.core.stats.ports import HOURS_KEPT, MINUTES_KEPT
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, Millis
from duetime.local.moto_backend import fair_moto
from tests.backends import a_table
from tests.factories import NOW

START = NOW // HOUR * HOUR


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[Any]:
    with fair_moto():
        yield clients.dynamodb()


@pytest.fixture
def table(dynamodb: Any) -> Iterator[str]:
    with a_table(dynamodb) as table:
        yield table


@pytest.fixture
def stats(dynamodb: Any, table: str) -> DynamoStatsStore:
    return DynamoStatsStore(dynamodb, table)


def add(stats: DynamoStatsStore, start: Millis, longest: int = 4) -> None:
    counts = Counts({"succeeded": 1, "drift2": 1}, {"drift_max": longest})
    stats.add([LaneCounts(start=start, lane=Lane.HIGH, counts=counts)])


def items(dynamodb: Any, table: str) -> list[Any]:
    return dynamodb.scan(TableName=table)["Items"]


def test_rows_of_a_minute_are_at_most_four_and_add_up(
    dynamodb: Any, table: str, stats: DynamoStatsStore
):
    for _ in range(20):
        add(stats, START + MINUTE)

    stored = items(dynamodb, table)
    assert {item[schema.PK]["S"] for item in stored} == {"stats#2026-11-16T09"}
    assert {item[schema.SK]["S"] for item in stored} <= {f"01#high#{row}" for row in range(4)}
    assert {item[schema.REMOVE_AFTER]["N"] for item in stored} == {
        str((START + MINUTE + MINUTES_KEPT) // SECOND)
    }
    [row] = stats.minutes(START, START + HOUR).rows
    assert row.counts == Counts({"succeeded": 20, "drift2": 20}, {"drift_max": 4})


def test_longest_is_rounded_up_so_that_its_set_stays_small(
    dynamodb: Any, table: str, stats: DynamoStatsStore
):
    for longest in range(1_000, 1_100):
        add(stats, START, longest)

    [row] = stats.minutes(START, START + HOUR).rows
    assert row.counts.maxima == {"drift_max": 1_100}
    assert all(len(item["drift_max"]["NS"]) <= 2 for item in items(dynamodb, table))


@given(st.integers(0, 10**9))
def test_rounding_adds_less_than_a_tenth(number: int):
    assert number <= rounded_up(number) <= number * 1.1
    assert len(str(rounded_up(number)).rstrip("0")) <= 2


def test_hours_are_summed_when_their_late_batches_have_come(
    dynamodb: Any, table: str, stats: DynamoStatsStore
):
    add(stats, START - MINUTE)
    add(stats, START - 2 * MINUTE, longest=70)
    last = START - MINUTE

    stats.sum_hours(last, START + 5 * MINUTE - 1)
    assert not [i for i in items(dynamodb, table) if i[schema.PK]["S"].startswith("hours#")]
    for _ in range(2):
        stats.sum_hours(last, START + LATE)

    [hour] = [i for i in items(dynamodb, table) if i[schema.PK]["S"].startswith("hours#")]
    assert (hour[schema.PK]["S"], hour[schema.SK]["S"]) == ("hours#2026-11-16", "08#high")
    assert hour["succeeded"] == {"N": "2"}
    assert hour[schema.REMOVE_AFTER]["N"] == str((START - HOUR + HOURS_KEPT) // SECOND)


def test_sums_are_read_when_their_minutes_have_left(stats: DynamoStatsStore):
    add(stats, START - 5 * HOUR)
    stats.sum_hours(START - 5 * HOUR, START)
    add(stats, START - 5 * HOUR)  # too late: the sum is made
    add(stats, START)

    found = stats.hours(START - DAY, START + HOUR).rows
    assert [(row.start, row.counts.numbers["succeeded"]) for row in found] == [
        (START - 5 * HOUR, 1),
        (START, 1),
    ]


def test_scanner_that_was_away_sums_the_hours_it_has_missed(stats: DynamoStatsStore):
    for ago in range(10):
        add(stats, START - ago * HOUR)
    stats.sum_hours(START - 9 * HOUR + LATE, START + LATE)

    found = stats.hours(START - DAY, START + HOUR).rows
    assert len(found) == 10


def test_long_read_of_minutes_begins_later_and_says_so(stats: DynamoStatsStore):
    add(stats, START - 2 * DAY)
    add(stats, START)
    page = stats.minutes(START - 7 * DAY, START + HOUR)

    assert page.since == START - (MAX_HOURS_OF_MINUTES - 1) * HOUR
    assert [row.start for row in page.rows] == [START]
