"""cronsim as a reference: random expressions, zones and moments, three fire times each. There are
20,000 of them, and every run of the tests checks a fifth.

`RECURRENCE_SEEDS=25` runs all of them. Where the two differ, the slow oracle must agree with us,
and the difference must be one that has a test of its own below.
"""

import os
import re
from datetime import datetime
from itertools import islice
from random import Random

import pytest
from cronsim import CronSim, CronSimError
from cronsim.cronsim import Field

from duetime.core.recurrence.cron import cron, default_dst
from duetime.core.recurrence.cron_pattern import DAY_LONG
from duetime.core.recurrence.fire_times import fire_times
from duetime.core.recurrence.rules import (
    BadRule,
    CronRule,
    DayMatch,
    DstGap,
    DstOverlap,
    Recurrence,
)
from duetime.core.recurrence.timezones import load, offset_at, stretch
from duetime.core.times import SECOND
from tests.core.recurrence.cron_cases import a_cron
from tests.core.recurrence.oracle import Oracle
from tests.core.recurrence.strategies import (
    CHANGES,
    DAYS_OF_CRONSIM,
    PLACES,
    WEEKDAYS,
    WEEKDAYS_OF_CRONSIM,
    a_moment,
    an_expression,
)

FIRST, *OTHERS = range(int(os.environ.get("RECURRENCE_SEEDS", "5")))
SEEDS = [FIRST, *(pytest.param(seed, marks=pytest.mark.long) for seed in OTHERS)]
DRAWS = 4_000


def in_its_dialect(fields: list[str]) -> str:
    """Translates for cronsim: seconds first, `5L` for the last Friday, short names."""
    minute, hour, day, month, weekday = fields[:5]
    weekday = re.sub("[a-z]{3,}day", lambda name: name[0][:3], weekday)
    weekday = re.sub(r"l(\d)|(\w+?)#?l(?!\w)", last_weekday, weekday)
    return " ".join([*fields[5:], minute, hour, day.replace("-l", "-31"), month, weekday])


def last_weekday(found: re.Match[str]) -> str:
    day = found[1] or found[2]
    return f"{day if day.isdigit() else WEEKDAYS.index(day)}L"


def theirs(
    fields: list[str], zone: str, at: int, *, day_or: bool = True, both: bool = False
) -> list[int] | None:
    """`day_or`: by croniter's rule for the two days, not by Debian's."""
    try:
        sim = CronSim(in_its_dialect(fields), datetime.fromtimestamp(at, load(zone)))
    except CronSimError:  # no such day, if both must match
        anyway = [*fields[:2], "1", *fields[3:]]
        sim = CronSim(in_its_dialect(anyway), datetime.fromtimestamp(at, load(zone)))
        sim.days = Field.DAY.parse(fields[2].upper())
    if day_or:
        sim.day_and = both or not either_day(fields, sim)
    return [int(found.timestamp()) for found in islice(sim, 3)] or None


def either_day(fields: list[str], sim: CronSim) -> bool:
    """Whether both days are restricted, so that by croniter's rule either is enough."""
    day, weekday = fields[2], fields[4]
    every_day = len(sim.days) == 31 and "*" in weekday
    every_weekday = len({d % 7 for d in sim.weekdays if isinstance(d, int)}) == 7 and "*" in day
    return "*" not in (day, weekday) and not every_day and not every_weekday


def rule_of(fields: list[str], zone: str, *, plain: bool = True, both: bool = False) -> CronRule:
    """`plain`: six fields as in cronsim, without Debian's rule."""
    skip = plain and len(fields) == 6
    return a_cron(
        " ".join(fields),
        zone,
        gap=DstGap.SKIP if skip else None,
        overlap=DstOverlap.BOTH if skip else None,
        days=DayMatch.BOTH if both else DayMatch.EITHER,
    )


def ours(fields: list[str], zone: str, at: int, **options: bool) -> list[int] | None:
    try:
        ready = cron(rule_of(fields, zone, **options))
    except BadRule:
        return None
    found = []
    for _ in range(3):
        at = ready.after(at)
        assert at is not None
        found.append(at)
    return found


def why_they_differ(fields: list[str], zone: str, at: int, until: int) -> str | None:
    elapsed = len(fields) == 6 or default_dst(" ".join(fields[:5]))[0] is DstGap.SKIP
    if not elapsed:
        in_second_pass = at < stretch(zone, at).second_pass_until
        return "begun in the second pass" if in_second_pass else None
    if zone == "Australia/Lord_Howe":
        return "half an hour"
    return "no midnight" if a_midnight_is_missing(zone, at, until) else None


