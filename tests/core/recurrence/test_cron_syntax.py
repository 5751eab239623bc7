"""The syntax of expressions, and the errors for invalid ones."""

from contextlib import suppress
from random import Random

import pytest
from croniter import croniter
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.recurrence.cron_pattern import firing
from duetime.core.recurrence.cron_syntax import parse
from duetime.core.recurrence.fire_times import check
from duetime.core.recurrence.rules import BadRule, DayMatch, Seconds
from tests.core.recurrence.cron_cases import a_cron, recurring
from tests.core.recurrence.strategies import an_expression

NOW = 1_794_820_020_120

WRONG = [
    ("61 * * * *", 1, "minute: 61 is not from 0 to 59"),
    ("0 24 * * *", 3, "hour: 24 is not from 0 to 23"),
    ("0 0 0 * *", 5, "day of the month: 0 is not from 1 to 31"),
    ("0 0 32 * *", 5, "day of the month: 32 is not from 1 to 31"),
    ("0 0 * 13 *", 7, "month: 13 is not from 1 to 12"),
    ("0 0 * * 8", 9, "weekday: 8 is not from 0 to 7"),
    ("0 0 * * * 60", 11, "second: 60 is not from 0 to 59"),
    ("0 0 0 * * 0", 5, "day of the month: 0 is not from 1 to 31"),
    ("  0   99 * * *", 7, "hour: 99 is not from 0 to 23"),
    ("0 0-99 * * *", 3, "hour: 99 is not from 0 to 23"),
    ("x * * * *", 1, "minute: 'x' is not a number from 0 to 59"),
    ("-5 * * * *", 1, "minute: a value is missing"),
    ("5- * * * *", 1, "minute: a value is missing"),
    ("1.5 * * * *", 1, "minute: '1.5' is not a number from 0 to 59"),
    ("٣ * * * *", 1, "minute: '٣' is not a number from 0 to 59"),
    ("0 0 * foo *", 7, "month: 'foo' is neither a number from 1 to 12 nor one of jan, feb, mar,"),
    ("50-10 * * * *", 1, "minute: 50-10 runs backwards; to wrap around, write 50-59,0-10"),
    ("0 22-2 * * *", 3, "hour: 22-2 runs backwards; to wrap around, write 22-23,0-2"),
    (
        "0 0 * * thu-mon/2",
        9,
        "weekday: thu-mon wraps around, and so takes no step; list the weekdays",
    ),
    ("0 5-5 * * *", 3, "hour: 5-5 is a range of one; write 5"),
    ("0 0 * * sun-sun", 9, "weekday: sun-sun is a range of one; write sun"),
    ("0 0 * * 7-7", 9, "weekday: 7-7 is a range of one; write 7"),
    ("0 0 * * 7-0", 9, "weekday: 7-0 is a range of one; write 7"),
    ("59/5 * * * *", 1, "minute: 59/5: there is no next value; write 59"),
    ("0 0 * * sat/2", 9, "weekday: sat/2: there is no next value; write sat"),
    ("*/0 * * * *", 1, "minute: a step of 0 never ends"),
    ("*/x * * * *", 1, "minute: the step 'x' is not a number"),
    ("*/ * * * *", 1, "minute: no step follows the /"),
    ("1,,2 * * * *", 1, "minute: an entry of the list is empty"),
    ("1, * * * *", 1, "minute: an entry of the list is empty"),
    ("? * * * *", 1, "minute: '?' is not a number"),
    ("r * * * *", 1, "minute: R is a random value; write a value of your own, such"),
    ("0 0 l/2 * *", 5, "day of the month: 'l' is not a number"),
    ("0 0 32w * *", 5, "day of the month: 32 is not from 1 to 31"),
    ("0 0 l-0 * *", 5, "day of the month: L-0: the number after L- is from 1 to 30"),
    ("0 0 l-31 * *", 5, "day of the month: L-31: the number after L- is from 1 to 30"),
    ("0 0 15w,32w * *", 5, "day of the month: 32 is not from 1 to 31"),
    ("0 0 lw-3 * *", 5, "day of the month: 'lw' is not a number"),
    ("0 0 * * l8", 9, "weekday: 8 is not from 0 to 7"),
    ("0 0 * * 8l", 9, "weekday: 8 is not from 0 to 7"),
    ("0 0 * * foolishl", 9, "weekday: 'foolish' is neither a number from 0 to 7 nor one of sun,"),
    ("0 0 * * l", 9, "weekday: L alone names no weekday; write FRIL for the last Friday"),
    ("0 0 * * mon#6", 9, "weekday: 6 after # is neither from 1 to 5 nor L"),
    ("0 0 * * mon#", 9, "weekday: nothing after # is neither from 1 to 5 nor L"),
    ("0 0 * * mon-fri/2#1", 9, "weekday: 'fri/2' is neither a number from 0 to 7 nor one of"),
    ("0 0 * * funday", 9, "weekday: 'funday' is neither a number from 0 to 7 nor one of sun, mon,"),
    ("0 0 30 2 *", 5, "never fires: none of its months has such a day"),
    ("0 0 31 4,6,9,11 *", 5, "never fires: none of its months has such a day"),
    ("* * * ", 6, "has 3 fields; five (minute, hour, day of the month, month, weekday) or six"),
    ("CRON_TZ=UTC 0 0 30 2 *", 17, "never fires: none of its months has such a day"),
    (" @dialy", 2, "@dialy is not one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly"),
    ("*", 2, "has 1 field; five"),
    ("", 1, "has 0 fields; five"),
    ("* * * * * * * *", 13, "has 8 fields; five"),
    ("0 " * 600, None, "is longer than 1,000 characters"),
]


