"""Quantiles from histograms: within the bucket of the exact quantile, in order, never over the
longest."""

from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from duetime.core.stats.histogram import BOUNDS, BUCKETS, bucket_of, quantile, within

durations = st.one_of(st.integers(0, 30), st.integers(0, 3_000), st.integers(0, 10**7))
SHARES = (0.0, 0.5, 0.95, 0.99, 1.0)


def histogram(measured: list[int]) -> list[int]:
    counts = [0] * BUCKETS
    for duration in measured:
        counts[bucket_of(duration)] += 1
    return counts


def exact(measured: list[int], share: float) -> int:
    return sorted(measured)[max(ceil(share * len(measured)), 1) - 1]


def test_there_are_15_buckets_up_to_a_minute():
    assert (BUCKETS, BOUNDS[0], BOUNDS[-1]) == (15, 1, 60_000)
    assert list(BOUNDS) == sorted(BOUNDS)


@given(durations)
def test_a_duration_is_in_the_bucket_whose_bound_it_does_not_exceed(duration: int):
    bucket = bucket_of(duration)

    assert bucket == len(BOUNDS) or duration <= BOUNDS[bucket]
    assert bucket == 0 or duration > BOUNDS[bucket - 1]


@given(st.lists(durations, min_size=1))
def test_quantile_is_in_the_bucket_of_the_exact_one(measured: list[int]):
    counts, longest = histogram(measured), max(measured)

    for share in SHARES:
        found = quantile(counts, share, longest)
        wanted = exact(measured, share)
        assert found is not None
        low = BOUNDS[bucket_of(wanted) - 1] if bucket_of(wanted) else 0
        assert low <= found <= longest
        assert bucket_of(found) in (bucket_of(wanted), bucket_of(low))


@given(st.lists(durations, min_size=1))
def test_quantiles_grow_with_their_share_up_to_the_longest(measured: list[int]):
    counts, longest = histogram(measured), max(measured)
    found = [quantile(counts, share, longest) for share in SHARES]

    assert found == sorted(found, key=lambda each: each or 0)
    assert found[-1] == longest


@given(st.integers(0, 10**7), st.integers(1, 50))
def test_equal_durations_have_that_one_as_their_last_quantile(duration: int, count: int):
    assert quantile(histogram([duration] * count), 1.0, duration) == duration


def test_there_is_no_quantile_of_nothing():
    assert quantile([0] * BUCKETS, 0.99, 0) is None


@given(st.lists(durations), st.sampled_from(BOUNDS))
def test_within_counts_exactly_what_is_not_over_a_bound(measured: list[int], bound: int):
    assert within(histogram(measured), bound) == sum(each <= bound for each in measured)
