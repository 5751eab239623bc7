"""EventBridge's expressions mean what AWS documents.

The examples are those of the EventBridge user guide ("Setting a schedule pattern for scheduled
rules") and of the EventBridge Scheduler user guide ("Schedule types"), with the meaning stated
there.
"""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from duetime.core.recurrence.cron_pattern import DAY_LONG, firing
from duetime.core.recurrence.describe import describe
from duetime.core.recurrence.eventbridge import with_rate
from duetime.core.recurrence.fire_times import check, fire_times, next_fire
from duetime.core.recurrence.rules import BadRule, CronRule, DstGap, DstOverlap, RateRule, Seconds
from duetime.core.recurrence.timezones import load
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, YEAR
from tests.core.recurrence.cron_cases import a_cron, at, first, local_text, recurring
from tests.core.recurrence.oracle import EventBridgeOracle
from tests.core.recurrence.strategies import CHANGES, PLACES, an_eventbridge_expression

NOW = at("2026-11-16T09:00")  # a Monday
BERLIN = "Europe/Berlin"
WORKDAYS = range(5)  # Monday to Friday, as datetime counts


def every_minute_where(matches) -> set[int]:
    """Returns all minutes of sixteen days that have the stated meaning."""
    start = datetime(2026, 11, 16, 9, 1, tzinfo=UTC)
    minutes = (start + timedelta(minutes=n) for n in range(16 * 24 * 60))
    return {int(minute.timestamp()) * SECOND for minute in minutes if matches(minute)}


USER_GUIDE = [
    ("cron(0 10 * * ? *)", "at 10:00 every day", lambda t: (t.hour, t.minute) == (10, 0)),
    ("cron(15 12 * * ? *)", "at 12:15 every day", lambda t: (t.hour, t.minute) == (12, 15)),
    (
        "cron(0 18 ? * MON-FRI *)",
        "at 18:00, Monday to Friday",
        lambda t: (t.hour, t.minute) == (18, 0) and t.weekday() in WORKDAYS,
    ),
    (
        "cron(0 8 1 * ? *)",
        "at 08:00 on day 1 of the month",
        lambda t: (t.day, t.hour, t.minute) == (1, 8, 0),
    ),
    ("cron(0/15 * * * ? *)", "every 15 minutes", lambda t: t.minute % 15 == 0),
    (
        "cron(0/10 * ? * MON-FRI *)",
        "every 10 minutes, Monday to Friday",
        lambda t: t.minute % 10 == 0 and t.weekday() in WORKDAYS,
    ),
    (
        "cron(0/5 8-17 ? * MON-FRI *)",
        "every 5 minutes from 08:00 to 17:55, Monday to Friday",
        lambda t: t.minute % 5 == 0 and 8 <= t.hour <= 17 and t.weekday() in WORKDAYS,
    ),
    (
        "cron(0/30 20-2 ? * MON-FRI *)",
        "at minutes 0 and 30 of hours 0 to 2 and 20 to 23, Monday to Friday",
        lambda t: t.minute % 30 == 0 and (t.hour >= 20 or t.hour <= 2) and t.weekday() in WORKDAYS,
    ),
    ("cron(0 12 * * ? *)", "at 12:00 every day", lambda t: (t.hour, t.minute) == (12, 0)),
    (
        "cron(5,35 14 * * ? *)",
        "at 14:05 and 14:35 every day",
        lambda t: t.hour == 14 and t.minute in (5, 35),
    ),
    (
        "cron(1/10 * * * ? *)",
        "at minutes 1, 11, 21, 31, 41 and 51 of every hour",
        lambda t: t.minute % 10 == 1,
    ),
    (
        "cron(0 0 ? JAN,NOV,DEC * *)",
        "at 00:00 every day in January, November and December",
        lambda t: (t.hour, t.minute) == (0, 0),
    ),
    ("cron(0 9 1-15 * ? *)", "at 09:00 on days 1 to 15 of the month", None),
    ("cron(0 9 7 * ? *)", "at 09:00 on day 7 of the month", None),
    ("cron(0 9 L * ? *)", "at 09:00 on the last day of the month", None),
    (
        "cron(0 9 ? * L *)",
        "at 09:00 on Saturday",
        lambda t: (t.hour, t.minute) == (9, 0) and t.weekday() == 5,
    ),
    ("cron(0 9 3W * ? *)", "at 09:00 on the weekday nearest to day 3 of the month", None),
    ("cron(0 9 ? * 3#2 *)", "at 09:00 on the second Tuesday of the month", None),
    (
        "cron(15 10 ? * 6L 2026-2029)",
        "at 10:15 on the last Friday of the month, in 2026 to 2029",
        lambda t: (t.day, t.hour, t.minute) == (27, 10, 15),
    ),
]


