"""Expressions that only other crons accept are refused with the exact expression to write."""

import pytest

from duetime.core.recurrence.describe import describe
from duetime.core.recurrence.fire_times import check, next_fire
from duetime.core.recurrence.rules import BadRule, Seconds
from duetime.core.times import HOUR
from tests.core.recurrence.cron_cases import a_cron, at, recurring

NOW = at("2026-11-16T09:00")
JITTER = "and use jitter (--jitter 5m) to spread the runs"
OR_BOUNDS = "or bound the schedule with starts_at and ends_at"


def refused(expression: str, *, exclude: bool = False, **options) -> BadRule:
    rule = a_cron(expression, **options)
    recurrence = recurring("* * * * *", exclude=(rule,)) if exclude else recurring(rule)
    with pytest.raises(BadRule) as raised:
        check(recurrence, NOW)
    return raised.value


@pytest.mark.parametrize(
    ("expression", "position", "reason"),
    [
        (
            "@every 5m",
            1,
            '@every is not cron; write a rule of type rate: {"type": "rate", "every": 300}, or'
            " --every 5m",
        ),
        (
            " @every 1h30m10s",
            2,
            '@every is not cron; write a rule of type rate: {"type": "rate", "every": 5410}, or'
            " --every 1h30m10s",
        ),
        (
            "@every 1500ms",
            1,
            '@every is not cron; write a rule of type rate: {"type": "rate", "every": 1.5}, or'
            " --every 1.5s",
        ),
        (
            "@every so often",
            1,
            '@every is not cron; write a rule of type rate: {"type": "rate", "every": 300}, or'
            " --every 5m",
        ),
        (
            "@reboot",
            1,
            "@reboot names no time; to run something once, submit a task: duetime submit",
        ),
        (
            "H * * * *",
            1,
            f"minute: H is a random value; write a value of your own, such as 0, {JITTER}",
        ),
        ("H/15 * * * *", 1, f"minute: H/15 is a random value; write */15, {JITTER}"),
        (
            "0 H(2-5)/2 * * *",
            3,
            f"hour: H(2-5)/2 is a random value; write 2-5/2, {JITTER}",
        ),
        (
            "0 0 H(3-7) * *",
            5,
            "day of the month: H(3-7) is a random value; write a value of your own,"
            f" such as 3, {JITTER}",
        ),
        (
            "0 9 * * 1-5 2027",
            13,
            f"the sixth field is a year; write cron(0 9 ? * MON-FRI 2027), {OR_BOUNDS}",
        ),
        (
            "0 9 1 jan * 2027-2030",
            13,
            f"the sixth field is a year; write cron(0 9 1 JAN ? 2027-2030), {OR_BOUNDS}",
        ),
        (
            "0 9 1 * 5 2027",
            11,
            "the sixth field is a year; only EventBridge's cron(…) has a year; instead,"
            " bound the schedule with starts_at and ends_at",
        ),
        (
            "0 9 * * 0,1#2 0 2027",
            17,
            "has seven fields; only EventBridge's cron(…) has a year; instead,"
            " bound the schedule with starts_at and ends_at",
        ),
        (
            "0 9 * * 1-5 0 2027",
            15,
            f"has seven fields; write cron(0 9 ? * MON-FRI 2027), {OR_BOUNDS}",
        ),
        (
            "0 15 10 ? * 6L 2027-2030",
            16,
            f"has seven fields; write cron(15 10 ? * 6L 2027-2030), {OR_BOUNDS}",
        ),
        (
            "*/90 * * * *",
            1,
            "minute: */90: a step of 90 leads beyond the 60 values of this field; write a rule of"
            ' type rate: {"type": "rate", "every": 5400}, or --every 90m',
        ),
        (
            "0 */36 * * *",
            3,
            "hour: */36: a step of 36 leads beyond the 24 values of this field; write a rule of"
            ' type rate: {"type": "rate", "every": 129600}, or --every 36h',
        ),
        (
            "5,10/61 * * * *",
            1,
            "minute: 10/61: a step of 61 leads beyond the 60 values of this field; write a rule of"
            ' type rate: {"type": "rate", "every": 3660}, or --every 61m',
        ),
        (
            "0 0 */45 * *",
            5,
            "day of the month: */45: a step of 45 leads beyond the 31 values of this field; write a"
            ' rule of type rate: {"type": "rate", "every": 3888000}, or --every 45d',
        ),
        (
            "0 0 1 */18 *",
            7,
            "month: */18: a step of 18 leads beyond the 12 values of this field; list the months"
            " instead",
        ),
        (
            "0 0 * * */14",
            9,
            "weekday: */14: a step of 14 leads beyond the 7 values of this field; write a rule of"
            ' type rate: {"type": "rate", "every": 1209600}, or --every 14d',
        ),
        (
            "CRON_TZ=UTC */90 * * * *",
            13,
            "minute: */90: a step of 90 leads beyond the 60 values of this field; write a rule of"
            ' type rate: {"type": "rate", "every": 5400}, or --every 90m',
        ),
    ],
)
@pytest.mark.parametrize("exclude", [False, True])
def test_error_suggests_the_exact_expression_to_write(expression, position, reason, exclude):
    bad = refused(expression, exclude=exclude, seconds=None)

    assert (bad.field, bad.reason, bad.position) == ("expression", reason, position)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("cron(0 9 ? * MON-FRI 2027)", "at 09:00, Monday to Friday, in 2027"),
        ("cron(0 9 1 JAN ? 2027-2030)", "at 09:00 on day 1 of January, in 2027 to 2030"),
        ("*/60 * * * *", "every hour"),
        ("0 */24 * * *", "at 00:00 every day"),
        ("0 0 */31 * *", "at 00:00 on day 1 of the month"),
        ("0 0 1 */12 *", "at 00:00 on day 1 of January"),
        ("0 0 * * */7", "at 00:00 on Sunday"),
    ],
)
def test_suggested_expressions_and_edge_cases_are_accepted(expression, words):
    check(recurring(expression), NOW)

    assert describe(recurring(expression)) == words


