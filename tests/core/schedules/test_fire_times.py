"""Announced fire times compared with those that really fire."""

from dataclasses import replace
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.recurrence.fire_times import fire_times
from duetime.core.recurrence.rules import CronRule, DelayRule, RateRule, Recurrence
from duetime.core.schedules.changes import create
from duetime.core.schedules.fire_times import after, backwards, first, last_fired_at, upcoming
from duetime.core.schedules.lookahead import look_ahead
from duetime.core.schedules.plan import Plan
from duetime.core.schedules.schedule import ScheduleStatus
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, YEAR
from tests.core.schedules.strategies import ZONES, plans, recurrences
from tests.factories import NOW, WAKE_POLICY, a_schedule, a_spec, an_id

RARE = ["0 3 * * *", "30 2 * * 0", "0 0 1 * *", "15 1 l * *", "0 12 * 3,10 *"]
rare = st.builds(CronRule, expression=st.sampled_from(RARE), timezone=st.sampled_from(ZONES))


@given(rare, rare)
def test_announced_fire_times_are_those_that_fire_for_two_years(one, other):
    """The clock steps from wake to wake, with a pass at each."""
    plan = Plan(recurrence=Recurrence(rules=(one, other)), task=a_spec(run_at=0))
    schedule = create(WAKE_POLICY, an_id(), plan, NOW)
    announced = [at for at in islice(upcoming(schedule, NOW), 2_000) if at <= NOW + 2 * YEAR]
    put = []
    while schedule.wake.at <= NOW + 2 * YEAR:
        now = max(schedule.wake.at, NOW)
        done = look_ahead(WAKE_POLICY, schedule, now)
        put += [ahead.fire_time for ahead in done.occurrences]
        assert upcoming(schedule, now) is not None
        schedule = done.applied_to(WAKE_POLICY, schedule)

    assert [at for at in put if at <= NOW + 2 * YEAR] == announced
    assert all(a < b for a, b in pairwise(put))


@given(plans, st.integers(0, 2 * DAY))
def test_upcoming_fire_times_are_those_that_are_put(plan, wait):
    schedule = create(WAKE_POLICY, an_id(), plan, NOW)
    if schedule.next_at is None:
        return
    now = NOW + wait
    settled = schedule
    for _ in range(20):
        done = look_ahead(WAKE_POLICY, settled, now)
        settled = done.applied_to(WAKE_POLICY, settled)
        if not (done.needs_another_pass or done.more):
            break
    announced = list(islice(upcoming(settled, now), 10))
    expected = list(islice((at for at in after(plan, now)), 10))
    assert announced == expected[: len(announced)]
    if plan.max_runs is None:
        assert announced == expected
    if settled.status is ScheduleStatus.FINISHED and not announced:
        assert settled.next_at is None


@pytest.mark.parametrize("status", [ScheduleStatus.PAUSED, ScheduleStatus.BROKEN])
def test_paused_or_broken_schedule_announces_nothing(status):
    assert list(upcoming(a_schedule(status=status), NOW)) == []


def test_delay_announces_its_only_known_fire_time():
    delay = Recurrence(rules=(DelayRule(delay=MINUTE),))
    waiting = a_schedule(recurrence=delay, next_at=NOW + HOUR)
    assert list(upcoming(waiting, NOW)) == [NOW + HOUR]
    put = replace(waiting, next_at=None, put_at=(NOW - HOUR, NOW + SECOND), awaited="run")
    assert list(upcoming(put, NOW)) == [NOW + SECOND]
    assert list(upcoming(put, NOW + SECOND)) == []
    assert last_fired_at(put, NOW) == NOW - HOUR


@given(recurrences, st.integers(0, 3 * DAY), st.integers(0, 3 * DAY))
def test_backwards_is_the_reverse_of_forwards(recurrence, one, other):
    start, below = sorted([NOW + one, NOW + other])
    forwards = list(islice(fire_times(recurrence, start - 1, below - 1), 5_000))
    if len(forwards) < 5_000:
        assert list(backwards(recurrence, start, below))[::-1] == forwards


def test_fire_times_are_within_the_bounds_of_the_plan():
    rule = Recurrence(rules=(RateRule(every=HOUR, anchor=NOW),))
    plan = Plan(
        recurrence=rule,
        task=a_spec(run_at=0),
        starts_at=NOW + 2 * HOUR,
        ends_at=NOW + 4 * HOUR,
    )
    assert list(after(plan, NOW)) == [NOW + 2 * HOUR, NOW + 3 * HOUR]
    assert first(plan, NOW + 3 * HOUR) is None


def test_last_fired_at_is_found_although_later_fire_times_are_tasks():
    each_second = Recurrence(rules=(RateRule(every=SECOND, anchor=NOW),))
    put_at = (NOW + 239 * SECOND, NOW + 240 * SECOND)
    schedule = a_schedule(recurrence=each_second, put_at=put_at, since=NOW - HOUR)
    assert last_fired_at(schedule, NOW + 500) == NOW
    assert last_fired_at(replace(schedule, put_at=()), NOW) is None


def test_no_more_fire_times_are_announced_than_runs_are_left():
    each_minute = Recurrence(rules=(RateRule(every=MINUTE, anchor=NOW),))
    made = create(
        WAKE_POLICY, an_id(), Plan(recurrence=each_minute, task=a_spec(run_at=0), max_runs=6), NOW
    )
    ahead = look_ahead(WAKE_POLICY, made, NOW).applied_to(WAKE_POLICY, made)

    assert ahead.runs == 4
    assert list(upcoming(ahead, NOW)) == [NOW + n * MINUTE for n in range(1, 7)]
    assert list(upcoming(ahead, NOW + 3 * MINUTE)) == [NOW + n * MINUTE for n in (4, 5, 6)]