def a_midnight_is_missing(zone: str, at: int, until: int) -> bool:
    gaps = [
        (c + offset_at(zone, c - 1), c + offset_at(zone, c))
        for c in CHANGES[zone]
        if at < c <= until
    ]
    return any(-start % DAY_LONG < end - start for start, end in gaps)


def the_oracle_agrees(
    fields: list[str], zone: str, at: int, both: bool, *answers: list[int]
) -> bool:
    rule = rule_of(fields, zone, both=both)
    gap, overlap = (rule.gap, rule.overlap) if rule.gap else default_dst(rule.expression)
    oracle = Oracle(rule.expression, load(zone), rule.days)
    apart = next(pair for pair in zip(*answers, strict=True) if len(set(pair)) > 1)
    spans = [(max(at, fires - 10_800), fires + 10_800) for fires in apart]
    return all(between(rule, *span) == oracle.fires(*span, gap, overlap) for span in spans)


def between(rule: CronRule, after: int, until: int) -> list[int]:
    found = fire_times(Recurrence(rules=(rule,)), after * SECOND, until * SECOND)
    return [at // SECOND for at in found]


@pytest.mark.parametrize("seed", SEEDS)
def test_cronsim_gives_the_same_fire_times(seed):
    chance = Random(seed)
    differ = 0
    for _ in range(DRAWS):
        fields = an_expression(chance, DAYS_OF_CRONSIM, WEEKDAYS_OF_CRONSIM)
        zone, both = chance.choice(PLACES), chance.random() < 0.2
        at = a_moment(chance, zone)
        mine, other = ours(fields, zone, at, both=both), theirs(fields, zone, at, both=both)
        if mine != other:
            case = f"{' '.join(fields)!r} in {zone} after {at}, both days: {both}"
            assert None not in (mine, other), case
            assert why_they_differ(fields, zone, at, mine[-1]), case
            assert the_oracle_agrees(fields, zone, at, both, mine, other), case
            differ += 1
    assert differ < DRAWS / 100


# Each difference, by itself.


def local(zone: str, text: str, fold: int = 0) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=load(zone), fold=fold).timestamp())


def test_a_step_in_a_day_field_restricts_it_where_cronsim_wants_both_days_to_match():
    fields, at = ["0", "0", "*/10", "*", "mon"], local("UTC", "2026-06-01T12:00")

    days = [datetime.fromtimestamp(t, load("UTC")).day for t in ours(fields, "UTC", at)]
    their_days = [
        datetime.fromtimestamp(t, load("UTC")).strftime("%d %b")
        for t in theirs(fields, "UTC", at, day_or=False)
    ]

    assert days == [8, 11, 15]  # a Monday, the 11th, a Monday
    assert their_days == ["31 Aug", "21 Sep", "21 Dec"]  # 1st, 11th, 21st, 31st, if a Monday


def test_with_six_fields_a_daily_task_still_runs_every_day_where_cronsim_skips_it():
    fields, zone = ["30", "2", "*", "*", "*", "0"], "Europe/Berlin"
    at = local(zone, "2027-03-27T12:00")

    assert ours(fields, zone, at, plain=False)[0] == local(zone, "2027-03-28T03:00")
    assert theirs(fields, zone, at)[0] == local(zone, "2027-03-29T02:30")


def test_search_from_the_second_pass_does_not_go_back_as_cronsim_does():
    fields, zone = ["30", "2", "*", "*", "*"], "Europe/Berlin"
    at = local(zone, "2026-10-25T02:15", fold=1)

    assert ours(fields, zone, at)[0] == local(zone, "2026-10-26T02:30")
    assert theirs(fields, zone, at)[0] == local(zone, "2026-10-25T02:30") < at


def test_after_a_change_by_half_an_hour_cronsim_loses_the_first_half_of_an_hour():
    fields, zone = ["*/15", "18", "*", "*", "*"], "Australia/Lord_Howe"
    at = local(zone, "2026-10-04T01:59")

    assert ours(fields, zone, at)[0] == local(zone, "2026-10-04T18:00")
    assert theirs(fields, zone, at)[0] == local(zone, "2026-10-04T18:30")


def test_where_there_is_no_midnight_cronsim_fires_at_one_and_we_do_not():
    fields, zone = ["*", "0", "*", "*", "sun"], "America/Santiago"
    at = local(zone, "2026-09-04T12:00")

    assert ours(fields, zone, at)[0] == local(zone, "2026-09-13T00:00")
    assert theirs(fields, zone, at)[0] == local(zone, "2026-09-06T01:00")
