from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duetime.core.retry import DEFAULT_RETRY, RetryPolicy
from duetime.core.times import SECOND
from tests.strategies import shares

counts = st.integers(1, 100)
# Growing policies over the contract's whole range. A base of zero has a test of its own.
growing = st.builds(
    RetryPolicy,
    base_delay=st.floats(0.001, 86_400),
    multiplier=st.floats(1, 86_400),
    max_delay=st.floats(0, 86_400),
    jitter=st.floats(0, 86_400),
)


def exact_backoff(policy, failed_attempts):
    """The delay in seconds, in rational numbers, which neither round nor overflow."""
    grown = Fraction(policy.base_delay) * Fraction(policy.multiplier) ** (failed_attempts - 1)
    return min(grown, Fraction(policy.max_delay))


@pytest.mark.parametrize(
    ("failed_attempts", "backoff"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (12, 2048)]
)
@given(shares)
def test_default_policy_doubles_from_one_second(failed_attempts, backoff, luck):
    delay = DEFAULT_RETRY.delay(failed_attempts, luck)

    assert backoff * SECOND <= delay <= backoff * SECOND + 500


def test_default_policy_is_that_of_the_contract():
    assert (
        RetryPolicy(max_attempts=5, base_delay=1, multiplier=2, max_delay=3600, jitter=0.5)
        == DEFAULT_RETRY
    )


def test_default_jitter_uses_its_whole_range():
    assert DEFAULT_RETRY.delay(1, 0.0) == 1000
    assert DEFAULT_RETRY.delay(1, 0.999) == 1500


@given(st.integers(13, 10_000), shares)
def test_default_policy_never_exceeds_its_cap(failed_attempts, luck):
    delay = DEFAULT_RETRY.delay(failed_attempts, luck)

    assert 3600 * SECOND <= delay <= 3600 * SECOND + 500


@given(growing, counts, shares)
@example(RetryPolicy(base_delay=86_400, multiplier=86_400, max_delay=86_400), 100, 0.5)
@example(RetryPolicy(base_delay=86_400.0, multiplier=86_400.0, max_delay=86_400.0), 100, 0.5)
def test_the_delay_is_the_capped_backoff_and_the_jitter_on_top(policy, failed_attempts, luck):
    delay = policy.delay(failed_attempts, luck)

    expected = exact_backoff(policy, failed_attempts) + Fraction(policy.jitter) * Fraction(luck)
    assert abs(delay - expected * SECOND) <= 1


@given(growing, counts, shares)
def test_a_later_failure_never_waits_less(policy, failed_attempts, luck):
    assert policy.delay(failed_attempts, luck) <= policy.delay(failed_attempts + 1, luck)


@given(growing, counts, shares, shares)
def test_more_luck_never_waits_less(policy, failed_attempts, one, other):
    low, high = sorted((one, other))

    assert policy.delay(failed_attempts, low) <= policy.delay(failed_attempts, high)


@given(st.floats(1e-300, 1e300), st.floats(1, 1e300), st.integers(1, 10**6), shares)
def test_extreme_values_end_at_the_cap(base_delay, multiplier, failed_attempts, luck):
    policy = RetryPolicy(base_delay=base_delay, multiplier=multiplier, max_delay=3600.0)

    assert 0 <= policy.delay(failed_attempts, luck) <= 3600 * SECOND + 500


@given(st.floats(0, 86_400), counts)
@example(86_400.0, 99)
def test_no_base_delay_means_no_delay(multiplier, failed_attempts):
    policy = RetryPolicy(base_delay=0, multiplier=multiplier, jitter=0)

    assert policy.delay(failed_attempts, 0.5) == 0
