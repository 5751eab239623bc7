"""EventBridge's expressions: cron(…) and rate(…) as AWS evaluates them; at(…) is rejected.

cron(…) has a year, counts Sunday as 1, takes `?` for exactly one of the two days, lets ranges wrap
around (`20-2` in the hours) and reads `L` as a weekday as Saturday, the last day of its week.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from duetime.core import times
from duetime.core.recurrence.cron_fields import (
    DAY,
    HOUR,
    MINUTE,
    MONTH,
    WEEKDAY,
    WEEKDAYS,
    Field,
    Token,
    named,
    tokens,
)
from duetime.core.recurrence.rules import BadRule, CronRule, RateRule
from duetime.core.times import Millis


def _loose(field: Field) -> Field:
    return replace(field, circular=True, loose=True)


FIELDS: Mapping[str, Field] = {
    "minute": _loose(MINUTE),
    "hour": _loose(HOUR),
    "day": _loose(DAY),
    "month": _loose(MONTH),
    "weekday": _loose(replace(WEEKDAY, low=1, names={**named(WEEKDAYS, 1), "l": 7})),
    "year": Field(name="year", low=1_970, high=2_199, names={}, loose=True),
}
UNITS = {"minute": times.MINUTE, "hour": times.HOUR, "day": times.DAY}

_CALL = re.compile(r"\s*(cron|rate|at)\(", re.IGNORECASE)
_RATE = re.compile(r"\s*([0-9]+)\s+([a-z]+)\s*", re.IGNORECASE)


def is_call(expression: str, start: int = 0) -> bool:
    return _CALL.match(expression, start) is not None


def fields_of(expression: str, start: int) -> list[Token]:
    """Returns the six fields inside cron(…)."""
    name, begin, end = _call(expression, start)
    if name == "at":
        at = expression[begin:end].strip()
        reason = f"at(…) names one moment; submit a task with run_at: duetime submit --at {at}Z"
        raise BadRule("expression", reason, position=begin + 1)
    if name == "rate":
        _every(expression, start)
        reason = "rate(…) counts elapsed time: it takes no time zone, no dst, no seconds, no days"
        raise BadRule(
            "expression", f"{reason}, and cannot be an exclusion", position=begin - len("rate")
        )
    found = tokens(expression, begin, end)
    if len(found) != len(FIELDS):
        wanted = "cron(…) has six (minute, hour, day of the month, month, weekday, year)"
        reason = f"has {len(found)} field{'s' * (len(found) != 1)}; {wanted}"
        reason += "; five fields are written without cron( )" if len(found) == 5 else ""
        raise BadRule("expression", reason, position=end + 1)
    return found


def check_days(day: str, weekday: str, position: int) -> None:
    """Checks that exactly one of the two days is ?, and that # is not in a list, as AWS does."""
    reason = None
    match day, weekday:
        case "?", "?":
            reason = "only one of the two days may be ?; write * for the day of the month"
        case ("?", _) | (_, "?"):
            pass
        case _, "*":
            reason = "one of the two days must be ?; write ? for the weekday"
        case "*", _:
            reason = "one of the two days must be ?; write ? for the day of the month"
        case _:
            reason = (
                "one of the two days must be ?; for a day that matches both, write five fields"
                ' and "days": "both" (--days both)'
            )
    if "#" in weekday and "," in weekday:
        reason = "cron(…) takes # only by itself; five-field cron takes it in a list"
    if reason:
        raise BadRule("expression", f"weekday: {reason}", position=position)


def with_rate(rule: CronRule, anchor: Millis) -> CronRule | RateRule:
    """Converts a valid rate(…) to a rate. Other rules are returned unchanged; the check that every
    rule goes through finds what is wrong with them."""
    if rule != CronRule(expression=rule.expression) or not is_call(rule.expression):
        return rule
    try:
        return RateRule(every=_every(rule.expression, 0), anchor=anchor)
    except BadRule:
        return rule


def _call(expression: str, start: int) -> tuple[str, int, int]:
    """Returns the name of the call, and where its arguments begin and end."""
    found = _CALL.match(expression, start)
    assert found is not None
    end = len(expression.rstrip())
    if not expression.rstrip().endswith(")"):
        raise BadRule("expression", f"the ) of {found[1]}( is missing", position=end + 1)
    return found[1].lower(), found.end(), end - 1


def _every(expression: str, start: int) -> Millis:
    name, begin, end = _call(expression, start)
    rate = _RATE.fullmatch(expression, begin, end)
    if name != "rate" or not rate:
        reason = "a rate is written like rate(1 hour) or rate(5 minutes)"
        raise BadRule("expression", reason, position=begin + 1)
    count, unit = int(rate[1]), rate[2].lower()
    single = unit.removesuffix("s")
    if single not in UNITS or count == 0:
        reason = "a rate has a whole number from 1 and minutes, hours or days"
        raise BadRule("expression", reason, position=begin + 1)
    if (count == 1) != (unit == single):
        instead = f"rate({count} {single}{'s' * (count > 1)})"
        raise BadRule("expression", f"write {instead}", position=rate.start(2) + 1)
    if count * UNITS[single] > times.YEAR:
        raise BadRule("expression", "a rate is at most 365 days", position=begin + 1)
    return count * UNITS[single]
