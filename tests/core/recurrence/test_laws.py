"""Properties of every recurrence."""

from collections import Counter
from datetime import date, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from duetime.core.recurrence.fire_times import fire_times, next_fire
from duetime.core.recurrence.rules import (
    BadRule,
    CronRule,
    DayMatch,
    DelayRule,
    DstGap,
    DstOverlap,
    ExcludedDates,
    RateRule,
    Recurrence,
)
from duetime.core.recurrence.timezones import load
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, YEAR
from tests.core.recurrence.cron_cases import a_cron, at, first, local_text, recurring
from tests.core.recurrence.oracle import Oracle
from tests.core.recurrence.strategies import CHANGES, PLACES, a_moment, an_expression_of_ours
from tests.core.recurrence.strategies import an_expression as an_expression_of_croniter

BERLIN_CHANGES = ExcludedDates(dates=("2027-03-28", "2026-10-25"), timezone="Europe/Berlin")
chances = st.integers(0, 2**32).map(Random)


@st.composite
def crons(draw: st.DrawFn) -> tuple[CronRule, int]:
    """Returns a rule that fires, and a moment in milliseconds."""
    chance, zone = draw(chances), draw(st.sampled_from(PLACES))
    an_expression = draw(st.sampled_from([an_expression_of_croniter, an_expression_of_ours]))
    rule = a_cron(
        " ".join(an_expression(chance)),
        zone,
        days=draw(st.sampled_from(DayMatch)),
        gap=draw(st.none() | st.sampled_from(DstGap)),
        overlap=draw(st.none() | st.sampled_from(DstOverlap)),
    )
    after = a_moment(chance, zone) * SECOND + chance.randrange(SECOND)
    try:
        next_fire(recurring(rule), after)
    except BadRule:
        assume(False)
    return rule, after


rates = st.builds(
    RateRule,
    every=st.integers(SECOND, 40 * DAY),
    anchor=st.integers(30 * YEAR, 80 * YEAR),
)


@given(crons())
def test_fire_times_strictly_increase(drawn):
    rule, after = drawn
    found = [after, *first(20, recurring(rule), after)]

    assert len(found) == 21
    assert all(one < other for one, other in pairwise(found))