def test_seconds_have_steps_too():
    reason = refused("*/90 * * * * *", seconds=Seconds.FIRST).reason

    assert reason.startswith("second: */90: a step of 90 leads beyond the 60 values")
    assert reason.endswith('{"type": "rate", "every": 90}, or --every 90s')


def test_a_step_beyond_its_field_that_is_already_stored_keeps_firing():
    """Earlier releases accepted such an expression: it must not stop with an update."""
    stored = recurring("*/90 * * * *", exclude=(a_cron("0 */36 * * *"),))

    assert next_fire(stored, NOW) == NOW + HOUR


@pytest.mark.parametrize(
    ("expression", "timezone", "field", "position", "reason"),
    [
        (
            "CRON_TZ=Europe/Berlin 0 9 * * *",
            "UTC",
            "timezone",
            None,
            "is UTC, but the expression says Europe/Berlin; give one of the two",
        ),
        (
            "TZ=Europe/Berlin 0 9 * * *",
            "Asia/Tokyo",
            "timezone",
            None,
            "is Asia/Tokyo, but the expression says Europe/Berlin; give one of the two",
        ),
        (
            " CRON_TZ=Europe/Berln 0 9 * * *",
            "Europe/Berln",
            "expression",
            10,
            "'Europe/Berln' is not a time zone; did you mean Europe/Berlin?",
        ),
        (
            "CRON_TZ= 0 9 * * *",
            "UTC",
            "expression",
            9,
            "'' is not a time zone; it takes an IANA name such as Europe/Berlin",
        ),
        (
            "CRON_TZ=UTC 0 25 * * *",
            "UTC",
            "expression",
            15,
            "hour: 25 is not from 0 to 23",
        ),
        ("CRON_TZ=UTC 0 9", "UTC", "expression", 16, "has 2 fields; five (minute, hour, day of"),
        ("CRON_TZ=UTC @dialy", "UTC", "expression", 13, "@dialy is not one of @hourly"),
    ],
)
@pytest.mark.parametrize("exclude", [False, True])
def test_zone_in_the_expression_is_checked(expression, timezone, field, position, reason, exclude):
    bad = refused(expression, timezone=timezone, exclude=exclude)

    assert (bad.field, bad.position) == (field, position)
    assert bad.reason.startswith(reason)


def test_a_zone_in_the_expression_is_the_zone_of_the_rule():
    one = recurring(a_cron("CRON_TZ=Europe/Berlin 30 2 * * *", "Europe/Berlin"))
    other = recurring(a_cron("30 2 * * *", "Europe/Berlin"))

    assert next_fire(one, NOW) == next_fire(other, NOW)
    assert describe(one) == describe(other) == "at 02:30 every day, Europe/Berlin"
