from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.percentile import percentile
from duetime.core.steps.lease import drift
from tests.strategies import moments, waits

values = st.lists(st.integers(0, 10_000), min_size=1, max_size=60)
PERCENTS = [0, 1, 7, 25, 50, 55, 75, 90, 95, 99, 100]


@given(moments, waits)
def test_drift_is_how_late_a_task_started(due_at, late):
    assert drift(due_at=due_at, started_at=due_at + late) == late


def least_that_enough_do_not_exceed(numbers, percent):
    """The definition of a percentile."""
    wanted = Fraction(percent, 100)
    return min(
        candidate
        for candidate in numbers
        if Fraction(sum(n <= candidate for n in numbers), len(numbers)) >= wanted
    )


@given(values, st.sampled_from(PERCENTS))
def test_a_percentile_is_the_least_value_that_its_share_does_not_exceed(numbers, percent):
    expected = least_that_enough_do_not_exceed(numbers, percent)

    assert percentile(numbers, percent / 100) == expected


@given(values, st.randoms(use_true_random=False))
def test_the_order_of_the_values_does_not_matter(numbers, chance):
    shuffled = chance.sample(numbers, len(numbers))

    assert percentile(shuffled, 0.95) == percentile(numbers, 0.95)


@pytest.mark.parametrize(
    ("share", "value"), [(0.07, 7), (0.5, 50), (0.95, 95), (0.99, 99), (1.0, 100)]
)
def test_percentiles_of_one_to_a_hundred(share, value):
    assert percentile(range(1, 101), share) == value


def test_percentile_of_no_values_is_refused():
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)
