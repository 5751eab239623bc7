"""Descriptions are true, and differ for recurrences that differ."""

from random import Random

import pytest

from duetime.core.recurrence.cron import cron
from duetime.core.recurrence.describe import describe
from duetime.core.recurrence.dst_notes import DstNote, find_dst_notes
from duetime.core.recurrence.rules import (
    BadRule,
    CronRule,
    DayMatch,
    DelayRule,
    DstGap,
    DstOverlap,
    ExcludedDates,
    RateRule,
)
from duetime.core.times import HOUR, MINUTE, SECOND, YEAR
from tests.core.recurrence.cron_cases import a_cron, at, recurring
from tests.core.recurrence.strategies import an_eventbridge_expression, an_expression_of_ours

BERLIN = "Europe/Berlin"
LENGTHS = range(28, 32)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 9 * * 1-5", "at 09:00, Monday to Friday"),
        ("0 9 * * *", "at 09:00 every day"),
        ("0 9,17 * * *", "at 09:00 and 17:00 every day"),
        ("30 8 * * mon,wed,fri", "at 08:30 on Monday, Wednesday and Friday"),
        ("0 0 * * sun", "at 00:00 on Sunday"),
        ("0 0 * * fri-mon", "at 00:00 on Monday and Friday to Sunday"),
        ("* * * * *", "every minute"),
        ("*/5 * * * *", "every 5 minutes"),
        ("*/5 * * * 1-5", "every 5 minutes, Monday to Friday"),
        ("* * * * * *", "every second"),
        ("* * * * * */10", "every 10 seconds"),
        ("* * * * * 30", "at second 30 of every minute"),
        ("0 9 * * * 30", "at 09:00:30 every day"),
        ("0 * * * *", "every hour"),
        ("1 * * * *", "at 1 minute past every hour"),
        ("15 * * * *", "at 15 minutes past every hour"),
        ("*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour"),
        ("5/10 * * * *", "at minutes 5, 15, 25, 35, 45 and 55 of every hour"),
        (
            "0 1-23/2 * * *",
            "at minute 0 of hours 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21 and 23 every day",
        ),
        ("0 */2 * * *", "every 2 hours from 00:00"),
        ("15 */3 * * *", "every 3 hours from 00:15"),
        ("*/15 9-17 * * 1-5", "every 15 minutes from 09:00 to 17:45, Monday to Friday"),
        ("0 9-17 * * *", "every hour from 09:00 to 17:00"),
        ("* 12 * * *", "every minute from 12:00 to 12:59"),
        ("* 9,12 * * *", "at every minute of hours 9 and 12"),
        ("1,5 3,9,11,15 * * *", "at minutes 1 and 5 of hours 3, 9, 11 and 15 every day"),
        ("0 9 l * *", "at 09:00 on the last day of the month"),
        ("0 9 1 * *", "at 09:00 on day 1 of the month"),
        ("0 9 1,15,l * *", "at 09:00 on days 1 and 15 and the last day of the month"),
        ("0 9 15w * *", "at 09:00 on the weekday nearest to day 15 of the month"),
        ("0 9 * * tue#2", "at 09:00 on the second Tuesday of the month"),
        ("0 9 * * l5", "at 09:00 on the last Friday of the month"),
        ("0 9 * 11 thu#4", "at 09:00 on the fourth Thursday of November"),
        ("0 0 1 1 *", "at 00:00 on day 1 of January"),
        ("0 9 * 6-8 *", "at 09:00 every day in June to August"),
        ("0 9 1 * mon", "at 09:00 on day 1 of the month, and also on Monday"),
        ("0 9 1-31 * mon", "at 09:00 every day"),
        ("@monthly", "at 00:00 on day 1 of the month"),
        ("0 9 l-1 * *", "at 09:00 on the day before the last day of the month"),
        ("0 9 l-3 * *", "at 09:00 on the day 3 days before the last day of the month"),
        ("0 9 lw * *", "at 09:00 on the last weekday (Monday to Friday) of the month"),
        (
            "0 9 1w,15w,l * *",
            "at 09:00 on the weekday nearest to day 1, the weekday nearest to day 15 and the last"
            " day of the month",
        ),
        ("0 9 * * fril", "at 09:00 on the last Friday of the month"),
        ("0 9 * 6 mon#1,fri", "at 09:00 on Friday in June and on the first Monday of June"),
        ("0 9 * september monday", "at 09:00 on Monday in September"),
        (
            "0 9 1 * mon#1,fri",
            "at 09:00 on day 1 of the month, and also on Friday and on the first"
            " Monday of the month",
        ),
    ],
)
def test_common_expressions_are_described(expression, words):
    assert describe(recurring(expression)) == words
    assert describe(recurring(a_cron(expression, BERLIN))) == f"{words}, {BERLIN}"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 0 13 * fri", "at 00:00 on day 13 of the month, but only on Friday"),
        ("0 0 1-7 * mon-fri", "at 00:00 on days 1 to 7 of the month, but only on Monday to Friday"),
        ("0 0 l 6 fri#l", "at 00:00 on the last day of June, but only on the last Friday of June"),
        ("0 0 13 * *", "at 00:00 on day 13 of the month"),
        ("0 0 * * fri", "at 00:00 on Friday"),
        ("* * * * *", "every minute"),
    ],
)
def test_expressions_whose_days_must_both_match_are_described(expression, words):
    assert describe(recurring(a_cron(expression, days=DayMatch.BOTH))) == words


