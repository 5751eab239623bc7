"""Bugs of other schedulers, one test for each (docs/guarantees.md, lessons 10 to 16)."""

import ast
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import duetime.core.recurrence as package
from duetime.core.recurrence import timezones as zones
from duetime.core.recurrence.cron import Cron
from duetime.core.recurrence.dst_notes import find_dst_notes
from duetime.core.recurrence.fire_times import fire_times, next_fire
from duetime.core.recurrence.rules import BadRule, CronRule, DstGap, DstOverlap
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, YEAR
from tests.core.recurrence.cron_cases import a_cron, at, first, local_text, recurring

EVERY_ZONE = sorted(zones.names())


@pytest.mark.parametrize(
    "zone", ["America/Santiago", "America/Nuuk", "Africa/Cairo", "Asia/Beirut"]
)
def test_lesson_10_a_missing_midnight_stops_nothing(zone):
    """A library looped forever, or returned the same instant forever, at a midnight that the clock
    skips."""
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
    st.sampled_from(DstGap),
    st.sampled_from(DstOverlap),
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


def test_lesson_12_hourly_follows_elapsed_time_and_daily_the_local_clock():
    """Hourly runs were skipped when the clock was put back, and daily runs were an hour off."""
    start, end = at("2026-10-24T12:00"), at("2026-10-26T12:00")
    hourly = list(fire_times(recurring(a_cron("0 * * * *", "Europe/Berlin")), start, end))
    daily = list(fire_times(recurring(a_cron("0 9 * * *", "Europe/Berlin")), start, end))

    assert {other - one for one, other in pairwise(hourly)} == {HOUR}
    assert [local_text(f, "Europe/Berlin")[11:16] for f in daily] == ["09:00", "09:00"]
    assert [other - one for one, other in pairwise(daily)] == [DAY]
    assert daily[0] - at("2026-10-24T09:00", "Europe/Berlin") == 25 * HOUR


@given(
    st.text(max_size=40) | st.sampled_from(["* * * * *", "0 0 29 2 *"]),
    st.text(max_size=20) | st.sampled_from(EVERY_ZONE),
    st.integers(-(10**15), 10**15) | st.sampled_from([-(10**16), 10**16]),
)
def test_lesson_13_bad_schedule_raises_only_bad_rule(expression, zone, after):
    """An assertion about daylight saving took a whole scheduler down. Evaluating a schedule raises
    only BadRule, so that a role can skip the one schedule."""
    rule = CronRule(expression=expression, timezone=zone)
    try:
        found = next_fire(recurring(rule), after)
    except BadRule as bad:
        found = bad.reason
    assert found is None or isinstance(found, str) or found > after


def test_lesson_13_failed_assertion_affects_one_schedule_only(monkeypatch):
    monkeypatch.setattr(Cron, "after", lambda _, at: at)

    with pytest.raises(BadRule, match="the next fire time after 0 cannot be 0"):
        next_fire(recurring("* * * * *"), 0)


def test_lesson_14_skipped_time_is_announced_before_it_happens():
    """Users were surprised by a run that was silently skipped."""
    rule = recurring(a_cron("30 2 * * *", "Europe/Berlin", gap=DstGap.SKIP))
    start = at("2027-03-01T00:00")

    (note,) = find_dst_notes(rule, start, start + 60 * DAY)

    assert note.kind == "skipped"
    assert note.note == "02:30 does not exist in Europe/Berlin on 2027-03-28; left out"


def test_lesson_15_hour_and_weekday_are_those_of_one_zone():
    """The zone was applied to the hours and not to the weekday."""
    rule = recurring(a_cron("30 0 * * mon", "Pacific/Auckland"))
    (found,) = first(1, rule, at("2026-06-04T00:00"))

    assert local_text(found, "Pacific/Auckland") == "2026-06-08 00:30 +12:00"  # a Monday there
    assert local_text(found) == "2026-06-07 12:30 +00:00"  # and a Sunday here


@given(
    st.lists(st.integers(0, 3 * DAY), max_size=5), st.sampled_from(["*/10 * * * *", "0 0 * * *"])
)
def test_lesson_15_spans_that_meet_lose_nothing_and_repeat_nothing(cuts, expression):
    """A fire time at the edge of a span was missed."""
    rule = recurring(a_cron(expression, "Europe/Berlin"))
    start = at("2026-10-24T00:00", "Europe/Berlin")
    edges = [start, *sorted(start + cut // MINUTE * MINUTE for cut in cuts), start + 3 * DAY]

    whole = list(fire_times(rule, edges[0], edges[-1]))

    assert [f for a, b in pairwise(edges) for f in fire_times(rule, a, b)] == whole


def test_lesson_16_one_module_imports_the_cron_library():
    """The library was abandoned, and every module that used it directly had to change."""
    folder = Path(package.__file__).parent
    importing = {
        path.name
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "croniter"
    }

    assert importing == {"cron_pattern.py"}
