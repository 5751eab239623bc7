"""Quotas: what a bucket grants, what a wait is worth, and which quotas can be read."""

import json
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.quotas import (
    CLOCK_SKEW,
    NANOS_PER_SECOND,
    BadQuota,
    Quota,
    Rate,
    parse_quotas,
    read_quotas,
)

NOW = 1_794_819_600 * NANOS_PER_SECOND

rates = st.builds(
    lambda per_second, burst: Quota(submissions_per_second=per_second, burst=burst).rate,
    st.floats(0.01, 100_000),
    st.none() | st.integers(1, 1_000),
)
pauses = st.integers(0, 5 * NANOS_PER_SECOND)
takes = st.lists(st.tuples(pauses, st.integers(1, 300)), min_size=1, max_size=30)


def grants(rate: Rate, steps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns when tokens were granted, and how many."""
    full_at, found = 0, []
    for at, (_, wanted) in zip(accumulate(p for p, _ in steps), steps, strict=True):
        taken = rate.take(full_at, NOW + at, wanted)
        full_at = taken.full_at
        found.append((NOW + at, taken.granted))
    return found


@given(rates, takes)
def test_no_span_has_more_than_the_burst_and_its_share_of_the_rate(rate: Rate, steps: Any):
    granted = grants(rate, steps)

    for first, (start, _) in enumerate(granted):
        total = 0
        for at, number in granted[first:]:
            total += number
            assert (total - rate.burst) * rate.interval <= at - start


@given(rates, takes, st.integers(1, 300))
def test_refused_take_changes_nothing(rate: Rate, steps: Any, wanted: int):
    full_at = 0
    for pause, number in steps:
        full_at = rate.take(full_at, NOW + pause, number).full_at

    taken = rate.take(full_at, NOW, wanted)

    assert taken.granted > 0 or taken.full_at == full_at


@given(rates, st.integers(0, 2_000), st.integers(1, 300))
def test_named_wait_is_enough_and_none_shorter_is(rate: Rate, used: int, wanted: int):
    full_at = rate.take(0, NOW, used).full_at
    wanted = min(wanted, rate.burst)

    wait = rate.wait(full_at, NOW, wanted)

    assert rate.take(full_at, NOW + wait, wanted).granted == wanted
    if wait:
        assert rate.take(full_at, NOW + wait - 1, wanted).granted < wanted


@given(rates, st.integers(1, 2_000))
def test_full_bucket_grants_its_burst_and_no_more(rate: Rate, wanted: int):
    assert rate.take(0, NOW, wanted).granted == min(wanted, rate.burst)


@given(rates, st.integers(1, 10_000 * NANOS_PER_SECOND))
def test_bucket_of_a_wrong_clock_has_one_token(rate: Rate, ahead: int):
    wrong = NOW + rate.depth + CLOCK_SKEW + ahead

    taken = rate.take(wrong, NOW, 5)

    assert taken.granted == 1
    assert taken.full_at == NOW + rate.depth


def test_rate_allows_the_submissions_of_one_second_at_once_by_default():
    quota = Quota(submissions_per_second=2.5)

    assert quota.rate == Rate(interval=400_000_000, burst=3)
    assert Quota(stored_tasks=5).rate is None


def test_quota_of_all_others_is_for_namespaces_that_are_not_named():
    quotas = read_quotas({"shop": {"stored_tasks": 0}, "*": {"submissions_per_second": 5}})

    assert quotas.of("shop") == Quota(stored_tasks=0)
    assert quotas.of("blog") == Quota(submissions_per_second=5.0)
    assert [quotas.limits_stored(name) for name in ("shop", "blog")] == [True, False]
    assert read_quotas({"shop": {"stored_tasks": 0}}).of("blog") is None


@pytest.mark.parametrize(
    ("given_quotas", "message"),
    [
        ([], 'quotas: must be an object such as {"shop"'),
        ({"a b": {"burst": 1}}, "quotas: 'a b': a namespace is 1 to 128 letters"),
        ({"": {"burst": 1}}, "quotas: '': a namespace"),
        ({"shop": {}}, "quotas.shop: must be an object with submissions_per_second, burst"),
        ({"shop": 5}, "quotas.shop: must be an object with"),
        ({"shop": {"rate": 5}}, "quotas.shop.rate: is none of submissions_per_second, burst"),
        ({"shop": {"burst": 5}}, "quotas.shop.burst: needs submissions_per_second"),
        *(
            (
                {"*": {"submissions_per_second": rate}},
                "quotas.*.submissions_per_second: must be a number from 0.01 to 100,000",
            )
            for rate in (0, -1, True, "5", 100_001, float("nan"))
        ),
        *(
            (
                {"shop": {"submissions_per_second": 1, "burst": burst}},
                "quotas.shop.burst: must be a whole number from 1 to 100,000",
            )
            for burst in (0, 1.5, True, "5")
        ),
        (
            {"shop": {"stored_tasks": -1}},
            "quotas.shop.stored_tasks: must be a whole number from 0 to 1,000,000,000",
        ),
    ],
)
def test_quotas_that_cannot_be_used_name_the_field(given_quotas: Any, message: str):
    with pytest.raises(BadQuota) as refused:
        parse_quotas(json.dumps(given_quotas))
    assert str(refused.value).startswith(message)


def test_text_that_is_not_json_is_refused():
    with pytest.raises(BadQuota, match="not JSON"):
        parse_quotas("{")
