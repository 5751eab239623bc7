"""Six fields: crons disagree on the position of the seconds, so the rule must set it."""

import pytest

from duetime.core.recurrence.describe import describe
from duetime.core.recurrence.fire_times import check, fire_times
from duetime.core.recurrence.rules import BadRule, Seconds
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from tests.core.recurrence.cron_cases import a_cron, at, recurring

NOW = at("2026-11-16T09:00")


def refused(expression: str, seconds: Seconds | None = None, *, exclude: bool = False) -> BadRule:
    rule = a_cron(expression, seconds=seconds)
    recurrence = recurring("* * * * *", exclude=(rule,)) if exclude else recurring(rule)
    with pytest.raises(BadRule) as raised:
        check(recurrence, NOW)
    return raised.value


@pytest.mark.parametrize(
    ("expression", "first", "last"),
    [
        (
            "0 0 9 * * *",
            "at 09:00 every day",
            "every second of minute 0 of hour 0 on day 9 of the month",
        ),
        ("*/10 * * * * *", "every 10 seconds", "every second of minutes 0, 10, 20, 30, 40 and 50"),
        ("0 */5 * * * *", "every 5 minutes", "every second of minute 0 of hours 0, 5, 10, 15"),
        ("0 30 9 * * mon-fri", "at 09:30, Monday to Friday", "not valid (hour: 30 is not from"),
        ("30 9 * * 0 0", "not valid (month: 0 is not from 1 to 12)", "at 09:30 on Sunday"),
        ("0 0 0 30 2 *", "not valid (never fires: ", "not valid (day of the month: 0 is not"),
    ],
)
@pytest.mark.parametrize("exclude", [False, True])
def test_six_fields_without_seconds_are_refused_with_both_readings(
    expression, first, last, exclude
):
    bad = refused(expression, exclude=exclude)

    assert (bad.field, bad.part) == ("seconds", "exclude" if exclude else "rules")
    start, first_reading, last_reading = bad.reason.split("; with seconds ")
    assert start == "is required with six fields"
    assert first_reading.startswith(f"first: {first}")
    assert last_reading.startswith(f"last: {last}")


def test_six_fields_of_eventbridge_are_recognised_without_cron():
    reason = refused("0 12 ? * MON-FRI *").reason

    assert reason.endswith(
        "; as EventBridge's cron(0 12 ? * MON-FRI *): at 12:00, Monday to Friday"
    )


@pytest.mark.parametrize("seconds", Seconds)
def test_each_reading_fires_as_it_is_described(seconds):
    rule = recurring(a_cron("0 0 9 * * *", seconds=seconds))

    found = list(fire_times(rule, at("2026-11-08T12:00"), at("2026-11-10T12:00")))

    assert describe(rule) in refused("0 0 9 * * *").reason
    if seconds is Seconds.FIRST:
        assert found == [at("2026-11-09T09:00"), at("2026-11-10T09:00")]
    else:
        midnight = at("2026-11-09T00:00")
        assert found == [midnight + n * SECOND for n in range(60)]


def test_seconds_first_and_last_are_the_same_rule_in_another_order():
    for first, last in [("30 */5 2 l * mon", "*/5 2 l * mon 30"), ("5 * * * * *", "* * * * * 5")]:
        one, other = (
            list(fire_times(recurring(a_cron(text, seconds=where)), NOW, NOW + 40 * DAY))
            for text, where in ((first, Seconds.FIRST), (last, Seconds.LAST))
        )
        assert one == other != []


@pytest.mark.parametrize("seconds", Seconds)
@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("0 9 * * *", "this one has five"),
        ("CRON_TZ=UTC 0 9 * * *", "this one has five"),
        ("@daily", "@daily has no seconds"),
        ("cron(0 12 * * ? *)", "EventBridge's cron(…) has no seconds"),
    ],
)
def test_seconds_without_a_field_for_them_are_refused(expression, seconds, why):
    bad = refused(expression, seconds)

    assert (bad.field, bad.reason) == (
        "seconds",
        f"is for expressions of six fields; {why}",
    )


@pytest.mark.parametrize(
    ("seconds", "position", "reason"),
    [(Seconds.FIRST, 4, "minute: 61 is not"), (Seconds.LAST, 1, "minute: 61 is not")],
)
def test_errors_of_six_fields_point_at_the_field_of_that_reading(seconds, position, reason):
    expression = "0  61 1 1 1 1" if seconds is Seconds.FIRST else "61 1 1 1 1 0"
    bad = refused(expression, seconds)

    assert (bad.field, bad.position) == ("expression", position)
    assert bad.reason.startswith(reason)


def test_the_daylight_saving_rule_looks_at_minute_and_hour_wherever_they_are():
    every_second = recurring(a_cron("0 30 2 * * *", "Europe/Berlin", seconds=Seconds.FIRST))
    found = list(
        fire_times(every_second, at("2027-03-27T12:00"), at("2027-03-27T12:00") + 26 * HOUR)
    )

    assert found == [at("2027-03-28T03:00", "Europe/Berlin")]
    assert found[0] % MINUTE == 0
