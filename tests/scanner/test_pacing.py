import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.aws.settings import Settings
from duetime.core.lanes import Lane, Queue
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.scanner.pacing import CATCH_UP, OVERDUE_AFTER, PACED_AHEAD, Pacer
from tests.factories import NOW

rates = st.floats(min_value=0.1, max_value=5_000)


def slots(pacer: Pacer, count: int, lane: Lane = Lane.MEDIUM) -> list[int]:
    found = (pacer.slot(Queue(lane), f"task {number}") for number in range(count))
    return [slot for slot in found if slot is not None]


def test_slots_begin_now_and_follow_evenly():
    pacer = Pacer({}, rate=4, now=NOW)

    assert slots(pacer, 5) == [NOW, NOW + 250, NOW + 500, NOW + 750, NOW + SECOND]
    assert pacer.ends() == {"medium": NOW + 1_250}


@given(rates)
def test_slots_reach_a_minute_ahead(rate: float):
    given_out = slots(Pacer({}, rate=rate, now=NOW), 2_000)

    assert given_out == sorted(given_out)
    assert given_out[0] == NOW
    assert given_out[-1] < NOW + PACED_AHEAD
    assert len(given_out) <= -(-rate * PACED_AHEAD // SECOND)


def test_each_lane_has_slots_of_its_own():
    pacer = Pacer({}, rate=1, now=NOW)

    assert len(slots(pacer, 100)) == 60
    assert pacer.used_up(Queue(Lane.MEDIUM))
    assert not pacer.used_up(Queue(Lane.HIGH))
    assert slots(pacer, 1, Lane.HIGH) == [NOW]


def test_task_that_asks_twice_keeps_its_slot():
    pacer = Pacer({}, rate=1, now=NOW)
    first = slots(pacer, 60)

    assert slots(pacer, 60) == first


@given(rates, st.integers(0, 100), st.integers(0, 2 * MINUTE))
def test_next_tick_continues_where_the_slots_ended(rate: float, count: int, later: int):
    pacer = Pacer({}, rate=rate, now=NOW)
    before = slots(pacer, count)
    after = slots(Pacer(pacer.ends(), rate=rate, now=NOW + later), 2_000)

    if before and after:
        assert after[0] >= NOW + later
        assert after[0] - before[-1] >= SECOND / rate - 1


def test_late_tick_does_not_make_up_for_lost_slots():
    assert slots(Pacer({"medium": NOW - HOUR}, rate=1, now=NOW), 2) == [NOW, NOW + SECOND]


def test_clock_that_once_ran_ahead_delays_a_lane_by_a_minute_at_most():
    pacer = Pacer({"medium": NOW + HOUR}, rate=1, now=NOW)
    assert slots(pacer, 1) == []

    assert slots(Pacer(pacer.ends(), rate=1, now=NOW + MINUTE), 1) == [NOW + MINUTE]


def test_ends_in_the_past_are_not_kept():
    assert Pacer({"low": NOW, "high": NOW - 1}, rate=1, now=NOW).ends() == {}


@pytest.mark.parametrize(("late", "overdue"), [(OVERDUE_AFTER, False), (OVERDUE_AFTER + 1, True)])
def test_a_tick_that_is_a_minute_late_is_no_outage(late: int, overdue: bool):
    assert Pacer({}, rate=1, now=NOW).overdue(NOW - late) is overdue


def test_setting_and_scanner_have_the_same_default_pace():
    settings = Settings(table="t", queues='{"high":"h","medium":"m","low":"l"}')
    assert settings.catch_up == CATCH_UP
