"""What keeps a recurrence from ever firing is found out before it is stored."""

import pytest

from lambdas.core.recurrence.fire_times import PATIENCE, QUESTIONS, check, next_fire
from lambdas.core.recurrence.rules import (
    BadRule,
    DelayRule,
    ExcludedDates,
    Gap,
    Overlap,
    RateRule,
    Recurrence,
)
from lambdas.core.times import SECOND
from tests.core.recurrence.said import a_cron, at, recurring, told

NOW = at("2026-06-01T12:00")
DAILY = a_cron("0 9 * * *")


def refused(recurrence: Recurrence) -> BadRule:
    with pytest.raises(BadRule) as raised:
        check(recurrence, NOW)
    return raised.value


def test_what_is_well_said_passes():
    dates = ExcludedDates(dates=("2026-12-25",), timezone="Europe/Berlin")
    rate, delay = RateRule(every=SECOND, anchor=0), DelayRule(delay=SECOND)

    check(recurring(DAILY, rate, delay, exclude=(dates, a_cron("* * * * 0,6"))), NOW)
    check(recurring(delay), NOW)


def test_no_rule_at_all():
    assert refused(Recurrence(rules=())).field == "rules"


@pytest.mark.parametrize(
    ("rule", "field"),
    [(RateRule(every=SECOND - 1, anchor=0), "every"), (DelayRule(delay=SECOND - 1), "delay")],
)
def test_more_often_than_every_second(rule, field):
    bad = refused(recurring(DAILY, rule))

    assert (bad.field, bad.reason, bad.index) == (field, "is at least 1 second", 1)


@pytest.mark.parametrize(
    ("zone", "hint"),
    [
        ("Berlin", "did you mean Europe/Berlin?"),
        ("europe/berlin", "did you mean Europe/Berlin?"),
        ("Europe/Berln", "did you mean Europe/Berlin?"),
        ("America/New York", "did you mean America/New_York?"),
        ("new york", "did you mean America/New_York?"),
        ("utc", "did you mean UTC?"),
        ("Mars/Olympus_Mons", "it takes an IANA name such as Europe/Berlin"),
        ("", "it takes an IANA name"),
        ("../../etc/passwd", "it takes an IANA name"),
        ("/usr/share/zoneinfo/UTC", "it takes an IANA name"),
    ],
)
def test_an_unknown_zone_and_the_one_that_was_meant(zone, hint):
    bad = refused(recurring(DAILY, a_cron("0 9 * * *", zone)))

    assert (bad.field, bad.part, bad.index) == ("timezone", "rules", 1)
    assert bad.reason.startswith(f"{zone!r} is not a time zone; {hint}")


@pytest.mark.parametrize(
    "date", ["2026-02-29", "25.12.2026", "20261225", "2026-W01-1", "", "2026-1-1"]
)
def test_a_date_that_is_none(date):
    bad = refused(recurring(DAILY, exclude=(ExcludedDates(dates=("2026-12-25", date)),)))

    assert (bad.field, bad.part, bad.index) == ("dates", "exclude", 0)
    assert bad.reason == f"{date!r} is not a date like 2026-12-25"


def test_dates_without_a_date():
    assert refused(recurring(DAILY, exclude=(ExcludedDates(dates=()),))).field == "dates"


def test_a_wrong_exclusion_is_named():
    bad = refused(recurring(DAILY, exclude=(a_cron("* * * * 6"), a_cron("* 24 * * *"))))

    assert (bad.field, bad.part, bad.index, bad.position) == ("expression", "exclude", 1, 3)


@pytest.mark.parametrize("dst", [{"gap": Gap.SKIP}, {"overlap": Overlap.FIRST}])
def test_an_exclusion_takes_no_dst(dst):
    assert refused(recurring(DAILY, exclude=(a_cron("* * * * 6", **dst),))).field == "dst"


@pytest.mark.parametrize(
    "exclude",
    [
        (a_cron("0 9 * * *"),),
        (a_cron("* * * * *"),),
        (a_cron("* * * * 1-5"), a_cron("* * * * 0,6")),
        (a_cron("* 0-11 * * *"),),
    ],
)
def test_when_everything_is_left_out(exclude):
    assert refused(recurring(DAILY, exclude=exclude)).field == "exclude"


def test_a_local_time_that_is_always_in_the_gap():
    """The last Sunday of March has no 02:30 in Berlin, in any year."""
    bad = refused(recurring(a_cron("30 2 * 3 l0", "Europe/Berlin", gap=Gap.SKIP)))

    assert (bad.field, bad.reason, bad.index) == ("expression", "never fires", 0)
    check(recurring(a_cron("30 2 * 3 l0", "Europe/Berlin")), NOW)


@pytest.mark.parametrize(
    ("expression", "after", "fires"),
    [
        ("0 0 29 2 *", "2096-03-01T00:00", "2104-02-29 00:00 +00:00"),  # 2100 is no leap year
        ("0 0 * 2 mon#5", "2072-03-01T00:00", "2112-02-29 00:00 +00:00"),  # forty years
        ("0 0 29 2 1", "2026-06-01T12:00", "2027-02-01 00:00 +00:00"),  # either day will do
    ],
)
def test_what_is_rare_is_found(expression, after, fires):
    assert told(next_fire(recurring(expression), at(after))) == fires


def test_the_calendar_has_an_end():
    assert next_fire(recurring("0 0 29 2 *"), at("9997-01-01T00:00")) is None
    assert (
        next_fire(recurring(a_cron("0 0 1 1 *", "Europe/Berlin")), at("9999-12-31T00:00")) is None
    )


def test_the_search_is_given_up_rather_than_going_on_for_ever():
    """Odd and even minutes, each left out by one of two: as many stretches as minutes."""
    never = recurring("* * * * *", exclude=(a_cron("*/2 * * * *"), a_cron("1-59/2 * * * *")))

    with pytest.raises(BadRule, match=f"leaves out {PATIENCE:,} fire times"):
        next_fire(never, NOW)


def test_the_more_there_is_to_ask_the_sooner_the_search_is_given_up():
    """Ten rules and fifty exclusions: a stretch costs thirty times what it costs with one each."""
    quick, seldom = a_cron("* * * * * 1-50"), a_cron("0 * * * *")
    exclude = tuple(a_cron(f"* * * * * {second}") for second in range(1, 51))
    crowded = recurring(*[quick] * 9, seldom, exclude=exclude)

    with pytest.raises(BadRule, match=f"leaves out {QUESTIONS // 60} fire times"):
        next_fire(crowded, at("2026-06-01T12:00"))
    assert next_fire(crowded, at("2026-06-01T12:57")) == at("2026-06-01T13:00")


def test_a_long_exclusion_of_a_quick_rule_is_passed_over_at_one_go():
    """From Friday evening to Monday morning, 22,000 fire times."""
    office = (a_cron("* 0-7,18-23 * * *", "Europe/Berlin"), a_cron("* * * * 0,6", "Europe/Berlin"))
    every_ten_seconds = recurring("* * * * * */10", exclude=office)

    found = next_fire(every_ten_seconds, at("2026-06-05T18:00", "Europe/Berlin"))

    assert told(found, "Europe/Berlin") == "2026-06-08 08:00 +02:00"