@pytest.mark.parametrize(("expression", "words", "matches"), USER_GUIDE)
def test_examples_of_the_user_guide_have_the_meaning_it_states(expression, words, matches):
    rule = recurring(expression)
    check(rule, NOW)
    found = set(fire_times(rule, NOW, NOW + 16 * DAY))

    assert describe(rule) == words
    if matches is not None:
        assert found == every_minute_where(matches)


def days(expression: str, year: int) -> list[str]:
    start, end = at(f"{year}-01-01T00:00") - 1, at(f"{year + 1}-01-01T00:00") - 1
    return [local_text(found)[5:10] for found in fire_times(recurring(expression), start, end)]


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("cron(0 9 L 1-4 ? *)", ["01-31", "02-28", "03-31", "04-30"]),
        ("cron(0 9 L-1 1-4 ? *)", ["01-30", "02-27", "03-30", "04-29"]),
        ("cron(0 9 LW 1-5 ? *)", ["01-30", "02-27", "03-31", "04-30", "05-29"]),
        ("cron(0 9 3W 1-5 ? *)", ["01-02", "02-03", "03-03", "04-03", "05-04"]),
        ("cron(0 9 ? 1-3 3#2 *)", ["01-13", "02-10", "03-10"]),
        ("cron(0 9 ? 1-3 6L *)", ["01-30", "02-27", "03-27"]),
        ("cron(0 9 ? 1-3 FRIL *)", ["01-30", "02-27", "03-27"]),
        ("cron(0 9 ? 1-3 5L *)", ["01-29", "02-26", "03-26"]),  # 5 is Thursday there
        ("cron(0 9 ? 1 1 *)", ["01-04", "01-11", "01-18", "01-25"]),  # 1 is Sunday there
        ("cron(0 9 ? 1 7 *)", ["01-03", "01-10", "01-17", "01-24", "01-31"]),
        ("cron(0 9 ? 2 2/2 *)", [f"02-{day:02}" for day in range(1, 29) if day % 7 in (2, 4, 6)]),
        ("cron(0 9 28-2 2 ? *)", ["02-01", "02-02", "02-28"]),
        ("cron(0 9 1/10 2-2 ? *)", ["02-01", "02-11", "02-21"]),
        ("CRON(0 9 1 january ? 2026)", ["01-01"]),
        ("cron( 0 9 1 NOV-FEB ? 2026 )", ["01-01", "02-01", "11-01", "12-01"]),
    ],
)
def test_days_of_2026_by_the_calendar(expression, found):
    assert days(expression, 2026) == found


@pytest.mark.parametrize(
    ("year", "fires"),
    [
        ("*", [2026, 2027, 2028, 2029, 2030, 2031]),
        ("2026", [2026]),
        ("2027,2030", [2027, 2030]),
        ("2025-2027", [2025, 2026, 2027]),
        ("2027-2027", [2027]),
        ("2026/2", [2026, 2028, 2030]),
        ("2020-2030/5", [2025, 2030]),
        ("*/10", [2030]),
    ],
)
def test_rule_fires_in_the_years_of_its_field(year, fires):
    rule = recurring(f"cron(0 0 1 7 ? {year})")
    found = fire_times(rule, at("2025-01-01T00:00"), at("2032-01-01T00:00"))

    wanted = [2025, *fires] if year == "*" else fires
    assert [int(local_text(f)[:4]) for f in found] == wanted


def test_fire_times_end_with_the_last_year():
    rule = recurring(a_cron("cron(0 9 1 * ? 2027)", BERLIN))
    found = list(fire_times(rule, NOW))

    assert len(found) == 12
    assert local_text(found[-1], BERLIN) == "2027-12-01 09:00 +01:00"
    assert next_fire(rule, found[-1]) is None


def test_year_is_that_of_the_time_zone():
    rule = recurring(a_cron("cron(0 0 ? * * 2027)", "Pacific/Auckland"))

    assert local_text(next_fire(rule, NOW)) == "2026-12-31 11:00 +00:00"
    assert next_fire(rule, at("2027-12-31T10:59")) is None


