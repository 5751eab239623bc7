from collections import Counter
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.ids import RANDOM_BITS, new_id
from duetime.core.lanes import Lane
from duetime.core.times import MINUTE, SECOND, to_datetime
from duetime.core.wakes import Wake, WakeKind, bucket_of, minute_of, parse_wake, shard_of
from tests.strategies import LATEST, lanes, moments, task_ids

shard_counts = st.integers(1, 64)
wakes = st.builds(
    Wake,
    kind=st.sampled_from(WakeKind),
    lane=lanes,
    at=moments,
    task_id=task_ids,
    bucket=st.builds(bucket_of, moments.map(minute_of), st.integers(0, 63)),
)


@given(wakes)
def test_wake_survives_conversion_to_its_key_and_back(wake):
    assert parse_wake(wake.bucket, wake.key) == wake


@given(st.lists(wakes, max_size=8))
def test_keys_sort_by_kind_then_lane_then_time_then_id(found):
    by_key = sorted(found, key=lambda w: w.key)

    assert by_key == sorted(found, key=lambda w: (w.kind, w.lane.rank, w.at, w.task_id))


def test_within_a_bucket_dispatches_come_first():
    assert WakeKind.DISPATCH < WakeKind.WATCH


def test_key_is_readable():
    wake = Wake(
        kind=WakeKind.WATCH, lane=Lane.LOW, at=1_794_820_020_120, task_id="01K", bucket="any"
    )

    assert wake.key == "w#2#1794820020120#01K"


@pytest.mark.parametrize(
    ("at", "shard", "bucket"),
    [
        (datetime(2026, 11, 16, 9, 7, tzinfo=UTC), 3, "20261116T0907#03"),
        (datetime(2026, 11, 16, 9, 7, 59, 999_000, tzinfo=UTC), 15, "20261116T0907#15"),
        (datetime(2026, 12, 31, 23, 59, tzinfo=UTC), 0, "20261231T2359#00"),
    ],
)
def test_bucket_is_readable(at, shard, bucket):
    assert bucket_of(minute_of(int(at.timestamp() * SECOND)), shard) == bucket


@given(moments, st.integers(0, 63))
def test_a_bucket_names_the_utc_minute_and_the_shard(at, shard):
    minute, _, number = bucket_of(minute_of(at), shard).partition("#")

    assert minute == f"{to_datetime(at):%Y%m%dT%H%M}"
    assert int(number) == shard


@given(moments, moments)
def test_buckets_of_a_shard_sort_as_their_minutes_do(one, other):
    earlier = bucket_of(minute_of(one), 5) < bucket_of(minute_of(other), 5)

    assert earlier == (minute_of(one) < minute_of(other))


@given(st.integers(0, LATEST))
def test_a_minute_holds_its_sixty_seconds(at):
    start = minute_of(at) * MINUTE

    assert start <= at < start + MINUTE


@given(task_ids, shard_counts)
def test_a_shard_is_one_of_its_count_and_always_the_same(task_id, shards):
    assert 0 <= shard_of(task_id, shards) < shards
    assert shard_of(task_id, shards) == shard_of(task_id, shards)


@pytest.mark.parametrize("shards", [2, 3, 16, 60])
def test_ids_made_in_the_same_second_spread_evenly(shards):
    chance = Random(7)
    ids = [new_id(LATEST + i % 1000, chance.getrandbits(RANDOM_BITS)) for i in range(500 * shards)]

    filled = Counter(shard_of(task_id, shards) for task_id in ids)

    # A fair shard holds 500 ± 22; five deviations are allowed.
    assert len(filled) == shards
    assert all(390 <= count <= 610 for count in filled.values())
