"""A recurrence that is invalid or never fires is refused before it is stored."""

import pytest

from duetime.core.recurrence.fire_times import (
    MAX_RULE_CALLS,
    MAX_SKIPPED_STRETCHES,
    check,
    next_fire,
)
from duetime.core.recurrence.rules import (
    BadRule,
    DelayRule,
    DstGap,
    DstOverlap,
    ExcludedDates,
    RateRule,
    Recurrence,
)
from duetime.core.times import SECOND
from tests.core.recurrence.cron_cases import a_cron, at, local_text, recurring

NOW = at("2026-06-01T12:00")
DAILY = a_cron("0 9 * * *")


def refused(recurrence: Recurrence) -> BadRule:
    with pytest.raises(BadRule) as raised:
        check(recurrence, NOW)
    return raised.value


def test_valid_recurrence_passes_the_check():
    dates = ExcludedDates(dates=("2026-12-25",), timezone="Europe/Berlin")
    rate, delay = RateRule(every=SECOND, anchor=0), DelayRule(delay=SECOND)

    check(recurring(DAILY, rate, delay, exclude=(dates, a_cron("* * * * 0,6"))), NOW)
    check(recurring(delay), NOW)


def test_recurrence_without_a_rule_is_refused():
    assert refused(Recurrence(rules=())).field == "rules"


@pytest.mark.parametrize(
    ("rule", "field"),
    [(RateRule(every=SECOND - 1, anchor=0), "every"), (DelayRule(delay=SECOND - 1), "delay")],
)
def test_interval_below_a_second_is_refused(rule, field):
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
def test_unknown_zone_is_refused_with_the_nearest_name(zone, hint):
    bad = refused(recurring(DAILY, a_cron("0 9 * * *", zone)))

    assert (bad.field, bad.part, bad.index) == ("timezone", "rules", 1)
    assert bad.reason.startswith(f"{zone!r} is not a time zone; {hint}")


@pytest.mark.parametrize(
    "date", ["2026-02-29", "25.12.2026", "20261225", "2026-W01-1", "", "2026-1-1"]
)
def test_text_that_is_no_date_is_refused(date):
    bad = refused(recurring(DAILY, exclude=(ExcludedDates(dates=("2026-12-25", date)),)))

    assert (bad.field, bad.part, bad.index) == ("dates", "exclude", 0)
    assert bad.reason == f"{date!r} is not a date like 2026-12-25"


def test_empty_list_of_dates_is_refused():
    assert refused(recurring(DAILY, exclude=(ExcludedDates(dates=()),))).field == "dates"


def test_a_wrong_exclusion_is_named():
    bad = refused(recurring(DAILY, exclude=(a_cron("* * * * 6"), a_cron("* 24 * * *"))))

    assert (bad.field, bad.part, bad.index, bad.position) == ("expression", "exclude", 1, 3)


@pytest.mark.parametrize("dst", [{"gap": DstGap.SKIP}, {"overlap": DstOverlap.FIRST}])
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
def test_recurrence_whose_fire_times_are_all_excluded_is_refused(exclude):
    assert refused(recurring(DAILY, exclude=exclude)).field == "exclude"


def test_local_time_that_is_always_in_the_gap_never_fires():
    """The last Sunday of March has no 02:30 in Berlin, in any year."""
    bad = refused(recurring(a_cron("30 2 * 3 l0", "Europe/Berlin", gap=DstGap.SKIP)))

    assert (bad.field, bad.reason, bad.index) == ("expression", "never fires", 0)
    check(recurring(a_cron("30 2 * 3 l0", "Europe/Berlin")), NOW)


@pytest.mark.parametrize(
    ("expression", "after", "fires"),
    [
        ("0 0 29 2 *", "2096-03-01T00:00", "2104-02-29 00:00 +00:00"),  # 2100 is not a leap year
        ("0 0 * 2 mon#5", "2072-03-01T00:00", "2112-02-29 00:00 +00:00"),  # forty years
        ("0 0 29 2 1", "2026-06-01T12:00", "2027-02-01 00:00 +00:00"),  # either day is enough
    ],
)
def test_rare_fire_time_is_found(expression, after, fires):
    assert local_text(next_fire(recurring(expression), at(after))) == fires


def test_search_ends_with_the_calendar():
    assert next_fire(recurring("0 0 29 2 *"), at("9997-01-01T00:00")) is None
    assert (
        next_fire(recurring(a_cron("0 0 1 1 *", "Europe/Berlin")), at("9999-12-31T00:00")) is None
    )


def test_search_gives_up_instead_of_running_forever():
    """One exclusion has the odd minutes, one the even: as many stretches as minutes."""
    never = recurring("* * * * *", exclude=(a_cron("*/2 * * * *"), a_cron("1-59/2 * * * *")))

    with pytest.raises(BadRule, match=f"leaves out {MAX_SKIPPED_STRETCHES:,} fire times"):
        next_fire(never, NOW)


def test_search_gives_up_sooner_with_more_rules_and_exclusions():
    """Ten rules and fifty exclusions: a stretch costs thirty times as much as with one each."""
    quick, seldom = a_cron("* * * * * 1-50"), a_cron("0 * * * *")
    exclude = tuple(a_cron(f"* * * * * {second}") for second in range(1, 51))
    crowded = recurring(*[quick] * 9, seldom, exclude=exclude)

    with pytest.raises(BadRule, match=f"leaves out {MAX_RULE_CALLS // 60} fire times"):
        next_fire(crowded, at("2026-06-01T12:00"))
    assert next_fire(crowded, at("2026-06-01T12:57")) == at("2026-06-01T13:00")


def test_long_exclusion_of_a_frequent_rule_is_skipped_in_one_step():
    """From Friday evening to Monday morning, 22,000 fire times."""
    office = (a_cron("* 0-7,18-23 * * *", "Europe/Berlin"), a_cron("* * * * 0,6", "Europe/Berlin"))
    every_ten_seconds = recurring("* * * * * */10", exclude=office)

    found = next_fire(every_ten_seconds, at("2026-06-05T18:00", "Europe/Berlin"))

    assert local_text(found, "Europe/Berlin") == "2026-06-08 08:00 +02:00"