REFUSED = [
    ("cron(15 10 ? * 6L 2019-2022)", 19, "does not fire in the next forty years; its year is 2019"),
    ("cron(0 0 1 1 ? 2100)", 16, "does not fire in the next forty years; its year is 2100"),
    ("cron(0 0 29 2 ? 2027)", 10, "never fires: none of its months has such a day"),
    ("cron(0 0 1 1 ? 1969)", 16, "year: 1969 is not from 1970 to 2199"),
    ("cron(0 0 1 1 ? 2200)", 16, "year: 2200 is not from 1970 to 2199"),
    ("cron(0 0 1 1 ? 2030-2027)", 16, "year: 2030-2027 runs backwards"),
    ("cron(60 10 * * ? *)", 6, "minute: 60 is not from 0 to 59"),
    ("  cron( 0 24 * * ? *)", 11, "hour: 24 is not from 0 to 23"),
    ("CRON_TZ=UTC cron(0 24 * * ? *)", 20, "hour: 24 is not from 0 to 23"),
    ("cron(0 10 ? * 0 *)", 15, "weekday: 0 is not from 1 to 7"),
    ("cron(0 10 ? * 8 *)", 15, "weekday: 8 is not from 1 to 7"),
    ("cron(0 10 ? * 2#6 *)", 15, "weekday: 6 after # is neither from 1 to 5 nor L"),
    ("cron(0 10 ? * 3#1,6#3 *)", 15, "weekday: cron(…) takes # only by itself"),
    ("cron(? 10 * * ? *)", 6, "minute: '?' is not a number"),
    ("cron(0 10 * ? * *)", 13, "month: '?' is neither a number"),
    ("cron(0 10 * * * *)", 15, "weekday: one of the two days must be ?; write ? for the weekday"),
    ("cron(0 10 * * MON *)", 15, "weekday: one of the two days must be ?; write ? for the day of"),
    ("cron(0 10 13 * FRI *)", 16, "weekday: one of the two days must be ?; for a day that matches"),
    ("cron(0 10 ? * ? *)", 15, "weekday: only one of the two days may be ?; write * for the day"),
    ("cron(*/61 10 * * ? *)", 6, "minute: */61: a step of 61 leads beyond"),
    ("cron(0 10 * * ?)", 16, "has 5 fields; cron(…) has six (minute, hour, day of the month,"),
    ("cron(0 10 * * ? * *)", 20, "has 7 fields; cron(…) has six"),
    ("cron()", 6, "has 0 fields; cron(…) has six"),
    ("cron(0 10 * * ? *", 18, "the ) of cron( is missing"),
    ("rate(5 minutes", 15, "the ) of rate( is missing"),
    ("rate(1 minutes)", 8, "write rate(1 minute)"),
    ("rate(1 hours)", 8, "write rate(1 hour)"),
    ("rate(5 hour)", 8, "write rate(5 hours)"),
    ("rate(5 seconds)", 6, "a rate has a whole number from 1 and minutes, hours or days"),
    ("rate(0 minutes)", 6, "a rate has a whole number from 1 and minutes, hours or days"),
    ("rate(1.5 hours)", 6, "a rate is written like rate(1 hour) or rate(5 minutes)"),
    ("rate()", 6, "a rate is written like rate(1 hour) or rate(5 minutes)"),
    ("rate(366 days)", 6, "a rate is at most 365 days"),
    ("at(2026-11-20T13:00:00)", 4, "at(…) names one moment; submit a task with run_at: duetime"),
]


@pytest.mark.parametrize(("expression", "position", "reason"), REFUSED)
def test_expression_that_aws_rejects_is_refused_with_reason_and_position(
    expression, position, reason
):
    rule = with_rate(a_cron(expression), NOW)
    with pytest.raises(BadRule) as raised:
        check(recurring("* * * * *", rule), NOW)

    bad = raised.value
    assert (bad.field, bad.index, bad.position) == ("expression", 1, position)
    assert bad.reason.startswith(reason)


@pytest.mark.parametrize(
    ("expression", "every"),
    [
        ("rate(1 minute)", MINUTE),
        ("rate(5 minutes)", 5 * MINUTE),
        ("rate(1 hour)", HOUR),
        ("rate(5 hours)", 5 * HOUR),
        ("rate(1 day)", DAY),
        ("rate(7 days)", 7 * DAY),
        ("rate(365 days)", YEAR),
        (" Rate( 90  Minutes ) ", 90 * MINUTE),
    ],
)
def test_a_rate_counts_from_its_creation(expression, every):
    rule = with_rate(CronRule(expression=expression), NOW)

    assert rule == RateRule(every=every, anchor=NOW)
    assert first(2, recurring(rule), NOW) == [NOW + every, NOW + 2 * every]


