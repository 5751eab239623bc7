"""L, W and #, names in full, and days that must match in both fields."""

from datetime import UTC, datetime
from random import Random

import pytest

from duetime.core.recurrence.cron_pattern import DAY_LONG, firing
from duetime.core.recurrence.fire_times import check, fire_times
from duetime.core.recurrence.rules import BadRule, DayMatch
from duetime.core.recurrence.timezones import load
from tests.core.recurrence.cron_cases import a_cron, at, local_text, recurring
from tests.core.recurrence.oracle import Oracle
from tests.core.recurrence.strategies import an_expression_of_ours


def days_of_2026(expression: str, days: DayMatch = DayMatch.EITHER) -> list[str]:
    rule = recurring(a_cron(expression, days=days))
    found = fire_times(rule, at("2026-01-01T00:00") - 1, at("2026-12-31T23:59"))
    return [local_text(fires)[5:10] for fires in found]


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("0 0 l-3 1-4 *", ["01-28", "02-25", "03-28", "04-27"]),
        ("0 0 l-30 1-4 *", ["01-01", "03-01"]),  # the others have fewer days
        ("0 0 l,l-1 2 *", ["02-27", "02-28"]),
        ("0 0 lw 1-6 *", ["01-30", "02-27", "03-31", "04-30", "05-29", "06-30"]),
        ("0 0 1w,15w 2,3,8 *", ["02-02", "02-16", "03-02", "03-16", "08-03", "08-14"]),
        ("0 0 lw,15 1,2 *", ["01-15", "01-30", "02-15", "02-27"]),
        ("0 0 20-l 2 *", [f"02-{day}" for day in range(20, 29)]),
        ("0 0 * 1-3 fril", ["01-30", "02-27", "03-27"]),
        ("0 0 * 1 mon#1,fri", ["01-02", "01-05", "01-09", "01-16", "01-23", "01-30"]),
        ("0 0 * 1 1-3#1", ["01-05", "01-06", "01-07"]),
        ("0 0 * september wednesday", ["09-02", "09-09", "09-16", "09-23", "09-30"]),
    ],
)
def test_days_of_2026_by_the_calendar(expression, found):
    assert days_of_2026(expression) == found


def test_friday_the_13th_can_be_expressed():
    assert days_of_2026("0 0 13 * fri", DayMatch.BOTH) == ["02-13", "03-13", "11-13"]
    assert len(days_of_2026("0 0 13 * fri")) == 12 + 52 - 3, "either day"


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("0 0 1-7 1-3 mon", ["01-05", "02-02", "03-02"]),  # the first Monday
        ("0 0 l * fri#l", ["07-31"]),
        ("0 0 15w 2,8 fri", ["08-14"]),
        ("0 0 */10 1 sun", ["01-11"]),
        ("0 0 * 1 mon#1", ["01-05"]),
        ("0 0 5 1-3 *", ["01-05", "02-05", "03-05"]),
    ],
)
def test_both_days_must_match_if_the_rule_says_so(expression, found):
    assert days_of_2026(expression, DayMatch.BOTH) == found


@pytest.mark.parametrize("expression", ["0 0 31 * mon#1", "0 0 l-30 2 *", "0 0 1-6 * satl"])
def test_days_that_never_match_both_are_refused(expression):
    with pytest.raises(BadRule) as raised:
        check(recurring(a_cron(expression, days=DayMatch.BOTH)), at("2026-06-01T12:00"))

    assert raised.value.reason == "never fires: none of its months has such a day"
    assert raised.value.position == 5


def test_an_exclusion_can_want_both_days():
    friday_13 = a_cron("* * 13 * fri", days=DayMatch.BOTH)
    daily = recurring("0 9 * * *", exclude=(friday_13,))
    found = fire_times(daily, at("2026-02-10T00:00"), at("2026-02-21T00:00"))

    assert [local_text(fires)[8:10] for fires in found] == [
        str(day) for day in range(10, 21) if day != 13
    ]


@pytest.mark.long
def test_the_oracle_names_the_same_days():
    chance, compared = Random(29), 0
    for _ in range(2_000):
        minute, hour, *rest = an_expression_of_ours(chance)
        expression, days = " ".join([minute, hour, *rest[:3]]), chance.choice(list(DayMatch))
        try:
            pattern = firing(expression, None, days)
        except BadRule:
            continue
        oracle = Oracle(expression, load("UTC"), days)
        start = chance.randint(12_000, 25_000)  # in days, 2002 to 2038
        for day in range(start, start + 40):
            local = datetime.fromtimestamp(day * DAY_LONG, UTC)
            assert pattern.on(day) == oracle.names_day(local), (expression, days, local)
        compared += 1
    assert compared > 1_800