@pytest.mark.parametrize(
    ("year", "words"),
    [
        ("*", ""),
        ("2027", ", in 2027"),
        ("2027,2029", ", in 2027 and 2029"),
        ("2026-2028,2030", ", in 2026 to 2028 and 2030"),
        ("2026/5", ", every 5 years from 2026 to 2196"),
        ("2027,2029,2031", ", in 2027, 2029 and 2031"),
    ],
)
def test_years_are_described(year, words):
    assert describe(recurring(f"cron(0 9 1 7 ? {year})")) == f"at 09:00 on day 1 of July{words}"
    excluded = recurring("* * * * *", exclude=(a_cron(f"cron(* * ? 7 * {year})"),))
    assert describe(excluded) == f"every minute; except all day in July{words}"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (RateRule(every=10 * SECOND, anchor=0), "every 10 seconds"),
        (RateRule(every=SECOND, anchor=0), "every second"),
        (RateRule(every=90 * SECOND, anchor=0), "every 90 seconds"),
        (RateRule(every=1_500, anchor=0), "every 1.5 seconds"),
        (RateRule(every=5 * MINUTE, anchor=0), "every 5 minutes"),
        (RateRule(every=HOUR, anchor=0), "every hour"),
        (RateRule(every=24 * HOUR, anchor=0), "every 24 hours"),
        (DelayRule(delay=30 * SECOND), "30 seconds after the previous run ended"),
        (DelayRule(delay=MINUTE), "1 minute after the previous run ended"),
        (
            a_cron("30 2 * * *", BERLIN, gap=DstGap.SKIP, overlap=DstOverlap.LAST),
            "at 02:30 every day, Europe/Berlin (gap: skip, overlap: last)",
        ),
        (a_cron("cron(30 2 * * ? *)", BERLIN), "at 02:30 every day, Europe/Berlin (gap: skip)"),
        (a_cron("cron(0/20 * * * ? *)", BERLIN), "every 20 minutes, Europe/Berlin"),
    ],
)
def test_rates_delays_and_dates_are_described(rule, words):
    assert describe(recurring(rule)) == words


def test_several_rules_and_exclusions_are_described():
    recurrence = recurring(
        a_cron("0 9 * * 1-5", BERLIN),
        "0 12 * * 6",
        exclude=(
            ExcludedDates(dates=("2026-12-25", "2026-12-26"), timezone=BERLIN),
            a_cron("* * * * 0,6"),
            a_cron("* 12 * * *"),
        ),
    )

    assert describe(recurrence) == (
        "at 09:00, Monday to Friday, Europe/Berlin; and at 12:00 on Saturday"
        "; except on 2026-12-25 and 2026-12-26, Europe/Berlin"
        "; except all day on Saturday and Sunday"
        "; except every minute from 12:00 to 12:59"
    )


def test_excluded_minute_is_not_described_like_a_second():
    minute, second = (
        describe(recurring("* * * * * *", exclude=(a_cron(e),)))
        for e in ("* 12 * * *", "* 12 * * * 0")
    )

    assert minute != second


def meaning(rule: CronRule) -> tuple:
    """Everything that determines the fire times."""
    ready = cron(rule)
    pattern, kinds = ready.pattern, [(first, length) for first in range(7) for length in LENGTHS]
    days = tuple(pattern.days.kind(*kind) for kind in kinds)
    dst = (ready.gap, ready.overlap) if rule.timezone != "UTC" else None
    return pattern.seconds, pattern.minutes, pattern.months, days, pattern.years, dst


@pytest.mark.parametrize("zone", ["UTC", pytest.param(BERLIN, marks=pytest.mark.long)])
def test_rules_that_are_described_alike_fire_alike(zone):
    """A description is complete: it determines the fire times."""
    chance, meanings = Random(11), {}
    for _ in range(2_500):
        if chance.random() < 0.3:
            expression = an_eventbridge_expression(chance)
        else:
            expression = " ".join(an_expression_of_ours(chance))
        rule = a_cron(expression, zone, days=chance.choice(list(DayMatch)))
        try:
            means = meaning(rule)
        except BadRule:
            continue
        words = describe(recurring(rule))
        assert meanings.setdefault(words, means) == means, words
    assert len(meanings) > 1_500


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 2 * * *", "cron(30 2 * * ? *)"),
        ("* 2 * * *", "0-59 2 * * *"),
        ("0 */12 * * *", "0 0,12 * * *"),
        ("*/15 2 * * *", "0,15,30,45 2 * * *"),
        ("*/5 2-5 * * *", "0/5 2-5 * * *"),
        ("0 */2 * * *", "0 0-23/2 * * *"),
    ],
)
def test_rules_that_differ_only_in_daylight_saving_are_described_differently(one, other):
    described = [describe(recurring(a_cron(e, BERLIN))) for e in (one, other)]

    assert described[0] != described[1]
    assert meaning(a_cron(one)) == meaning(a_cron(other)), "in UTC there is no difference"
    assert describe(recurring(one)) == describe(recurring(other))


