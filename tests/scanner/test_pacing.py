import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.core.lanes import Lane
from lambdas.core.times import HOUR, MINUTE, SECOND
from lambdas.scanner.pace import CATCH_UP, OVERDUE_AFTER, PACED_AHEAD, Pacer
from lambdas.settings import Settings
from tests.factories import NOW

rates = st.floats(min_value=0.1, max_value=5_000)


def slots(pacer: Pacer, count: int, lane: Lane = Lane.MEDIUM) -> list[int]:
    found = (pacer.slot(lane, f"task {number}") for number in range(count))
    return [slot for slot in found if slot is not None]


def test_the_first_goes_at_once_and_the_rest_follow_evenly():
    pacer = Pacer({}, rate=4, now=NOW)

    assert slots(pacer, 5) == [NOW, NOW + 250, NOW + 500, NOW + 750, NOW + SECOND]
    assert pacer.ends() == {"medium": NOW + 1_250}


@given(rates)
def test_slots_are_handed_out_for_a_minute_and_no_further(rate: float):
    given_out = slots(Pacer({}, rate=rate, now=NOW), 2_000)

    assert given_out == sorted(given_out)
    assert given_out[0] == NOW
    assert given_out[-1] < NOW + PACED_AHEAD
    assert len(given_out) <= -(-rate * PACED_AHEAD // SECOND)


def test_once_the_slots_of_a_lane_are_used_up_the_other_lanes_have_theirs():
    pacer = Pacer({}, rate=1, now=NOW)

    assert len(slots(pacer, 100)) == 60
    assert pacer.used_up(Lane.MEDIUM)
    assert not pacer.used_up(Lane.HIGH)
    assert slots(pacer, 1, Lane.HIGH) == [NOW]


def test_a_task_that_asks_again_keeps_its_slot():
    pacer = Pacer({}, rate=1, now=NOW)
    first = slots(pacer, 60)

    assert slots(pacer, 60) == first


@given(rates, st.integers(0, 100), st.integers(0, 2 * MINUTE))
def test_the_next_tick_goes_on_where_the_slots_ended(rate: float, count: int, later: int):
    pacer = Pacer({}, rate=rate, now=NOW)
    before = slots(pacer, count)
    after = slots(Pacer(pacer.ends(), rate=rate, now=NOW + later), 2_000)

    if before and after:
        assert after[0] >= NOW + later
        assert after[0] - before[-1] >= SECOND / rate - 1


def test_a_tick_that_comes_late_makes_up_for_nothing():
    assert slots(Pacer({"medium": NOW - HOUR}, rate=1, now=NOW), 2) == [NOW, NOW + SECOND]


def test_a_clock_that_once_ran_ahead_holds_a_lane_up_for_a_minute_only():
    pacer = Pacer({"medium": NOW + HOUR}, rate=1, now=NOW)
    assert slots(pacer, 1) == []

    assert slots(Pacer(pacer.ends(), rate=1, now=NOW + MINUTE), 1) == [NOW + MINUTE]


def test_what_is_past_need_not_be_kept():
    assert Pacer({"low": NOW, "high": NOW - 1}, rate=1, now=NOW).ends() == {}


@pytest.mark.parametrize(("late", "overdue"), [(OVERDUE_AFTER, False), (OVERDUE_AFTER + 1, True)])
def test_a_tick_that_is_a_minute_late_is_no_outage(late: int, overdue: bool):
    assert Pacer({}, rate=1, now=NOW).overdue(NOW - late) is overdue


def test_the_setting_and_the_scanner_agree_on_the_pace():
    settings = Settings(table="t", queue_high="h", queue_medium="m", queue_low="l")
    assert settings.catch_up == CATCH_UP
