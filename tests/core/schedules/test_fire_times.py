"""What will fire, and what fired last: as told, and as it really comes."""

from dataclasses import replace
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.core.recurrence.fire_times import fire_times
from lambdas.core.recurrence.rules import CronRule, DelayRule, RateRule, Recurrence
from lambdas.core.schedules.ahead import look_ahead
from lambdas.core.schedules.changes import create
from lambdas.core.schedules.plan import Plan
from lambdas.core.schedules.schedule import ScheduleStatus
from lambdas.core.schedules.times import after, backwards, first, last_fired_at, upcoming
from lambdas.core.times import DAY, HOUR, MINUTE, SECOND, YEAR
from tests.core.schedules.draws import ZONES, plans, recurrences
from tests.factories import NOW, RULES, a_schedule, a_spec, an_id

RARE = ["0 3 * * *", "30 2 * * 0", "0 0 1 * *", "15 1 l * *", "0 12 * 3,10 *"]
rare = st.builds(CronRule, expression=st.sampled_from(RARE), timezone=st.sampled_from(ZONES))


@given(rare, rare)
def test_what_is_announced_is_what_comes_for_two_years(one, other):
    """A clock walks from wake to wake, and looks ahead at each."""
    plan = Plan(recurrence=Recurrence(rules=(one, other)), task=a_spec(run_at=0))
    schedule = create(RULES, an_id(), plan, NOW)
    announced = [at for at in islice(upcoming(schedule, NOW), 2_000) if at <= NOW + 2 * YEAR]
    put = []
    while schedule.wake.at <= NOW + 2 * YEAR:
        now = max(schedule.wake.at, NOW)
        done = look_ahead(RULES, schedule, now)
        put += [ahead.fire_time for ahead in done.occurrences]
        assert upcoming(schedule, now) is not None
        schedule = done.applied_to(RULES, schedule)

    assert [at for at in put if at <= NOW + 2 * YEAR] == announced
    assert all(a < b for a, b in pairwise(put))


@given(plans, st.integers(0, 2 * DAY))
def test_upcoming_is_what_is_put_from_now_on(plan, wait):
    schedule = create(RULES, an_id(), plan, NOW)
    if schedule.next_at is None:
        return
    now = NOW + wait
    settled = schedule
    for _ in range(20):
        done = look_ahead(RULES, settled, now)
        settled = done.applied_to(RULES, settled)
        if not (done.settles or done.more):
            break
    announced = list(islice(upcoming(settled, now), 10))
    expected = list(islice((at for at in after(plan, now)), 10))
    assert announced == expected[: len(announced)]
    if plan.max_runs is None:
        assert announced == expected
    if settled.status is ScheduleStatus.FINISHED and not announced:
        assert settled.next_at is None


@pytest.mark.parametrize("status", [ScheduleStatus.PAUSED, ScheduleStatus.BROKEN])
def test_a_schedule_that_rests_announces_nothing(status):
    assert list(upcoming(a_schedule(status=status), NOW)) == []


def test_a_delay_announces_the_one_that_it_knows():
    delay = Recurrence(rules=(DelayRule(delay=MINUTE),))
    waiting = a_schedule(recurrence=delay, next_at=NOW + HOUR)
    assert list(upcoming(waiting, NOW)) == [NOW + HOUR]
    put = replace(waiting, next_at=None, put_at=(NOW - HOUR, NOW + SECOND), awaited="run")
    assert list(upcoming(put, NOW)) == [NOW + SECOND]
    assert list(upcoming(put, NOW + SECOND)) == []
    assert last_fired_at(put, NOW) == NOW - HOUR


@given(recurrences, st.integers(0, 3 * DAY), st.integers(0, 3 * DAY))
def test_backwards_is_forwards_turned_round(recurrence, one, other):
    start, below = sorted([NOW + one, NOW + other])
    forwards = list(islice(fire_times(recurrence, start - 1, below - 1), 5_000))
    if len(forwards) < 5_000:
        assert list(backwards(recurrence, start, below))[::-1] == forwards


def test_bounds():
    rule = Recurrence(rules=(RateRule(every=HOUR, anchor=NOW),))
    plan = Plan(
        recurrence=rule,
        task=a_spec(run_at=0),
        starts_at=NOW + 2 * HOUR,
        ends_at=NOW + 4 * HOUR,
    )
    assert list(after(plan, NOW)) == [NOW + 2 * HOUR, NOW + 3 * HOUR]
    assert first(plan, NOW + 3 * HOUR) is None


def test_the_last_that_fired_though_the_next_are_near():
    each_second = Recurrence(rules=(RateRule(every=SECOND, anchor=NOW),))
    put_at = (NOW + 239 * SECOND, NOW + 240 * SECOND)
    schedule = a_schedule(recurrence=each_second, put_at=put_at, since=NOW - HOUR)
    assert last_fired_at(schedule, NOW + 500) == NOW
    assert last_fired_at(replace(schedule, put_at=()), NOW) is None


def test_no_more_is_announced_than_there_are_runs_left():
    each_minute = Recurrence(rules=(RateRule(every=MINUTE, anchor=NOW),))
    made = create(
        RULES, an_id(), Plan(recurrence=each_minute, task=a_spec(run_at=0), max_runs=6), NOW
    )
    ahead = look_ahead(RULES, made, NOW).applied_to(RULES, made)

    assert ahead.runs == 4
    assert list(upcoming(ahead, NOW)) == [NOW + n * MINUTE for n in range(1, 7)]
    assert list(upcoming(ahead, NOW + 3 * MINUTE)) == [NOW + n * MINUTE for n in (4, 5, 6)]