YEAR_AHEAD = (at("2026-10-01T12:00"), at("2026-10-01T12:00") + YEAR)


def twice(times: str, what: str, place: str = "Europe/Berlin on 2026-10-25") -> str:
    return f"{times} twice in {place}; {what}"


def missing(times: str, what: str, place: str = "Europe/Berlin on 2027-03-28") -> str:
    return f"{times} not exist in {place}; {what}"


@pytest.mark.parametrize(
    ("rule", "notes"),
    [
        (
            a_cron("30 2 * * *", BERLIN),
            [
                ("first_of_two", twice("02:30 comes", "runs the first time only")),
                ("shifted", missing("02:30 does", "runs at 03:00")),
            ],
        ),
        (
            a_cron("30 2 * * *", BERLIN, gap=DstGap.SKIP, overlap=DstOverlap.LAST),
            [
                ("last_of_two", twice("02:30 comes", "runs the second time only")),
                ("skipped", missing("02:30 does", "left out")),
            ],
        ),
        (
            a_cron("0,30 2 * * *", BERLIN, overlap=DstOverlap.BOTH),
            [
                ("repeated", twice("02:00 comes", "runs both times")),
                ("repeated", twice("02:30 comes", "runs both times")),
                ("shifted", missing("02:00 and 02:30 do", "runs at 03:00")),
            ],
        ),
        (
            a_cron("*/5 * * * *", BERLIN),
            [
                ("repeated", twice("02:00 to 02:55 (12 times) come", "runs both times")),
                ("skipped", missing("02:00 to 02:55 (12 times) do", "left out")),
            ],
        ),
        (
            a_cron("30 23 * 3 *", "America/Nuuk"),
            [
                (
                    "shifted",
                    missing(
                        "23:30 does",
                        "runs at 00:00 on 2027-03-28",
                        "America/Nuuk on 2027-03-27",
                    ),
                ),
            ],
        ),
        (a_cron("0 9 * * *", BERLIN), []),
        (a_cron("30 2 * * *"), []),
        (RateRule(every=HOUR, anchor=0), []),
        (DelayRule(delay=HOUR), []),
    ],
)
def test_notes_describe_the_effect_of_daylight_saving(rule, notes):
    found = find_dst_notes(recurring(rule), *YEAR_AHEAD)

    assert [(note.kind, note.note) for note in found] == notes


def test_note_has_the_instant_of_its_fire_time():
    first, shifted = find_dst_notes(recurring(a_cron("30 2 * * *", BERLIN)), *YEAR_AHEAD)

    assert first.at == at("2026-10-25T02:30", BERLIN)
    assert shifted.at == at("2027-03-28T03:00", BERLIN)
    last, skipped = find_dst_notes(
        recurring(a_cron("30 2 * * *", BERLIN, gap=DstGap.SKIP, overlap=DstOverlap.LAST)),
        *YEAR_AHEAD,
    )
    assert last.at == at("2026-10-25T02:30", BERLIN, fold=1)
    assert skipped.at == at("2027-03-28T03:00", BERLIN)


def test_notes_are_after_the_first_instant_and_up_to_the_last():
    rule, fires = recurring(a_cron("30 2 * * *", BERLIN)), at("2026-10-25T02:30", BERLIN)

    assert find_dst_notes(rule, fires, fires + HOUR) == []
    assert len(find_dst_notes(rule, fires - 1, fires)) == 1


@pytest.mark.parametrize("date", ["2026-10-25", "2027-03-28"])
def test_excluded_fire_time_has_no_note(date):
    holiday = ExcludedDates(dates=(date,), timezone=BERLIN)
    found = find_dst_notes(recurring(a_cron("30 2 * * *", BERLIN), exclude=(holiday,)), *YEAR_AHEAD)

    assert len(found) == 1
    assert date not in found[0].note


def test_notes_are_in_order_of_time():
    rules = a_cron("30 2 * * *", BERLIN), a_cron("30 2 * * *", "America/New_York")
    found = find_dst_notes(recurring(*rules), *YEAR_AHEAD)

    assert isinstance(found[0], DstNote)
    assert [note.at for note in found] == sorted(note.at for note in found)
    assert len(found) == 3  # in New York it is 01:30 that comes twice
