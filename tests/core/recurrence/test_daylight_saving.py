"""Gaps and overlaps of the clock: fire times worked out by hand, and by the slow oracle."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.recurrence.cron import default_dst
from duetime.core.recurrence.fire_times import fire_times
from duetime.core.recurrence.rules import BadRule, DayMatch, DstGap, DstOverlap
from duetime.core.recurrence.timezones import load
from duetime.core.times import SECOND
from tests.core.recurrence.cron_cases import a_cron, at, first, local_text, recurring
from tests.core.recurrence.oracle import Oracle
from tests.core.recurrence.strategies import CHANGES, PLACES, an_expression_of_ours

BERLIN = "Europe/Berlin"

# By hand: Berlin goes from 02:00 to 03:00 on 2027-03-28 and from 03:00 back to 02:00 on
# 2026-10-25; New York on 2027-03-14 and 2026-11-01 (02:00); Santiago loses 00:00 to 01:00 on
# 2026-09-06; Nuuk 23:00 to midnight on 2027-03-27; Lord Howe 02:00 to 02:30 on 2026-10-04 and
# has 01:30 to 02:00 twice on 2027-04-04.
BY_HAND = [
    # the default of a fixed time: shift, and the first of two
    ("30 2 * * *", BERLIN, {}, "2027-03-27T12:00", ["2027-03-28 03:00", "2027-03-29 02:30"]),
    ("30 2 * * *", BERLIN, {}, "2026-10-24T12:00", ["2026-10-25 02:30", "2026-10-26 02:30"]),
    ("0 9 * * *", BERLIN, {}, "2027-03-27T12:00", ["2027-03-28 09:00", "2027-03-29 09:00"]),
    ("30 2 * * *", "America/New_York", {}, "2027-03-13T12:00", ["2027-03-14 03:00"]),
    ("30 1 * * *", "America/New_York", {}, "2026-10-31T12:00", ["2026-11-01 01:30"]),
    ("0 0 * * *", "America/Santiago", {}, "2026-09-05T12:00", ["2026-09-06 01:00"]),
    (
        "30 23 * * *",
        "America/Nuuk",
        {},
        "2027-03-27T12:00",
        ["2027-03-28 00:00", "2027-03-28 23:30"],
    ),
    ("15 2 * * *", "Australia/Lord_Howe", {}, "2026-10-03T12:00", ["2026-10-04 02:30"]),
    ("0 9 * * *", "Pacific/Apia", {}, "2011-12-29T12:00", ["2011-12-31 00:00", "2011-12-31 09:00"]),
    # two local times in the gap are one instant after it
    ("0,30 2 * * *", BERLIN, {}, "2027-03-27T12:00", ["2027-03-28 03:00", "2027-03-29 02:00"]),
    # an instant that also matches by itself does not run twice
    ("30 2,3 * * *", BERLIN, {}, "2027-03-27T12:00", ["2027-03-28 03:00", "2027-03-28 03:30"]),
    ("0 2,3 * * *", BERLIN, {}, "2027-03-27T12:00", ["2027-03-28 03:00", "2027-03-29 02:00"]),
    # set by the rule
    ("30 2 * * *", BERLIN, {"gap": DstGap.SKIP}, "2027-03-27T12:00", ["2027-03-29 02:30"]),
    (
        "0 * * * *",
        BERLIN,
        {"gap": DstGap.SHIFT},
        "2027-03-28T01:00",
        ["2027-03-28 03:00", "2027-03-28 04:00"],
    ),
    # six fields: the seconds do not affect the default
    ("30 2 * * * *", BERLIN, {}, "2027-03-27T12:00", ["2027-03-28 03:00", "2027-03-29 02:30"]),
    ("30 2 * * * 15", BERLIN, {}, "2027-03-27T12:00", ["2027-03-28 03:00", "2027-03-29 02:30"]),
]


@pytest.mark.parametrize(("expression", "zone", "dst", "after", "local"), BY_HAND)
def test_fire_times_around_a_change_are_those_worked_out_by_hand(
    expression, zone, dst, after, local
):
    found = first(len(local), recurring(a_cron(expression, zone, **dst)), at(after, zone))

    assert [local_text(instant, zone)[:16] for instant in found] == local


@pytest.mark.parametrize(
    ("overlap", "instants"),
    [
        (DstOverlap.FIRST, ["2026-10-25 02:30 +02:00", "2026-10-26 02:30 +01:00"]),
        (DstOverlap.LAST, ["2026-10-25 02:30 +01:00", "2026-10-26 02:30 +01:00"]),
        (DstOverlap.BOTH, ["2026-10-25 02:30 +02:00", "2026-10-25 02:30 +01:00"]),
    ],
)
def test_local_time_that_comes_twice_runs_as_the_rule_says(overlap, instants):
    rule = a_cron("30 2 * * *", BERLIN, overlap=overlap)

    found = first(2, recurring(rule), at("2026-10-24T12:00", BERLIN))

    assert [local_text(instant, BERLIN) for instant in found] == instants


def test_an_hourly_rule_runs_through_the_hour_that_comes_twice():
    found = first(4, recurring(a_cron("0 * * * *", BERLIN)), at("2026-10-25T01:00", BERLIN))

    assert [local_text(instant, BERLIN)[11:] for instant in found] == [
        "02:00 +02:00",
        "02:00 +01:00",
        "03:00 +01:00",
        "04:00 +01:00",
    ]


@pytest.mark.parametrize(
    ("expression", "elapsed"),
    [
        ("*/5 * * * *", True),
        ("0 * * * *", True),
        ("0 */2 * * *", True),
        ("*/15 2 * * *", True),
        ("@hourly", True),
        ("  * 2 * * * 0", True),
        ("0-59 2 * * *", False),
        ("0 0-23 * * *", False),
        ("0 0 * * *", False),
        ("0 0 * * * *", False),
        ("@daily", False),
        ("@weekly", False),
    ],
)
def test_a_star_in_minute_or_hour_means_elapsed_time(expression, elapsed):
    by_elapsed, by_the_wall = (DstGap.SKIP, DstOverlap.BOTH), (DstGap.SHIFT, DstOverlap.FIRST)

    found = default_dst(expression, a_cron(expression).seconds)

    assert found == (by_elapsed if elapsed else by_the_wall)


changing = st.sampled_from([zone for zone in PLACES if CHANGES[zone]])


@given(
    chance=st.integers(0, 2**32).map(Random),
    zone=changing,
    gap=st.sampled_from(DstGap),
    overlap=st.sampled_from(DstOverlap),
    days=st.sampled_from(DayMatch),
)
def test_the_oracle_gives_the_same_fire_times_around_a_change(chance, zone, gap, overlap, days):
    five = an_expression_of_ours(chance)[:5]
    if five[2:] != ["*", "*", "*"]:
        five[3] = "*"  # so that most of them fire in so short a span
    rule = a_cron(" ".join(five), zone, gap=gap, overlap=overlap, days=days)
    change = chance.choice(CHANGES[zone])
    start, end = change - chance.randint(0, 90_000), change + 90_000

    try:
        found = [f // SECOND for f in fire_times(recurring(rule), start * SECOND, end * SECOND)]
    except BadRule:  # it never fires, and the oracle must find the same
        found = []

    oracle = Oracle(rule.expression, load(zone), days)
    assert found == oracle.fires(start, end, gap, overlap)


@pytest.mark.parametrize("gap", DstGap)
@pytest.mark.parametrize("overlap", DstOverlap)
@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe", "America/Santiago"])
def test_the_oracle_gives_the_same_fire_times_to_the_second(gap, overlap, zone):
    for change in CHANGES[zone][-2:]:
        rule = a_cron("*/20 * * * * */20", zone, gap=gap, overlap=overlap)
        start, end = change - 4_000, change + 8_000

        found = fire_times(recurring(rule), start * SECOND, end * SECOND)

        oracle = Oracle(rule.expression, load(zone))
        assert [f // SECOND for f in found] == oracle.fires(start, end, gap, overlap)
