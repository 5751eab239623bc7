"""The times that a rate limit hands out, for any rate and any order of requests."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.limits.definition import Rate
from duetime.core.limits.rate import (
    RateKey,
    RateState,
    SlotRequest,
    blocked,
    free_at_once,
    grant_life,
    most_starts,
    next_slot,
    reserved,
)
from duetime.core.quotas import nanos
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, Millis
from tests.factories import NOW

KEY = RateKey(namespace="default", name="stripe")
FIVE_A_SECOND = Rate(count=5, period=SECOND)

rates = st.builds(
    Rate,
    count=st.integers(1, 1_000),
    period=st.sampled_from([SECOND, 7_001, MINUTE, HOUR, DAY]),
    burst=st.integers(0, 50),
)
steps = st.lists(
    st.tuples(st.integers(0, 2_000), st.integers(1, 40), st.booleans()), min_size=1, max_size=30
)


def request(rate: Rate, count: int = 1, now: Millis = NOW, at_once: bool = False) -> SlotRequest:
    return SlotRequest(key=KEY, rate=rate, count=count, asked_at=now, at_once=at_once)


def played(rate: Rate, given_steps: list[tuple[int, int, bool]]) -> list[Millis]:
    state, handed_out = RateState(), []
    times = accumulate(pause for pause, _, _ in given_steps)
    for at, (_, count, at_once) in zip(times, given_steps, strict=True):
        state, slots = reserved(state, request(rate, count, NOW + at, at_once))
        assert all(slot >= NOW + at for slot in slots)
        assert not at_once or all(slot == NOW + at for slot in slots)
        handed_out += slots
    return handed_out


@given(rates, steps)
def test_no_period_has_more_times_than_count_and_burst(rate: Rate, steps: list):
    slots = played(rate, steps)

    most = rate.count + rate.burst
    for first, after in zip(slots, slots[most:], strict=False):
        assert after - first >= rate.period


@given(rates, steps, st.integers(1, 3 * MINUTE))
def test_no_span_has_more_times_than_it_says(rate: Rate, steps: list, span: Millis):
    slots = played(rate, steps)

    for first, after in zip(slots, slots[most_starts(rate, span) :], strict=False):
        assert after - first >= span


@given(rates, steps)
def test_times_are_handed_out_in_order(rate: Rate, steps: list):
    slots = played(rate, steps)

    assert slots == sorted(slots)


def test_fifty_tasks_at_five_a_second_take_ten_seconds():
    _, slots = reserved(RateState(), request(FIVE_A_SECOND, 50))

    assert slots == [NOW + number * 200 for number in range(50)]


def test_burst_starts_at_once_after_a_pause():
    rate = Rate(count=1, period=SECOND, burst=3)

    state, slots = reserved(RateState(), request(rate, 6))

    assert [slot - NOW for slot in slots] == [0, 0, 0, 0, SECOND, 2 * SECOND]
    assert next_slot(state, rate, NOW) == NOW + 3 * SECOND


def test_interval_that_is_no_whole_number_stays_exact():
    rate = Rate(count=7, period=SECOND)

    _, slots = reserved(RateState(), request(rate, 7_001))

    assert slots[-1] - NOW in (1_000 * SECOND, 1_000 * SECOND + 1)


def test_request_at_once_takes_what_is_free_and_moves_nothing_else():
    rate = Rate(count=1, period=SECOND, burst=1)

    state, slots = reserved(RateState(), request(rate, 5, at_once=True))
    again, none = reserved(state, request(rate, 5, at_once=True))

    assert (slots, none) == ([NOW, NOW], [])
    assert again == state
    assert free_at_once(state, rate, NOW + SECOND) == 1


def test_block_moves_the_next_times_behind_it_without_a_burst():
    rate = Rate(count=1, period=SECOND, burst=5)
    state = blocked(RateState(tat=nanos(NOW)), rate, NOW + MINUTE)

    _, slots = reserved(state, request(rate, 3))

    assert [slot - NOW for slot in slots] == [60_000, 61_000, 62_000]
    assert free_at_once(state, rate, NOW) == 0


@given(rates, steps, st.lists(st.integers(0, MINUTE), min_size=1, max_size=5))
def test_block_only_ever_makes_a_limit_later(rate: Rate, steps: list, untils: list[Millis]):
    state = RateState()
    for until in untils:
        after = blocked(state, rate, NOW + until)
        assert after.tat >= state.tat
        assert blocked(after, rate, NOW + until) == after
        state = after

    assert state.blocked_until == NOW + max(untils)
    assert next_slot(state, rate, NOW) >= state.blocked_until


@pytest.mark.parametrize(("period", "life"), [(SECOND, SECOND), (MINUTE, 6_000), (DAY, DAY // 10)])
def test_life_of_a_grant_is_a_tenth_of_the_period_or_a_second(period: Millis, life: Millis):
    assert grant_life(Rate(count=1, period=period)) == life