@given(crons())
def test_every_fire_time_matches_its_expression_in_its_zone_unless_it_was_shifted(drawn):
    rule, after = drawn
    oracle = Oracle(rule.expression, load(rule.timezone), rule.days)

    for found in first(20, recurring(rule), after):
        assert found % SECOND == 0
        local = oracle.local(found // SECOND)
        shifted = any(oracle.names(lost) for lost in oracle.lost_before(found // SECOND))
        assert oracle.names(local) or shifted


@given(crons())
def test_fire_times_one_by_one_equal_those_of_one_call(drawn):
    rule, after = drawn
    one_by_one, last = [], after
    for _ in range(5):
        last = next_fire(recurring(rule), last)
        one_by_one.append(last)

    assert first(5, recurring(rule), after) == one_by_one


@given(crons(), st.integers(0, SECOND - 1))
def test_next_fire_time_is_strictly_after_the_given_instant(drawn, early):
    rule, after = drawn
    found = next_fire(recurring(rule), after)

    assert next_fire(recurring(rule), found - 1 - early) == found
    assert next_fire(recurring(rule), found) > found


@pytest.mark.parametrize("zone", PLACES)
@pytest.mark.parametrize("minutes", [1, 5, 30])
def test_rule_of_elapsed_time_leaves_no_gap(zone, minutes):
    """Every clock here changes by a multiple of thirty minutes."""
    rule = a_cron(f"*/{minutes} * * * *", zone)
    for change in CHANGES[zone][:: 1 if minutes > 1 else 5] or [at("2026-06-01T12:00") // SECOND]:
        start, end = (change - 7_200) * SECOND, (change + 7_200) * SECOND

        found = list(fire_times(recurring(rule), start, end))

        assert {other - one for one, other in pairwise(found)} == {minutes * MINUTE}


@pytest.mark.parametrize("zone", PLACES)
@pytest.mark.parametrize("clock", ["0 0", "30 0", "30 1", "0 2", "30 2", "15 3", "59 23", "0 12"])
def test_a_daily_rule_fires_once_every_local_day_for_years(zone, clock):
    rule = a_cron(f"{clock} * * *", zone)
    start, end = at("2009-01-01T00:00", zone) - 1, at("2032-01-01T00:00", zone) - 1
    late = clock.endswith(" 23")

    local = [
        datetime.fromtimestamp(found / SECOND, load(zone))
        for found in fire_times(recurring(rule), start, end)
    ]

    # Nuuk puts its clock forward to midnight, so a run of 23:30 starts at 00:00, but counts for
    # the day before.
    days = Counter(
        (found - timedelta(hours=1)).date() if found.hour == 0 and late else found.date()
        for found in local
    )
    expected = {
        date(2009, 1, 1) + timedelta(days=n)
        for n in range((date(2032, 1, 1) - date(2009, 1, 1)).days)
    }
    if zone == "Pacific/Apia":  # the run of the lost day starts with the next day
        lost, next_day = date(2011, 12, 30), date(2011, 12, 31)
        assert days.pop(next_day) + days.pop(lost, 0) == (1 if clock == "0 0" else 2)
        expected -= {lost, next_day}
    assert set(days) == expected
    assert set(days.values()) == {1}


@given(rates, st.integers(0, 100 * YEAR))
def test_a_rate_never_drifts(rule, after):
    found = first(5, recurring(rule), after)

    assert found[0] > after
    assert found[0] >= rule.anchor
    assert found[0] == rule.anchor or found[0] - after <= rule.every
    assert {(f - rule.anchor) % rule.every for f in found} == {0}
    assert {other - one for one, other in pairwise(found)} == {rule.every}


def test_a_rate_begins_with_its_anchor():
    rule = RateRule(every=HOUR, anchor=10 * DAY)

    assert first(2, recurring(rule), 0) == [10 * DAY, 10 * DAY + HOUR]
    assert first(1, recurring(rule), 10 * DAY) == [10 * DAY + HOUR]


@given(st.lists(crons(), min_size=1, max_size=3), rates)
def test_several_rules_fire_whenever_one_of_them_does_and_once(drawn, rate):
    after = drawn[0][1]
    rules = [*(rule for rule, _ in drawn), rate]
    until = after + 3 * DAY
    assume(rate.every >= MINUTE)

    union = list(fire_times(recurring(*rules), after, until))

    each = {f for rule in rules for f in fire_times(recurring(rule), after, until)}
    assert union == sorted(each)


@given(crons(), crons())
def test_an_excluding_expression_leaves_out_just_what_it_matches(drawn, other):
    rule, after = drawn
    excluded = a_cron(other[0].expression, other[0].timezone, days=other[0].days)
    until = after + 3 * DAY
    oracle = Oracle(excluded.expression, load(excluded.timezone), excluded.days)

    def matches(found: int) -> bool:
        local = oracle.local(found // SECOND)
        return oracle.names(local if oracle.step == 1 else local.replace(second=0))

    kept = [f for f in fire_times(recurring(rule), after, until) if not matches(f)]
    found, gave_up = [], False
    try:
        for f in fire_times(recurring(rule, exclude=(excluded,)), after, until):
            found.append(f)
    except BadRule as bad:
        gave_up = bad.field == "exclude"

    assert found == (kept[: len(found)] if gave_up else kept)


@given(crons(), st.sampled_from(PLACES), st.lists(st.integers(0, 5), min_size=1, max_size=4))
def test_excluded_dates_leave_out_those_local_days_and_no_others(drawn, zone, days):
    rule, after = drawn
    start = datetime.fromtimestamp(after // SECOND, load(zone)).date()
    dates = tuple(str(start + timedelta(days=day)) for day in days)
    until = after + 4 * DAY

    found = fire_times(
        recurring(rule, exclude=(ExcludedDates(dates=dates, timezone=zone),)), after, until
    )

    def day(f: int) -> str:
        return str(datetime.fromtimestamp(f // SECOND, load(zone)).date())

    everything = fire_times(recurring(rule), after, until)
    assert list(found) == [f for f in everything if day(f) not in dates]


@pytest.mark.parametrize(
    ("expression", "exclusion", "after", "fires"),
    [
        ("30 * * * *", a_cron("* 0-2 * * *", "Europe/Berlin"), "2027-03-28T00:00", "28 03:30"),
        ("30 * * * *", a_cron("* 0-2 * * *", "Europe/Berlin"), "2026-10-25T00:00", "25 03:30"),
        ("30 0 * * *", BERLIN_CHANGES, "2027-03-28T00:00", "29 00:30"),
        ("30 23 * * *", BERLIN_CHANGES, "2026-10-25T00:00", "26 23:30"),
        ("30 23 * * *", BERLIN_CHANGES, "2026-10-24T12:00", "24 23:30"),
    ],
)
def test_exclusion_ends_by_the_local_clock_after_a_change(expression, exclusion, after, fires):
    rule = a_cron(expression, "Europe/Berlin")
    found = next_fire(recurring(rule, exclude=(exclusion,)), at(after, "Europe/Berlin"))

    assert local_text(found, "Europe/Berlin")[8:16] == fires


def test_a_delay_has_no_fire_times_and_adds_none():
    delay = DelayRule(delay=30 * SECOND)

    assert next_fire(recurring(delay), 0) is None
    assert first(2, recurring(delay, "0 9 * * *"), 0) == [9 * HOUR, DAY + 9 * HOUR]


def test_recurrence_without_rules_never_fires():
    assert next_fire(Recurrence(rules=()), 0) is None


def test_until_is_inclusive_and_after_is_exclusive():
    hourly = recurring("0 * * * *")

    assert list(fire_times(hourly, HOUR, 3 * HOUR)) == [2 * HOUR, 3 * HOUR]
    assert list(fire_times(hourly, HOUR, HOUR)) == []