@pytest.mark.parametrize(("expression", "position", "reason"), WRONG)
def test_invalid_expression_is_refused_with_reason_and_position(expression, position, reason):
    with pytest.raises(BadRule) as raised:
        check(recurring("* * * * *", expression), NOW)

    bad = raised.value
    assert (bad.field, bad.part, bad.index) == ("expression", "rules", 1)
    assert bad.position == position
    assert bad.reason.startswith(reason)
    assert str(bad) == f"expression: {bad.reason}"


@pytest.mark.parametrize(
    ("expression", "means"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        (" @Daily ", "0 0 * * *"),
        ("0 0 * JAN-mar MON,Wed", "0 0 * 1-3 1,3"),
        ("0 0 * * sat-sun", "0 0 * * 0,6"),
        ("0 0 * * fri-mon", "0 0 * * 0,1,5,6"),
        ("0 0 * nov-feb *", "0 0 * 1,2,11,12 *"),
        ("0 0 * * 7", "0 0 * * 0"),
        ("0 0 * * 7 0", "0 0 * * 0"),
        ("0 0 * * 5-7", "0 0 * * 0,5,6"),
        ("0 0 * * 1-7/2", "0 0 * * 0,1,3,5"),
        ("0 0 * * 0-7", "0 0 * * *"),
        ("0 0 ? * 1", "0 0 * * 1"),
        ("0 0 1 * ?", "0 0 1 * *"),
        ("10/20 * * * *", "10,30,50 * * * *"),
        ("*/60 * * * *", "0 * * * *"),
        ("0/5 * * * *", "*/5 * * * *"),
        ("*,5 * * * *", "* * * * *"),
        ("0 0 25-L * *", "0 0 25-31 * *"),
        ("0 0 20-L * *", "0 0 20-31 * *"),
        ("0 0 W15 * *", "0 0 15W * *"),
        ("0 0 LW * *", "0 0 31W * *"),
        ("0 0 * SEPTEMBER-november Monday,Thursday", "0 0 * 9-11 1,4"),
        ("0 0 * * saturday-sunday", "0 0 * * 0,6"),
        ("0 0 * * 5L", "0 0 * * L5"),
        ("0 0 * * FRIL", "0 0 * * L5"),
        ("0 0 * * FridayL", "0 0 * * L5"),
        ("0 0 * * fri#L", "0 0 * * L5"),
        ("0 0 * * 5#L", "0 0 * * L5"),
        ("0 0 * * 0L", "0 0 * * 7L"),
        ("0 0 * * 1-3#2", "0 0 * * 1#2,2#2,3#2"),
        ("0 0 * * fri-mon#L", "0 0 * * L5,L6,L0,L1"),
        ("0 0 * * *,mon#1", "0 0 * * *"),
        ("CRON_TZ=Europe/Berlin 0 9 * * *", "0 9 * * *"),
        (" TZ=Asia/Tokyo  @daily", "0 0 * * *"),
        ("cron_tz=UTC 0 9 * * * 30", "0 9 * * * 30"),
        ("0 0 * * mon-wed#2", "0 0 * * 1#2,2#2,3#2"),
        ("0 0 * * * 0", "0 0 * * *"),
        ("0  0\t* * *", "0 0 * * *"),
    ],
)
def test_equivalent_expressions_fire_at_the_same_times(expression, means):
    one, other = (firing(text, a_cron(text).seconds) for text in (expression, means))

    assert (one.seconds, one.minutes, one.months) == (other.seconds, other.minutes, other.months)
    kinds = [(first, length) for first in range(7) for length in range(28, 32)]
    assert [one.days.kind(*k) for k in kinds] == [other.days.kind(*k) for k in kinds]


@given(st.integers(0, 2**32).map(Random))
def test_croniter_accepts_what_we_accept(chance):
    expression = " ".join(an_expression(chance))

    assert parse(expression, Seconds.LAST if len(expression.split()) == 6 else None)
    assert (
        croniter.is_valid(expression) or "7" in expression
    )  # croniter has no weekday 7 in six fields


SOUP = st.text(alphabet="0123456789*/-,#lwhr?@ ()=TZcronateCRON_monjanfri", max_size=40)


PIECES = st.lists(
    st.sampled_from(
        [
            *("cron(", "rate(", "at(", ")", "TZ=UTC", "CRON_TZ=", "@every", "5m", "?", "*", "*/90"),
            *("L-3", "LW", "6L", "3#2", "1/2", "20-2", "MON-FRI", "1W,15W", "2027", "1970-2199/2"),
            *("5", "H"),
        ]
    ),
    max_size=9,
)


@given(
    SOUP | st.text(max_size=30) | PIECES.map(" ".join) | PIECES.map("".join),
    st.none() | st.sampled_from(Seconds),
    st.sampled_from(DayMatch),
)
def test_any_other_text_raises_only_bad_rule(text, seconds, days):
    rule = a_cron(text, seconds=seconds, days=days)
    with suppress(BadRule):
        check(recurring(rule), NOW)
    with suppress(BadRule):
        check(recurring("* * * * *", exclude=(rule,)), NOW)


ENTRIES = st.from_regex(
    r"(\*|[0-9]{1,2}|mon|l|l[0-9])(-([0-9]{1,2}|fri|l))?(/[0-9])?", fullmatch=True
)


@given(st.lists(ENTRIES, min_size=5, max_size=6))
def test_croniter_accepts_every_field_that_passes_our_check(fields):
    """Otherwise users would see croniter's own error."""
    with suppress(BadRule):
        firing(" ".join(fields), Seconds.LAST if len(fields) == 6 else None)