@pytest.mark.parametrize(
    "options",
    [
        {"timezone": BERLIN},
        {"gap": DstGap.SKIP},
        {"overlap": DstOverlap.BOTH},
        {"days": "both"},
    ],
)
def test_rate_accepts_no_calendar_options(options):
    rule = with_rate(CronRule(expression="rate(5 minutes)", **options), NOW)
    with pytest.raises(BadRule, match=r"rate\(…\) counts elapsed time: it takes no time zone"):
        check(recurring(rule), NOW)


def test_a_rate_is_no_exclusion():
    rate = CronRule(expression="rate(5 minutes)")
    with pytest.raises(BadRule, match="and cannot be an exclusion") as raised:
        check(recurring("* * * * *", exclude=(rate,)), NOW)

    assert (raised.value.part, raised.value.position) == ("exclude", 1)


def test_rate_with_seconds_is_refused():
    rule = with_rate(CronRule(expression="rate(5 minutes)", seconds=Seconds.LAST), NOW)
    with pytest.raises(BadRule) as raised:
        check(recurring(rule), NOW)

    assert raised.value.field == "seconds"


# Daylight saving: EventBridge Scheduler skips a local time that does not exist, and runs once at
# one that comes twice.


@pytest.mark.parametrize(
    ("expression", "options", "after", "local"),
    [
        ("cron(30 2 * * ? *)", {}, "2027-03-27T12:00", ["2027-03-29 02:30 +02:00"]),
        (
            "cron(30 2 * * ? *)",
            {},
            "2026-10-24T12:00",
            ["2026-10-25 02:30 +02:00", "2026-10-26 02:30 +01:00"],
        ),
        (
            "cron(30 2 * * ? *)",
            {"gap": DstGap.SHIFT},
            "2027-03-27T12:00",
            ["2027-03-28 03:00 +02:00", "2027-03-29 02:30 +02:00"],
        ),
        (
            "cron(30 2 * * ? *)",
            {"overlap": DstOverlap.LAST},
            "2026-10-24T12:00",
            ["2026-10-25 02:30 +01:00"],
        ),
        (
            "cron(0/30 * * * ? *)",
            {},
            "2026-10-25T02:00",
            [
                "2026-10-25 02:30 +02:00",
                "2026-10-25 02:00 +01:00",
                "2026-10-25 02:30 +01:00",
                "2026-10-25 03:00 +01:00",
            ],
        ),
    ],
)
def test_daylight_saving_is_as_in_eventbridge_scheduler(expression, options, after, local):
    found = first(len(local), recurring(a_cron(expression, BERLIN, **options)), at(after, BERLIN))

    assert [local_text(instant, BERLIN) for instant in found] == local


# Against the oracle.


def test_the_oracle_names_the_same_days():
    chance, compared = Random(17), 0
    for _ in range(1_500):
        expression = an_eventbridge_expression(chance)
        try:
            pattern = firing(expression)
        except BadRule:
            continue
        oracle = EventBridgeOracle(expression, load("UTC"))
        start = chance.randint(19_700, 23_000)  # in days, 2023 to 2032
        for day in range(start, start + 60):
            local = datetime.fromtimestamp(day * DAY_LONG, UTC)
            assert pattern.on(day) == oracle.names_day(local), (expression, local)
        compared += 1
    assert compared > 1_300


@pytest.mark.parametrize("zone", [zone for zone in PLACES if CHANGES[zone]])
def test_the_oracle_gives_the_same_fire_times_around_a_change(zone):
    chance = Random(zone)
    for _ in range(25):
        expression = an_eventbridge_expression(chance)
        gap, overlap = chance.choice(list(DstGap)), chance.choice(list(DstOverlap))
        change = chance.choice(CHANGES[zone])
        span = change - chance.randint(0, 40_000), change + 60_000
        try:
            rule = recurring(a_cron(expression, zone, gap=gap, overlap=overlap))
            found = list(fire_times(rule, span[0] * SECOND, span[1] * SECOND))
        except BadRule:
            continue

        oracle = EventBridgeOracle(expression, load(zone))
        assert [f // SECOND for f in found] == oracle.fires(*span, gap, overlap), expression


def test_an_exclusion_in_eventbridge_form_leaves_out_just_what_it_matches():
    chance = Random(23)
    for _ in range(150):
        excluded = an_eventbridge_expression(chance)
        start = at("2026-11-16T09:00") + chance.randrange(2 * YEAR)
        end = start + 3 * DAY
        oracle = EventBridgeOracle(excluded, load(BERLIN))
        kept = [
            found
            for found in fire_times(recurring("*/30 * * * *"), start, end)
            if not oracle.names(oracle.local(found // SECOND))
        ]
        rule = recurring("*/30 * * * *", exclude=(a_cron(excluded, BERLIN),))

        assert list(fire_times(rule, start, end)) == kept, excluded
