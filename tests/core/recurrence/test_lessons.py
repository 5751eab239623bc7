"""What went wrong elsewhere, one test for each (docs/guarantees.md, lessons 10 to 16)."""

import ast
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lambdas.core.recurrence as package
from lambdas.core.recurrence import zones
from lambdas.core.recurrence.cron import Cron
from lambdas.core.recurrence.fire_times import fire_times, next_fire
from lambdas.core.recurrence.rules import BadRule, CronRule, Gap, Overlap
from lambdas.core.recurrence.told import touched
from lambdas.core.times import DAY, HOUR, MINUTE, SECOND, YEAR
from tests.core.recurrence.said import a_cron, at, first, recurring, told

EVERY_ZONE = sorted(zones.names())


@pytest.mark.parametrize(
    "zone", ["America/Santiago", "America/Nuuk", "Africa/Cairo", "Asia/Beirut"]
)
def test_lesson_10_a_missing_midnight_stops_nothing(zone):
    """A library went round for ever, or gave the same instant for ever, at a midnight that the
    clock passes over."""
    for expression in ("0 0 * * *", "* * * * *", "0 */6 * * *", "30 23 * * *", "*/7 0,23 * * *"):
        start, end = at("2024-01-01T00:00"), at("2027-01-01T00:00")
        if expression.startswith("* "):
            end = start + 120 * DAY
        found = list(fire_times(recurring(a_cron(expression, zone)), start, end))

        assert all(one < other for one, other in pairwise(found))
        assert max(other - one for one, other in pairwise(found)) < 26 * HOUR


@given(
    st.sampled_from(EVERY_ZONE),
    st.integers(0, 100 * YEAR),
    st.sampled_from(Gap),
    st.sampled_from(Overlap),
)
def test_lesson_10_fire_times_increase_in_every_zone_there_is(zone, after, gap, overlap):
    for expression in ("0 0 * * *", "30 2 * * *", "*/20 * * * *"):
        rule = a_cron(expression, zone, gap=gap, overlap=overlap)
        found = [after, *first(5, recurring(rule), after)]

        assert len(found) == 6
        assert all(one < other for one, other in pairwise(found))


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "America/Santiago"])
def test_lesson_11_no_day_is_lost_to_a_day_of_23_hours(zone):
    """A day was skipped by adding 24 hours."""
    found = first(800, recurring(a_cron("30 12 * * *", zone)), at("2026-01-01T00:00", zone))

    days = [datetime.fromtimestamp(f / SECOND, zones.load(zone)).date() for f in found]
    assert {(other - one).days for one, other in pairwise(days)} == {1}
    assert {23 * HOUR, 25 * HOUR} <= {other - one for one, other in pairwise(found)}


def test_lesson_12_hourly_follows_elapsed_time_and_daily_the_wall():
    """Hourly runs were skipped when the clock was put back, and daily ones came an hour off."""
    start, end = at("2026-10-24T12:00"), at("2026-10-26T12:00")
    hourly = list(fire_times(recurring(a_cron("0 * * * *", "Europe/Berlin")), start, end))
    daily = list(fire_times(recurring(a_cron("0 9 * * *", "Europe/Berlin")), start, end))

    assert {other - one for one, other in pairwise(hourly)} == {HOUR}
    assert [told(f, "Europe/Berlin")[11:16] for f in daily] == ["09:00", "09:00"]
    assert [other - one for one, other in pairwise(daily)] == [DAY]
    assert daily[0] - at("2026-10-24T09:00", "Europe/Berlin") == 25 * HOUR


@given(
    st.text(max_size=40) | st.sampled_from(["* * * * *", "0 0 29 2 *"]),
    st.text(max_size=20) | st.sampled_from(EVERY_ZONE),
    st.integers(-(10**15), 10**15) | st.sampled_from([-(10**16), 10**16]),
)
def test_lesson_13_a_bad_schedule_says_so_and_nothing_else_is_raised(expression, zone, after):
    """An assertion about daylight saving took a whole scheduler down: whoever goes through many
    schedules has one error to expect, and can set the one schedule aside."""
    rule = CronRule(expression=expression, timezone=zone)
    try:
        found = next_fire(recurring(rule), after)
    except BadRule as bad:
        found = bad.reason
    assert found is None or isinstance(found, str) or found > after


def test_lesson_13_even_a_fault_of_ours_is_the_fault_of_one_schedule(monkeypatch):
    monkeypatch.setattr(Cron, "after", lambda _, at: at)

    with pytest.raises(BadRule, match="the next fire time after 0 cannot be 0"):
        next_fire(recurring("* * * * *"), 0)


def test_lesson_14_a_time_left_out_is_told_before_it_happens():
    """Users were surprised by a run that silently did not come."""
    rule = recurring(a_cron("30 2 * * *", "Europe/Berlin", gap=Gap.SKIP))
    start = at("2027-03-01T00:00")

    (touch,) = touched(rule, start, start + 60 * DAY)

    assert touch.kind == "skipped"
    assert touch.note == "02:30 does not exist in Europe/Berlin on 2027-03-28; left out"


def test_lesson_15_hour_and_weekday_are_those_of_one_zone():
    """The zone was applied to the hours and not to the weekday."""
    rule = recurring(a_cron("30 0 * * mon", "Pacific/Auckland"))
    (found,) = first(1, rule, at("2026-06-04T00:00"))

    assert told(found, "Pacific/Auckland") == "2026-06-08 00:30 +12:00"  # a Monday there
    assert told(found) == "2026-06-07 12:30 +00:00"  # and a Sunday here


@given(
    st.lists(st.integers(0, 3 * DAY), max_size=5), st.sampled_from(["*/10 * * * *", "0 0 * * *"])
)
def test_lesson_15_spans_that_meet_lose_nothing_and_repeat_nothing(cuts, expression):
    """What was due at the very edge of a span was missed."""
    rule = recurring(a_cron(expression, "Europe/Berlin"))
    start = at("2026-10-24T00:00", "Europe/Berlin")
    edges = [start, *sorted(start + cut // MINUTE * MINUTE for cut in cuts), start + 3 * DAY]

    whole = list(fire_times(rule, edges[0], edges[-1]))

    assert [f for a, b in pairwise(edges) for f in fire_times(rule, a, b)] == whole


def test_lesson_16_one_module_knows_the_cron_library():
    """The library was declared abandoned, and everybody who used it directly had to move."""
    folder = Path(package.__file__).parent
    importing = {
        path.name
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "croniter"
    }

    assert importing == {"pattern.py"}
