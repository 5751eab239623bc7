"""The stored form of a recurrence: short lists, without defaults at the end.

["cron", expression, timezone?, gap?, overlap?, seconds?, days?]
["rate", every, anchor]   ["delay", delay]   ["dates", [date, …], timezone?]

In six fields the seconds are last unless `seconds` is "first", as in the releases without that
entry. So every release can read what another has written.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from duetime.core.recurrence.rules import (
    CronRule,
    DayMatch,
    DelayRule,
    DstGap,
    DstOverlap,
    ExcludedDates,
    Exclusion,
    RateRule,
    Recurrence,
    Rule,
    Seconds,
)

Written = list[Any]


def encode_recurrence(recurrence: Recurrence) -> Written:
    rules = [_encode(rule) for rule in recurrence.rules]
    exclude = [_encode(exclusion) for exclusion in recurrence.exclude]
    return [rules, exclude] if exclude else [rules]


def decode_recurrence(written: Sequence[Any]) -> Recurrence:
    rules, exclude = written if len(written) == 2 else (*written, ())
    return Recurrence(
        rules=tuple(_decode_rule(rule) for rule in rules),
        exclude=tuple(_decode_exclusion(exclusion) for exclusion in exclude),
    )


def _encode(rule: Rule | Exclusion) -> Written:
    match rule:
        case RateRule(every=every, anchor=anchor):
            return ["rate", every, anchor]
        case DelayRule(delay=delay):
            return ["delay", delay]
        case ExcludedDates(dates=dates, timezone=timezone):
            return _trimmed(["dates", list(dates), _unless_utc(timezone)])
        case CronRule():
            return _encode_cron(rule)


def _encode_cron(rule: CronRule) -> Written:
    written = [
        "cron",
        rule.expression,
        _unless_utc(rule.timezone),
        rule.gap,
        rule.overlap,
        None if rule.seconds is _usual_seconds(rule.expression) else rule.seconds,
        None if rule.days is DayMatch.EITHER else rule.days,
    ]
    return _trimmed([item.value if isinstance(item, StrEnum) else item for item in written])


def _usual_seconds(expression: str) -> Seconds | None:
    """Returns the default position: last in six plain fields, without cron( ) or CRON_TZ=."""
    plain = "(" not in expression and "=" not in expression
    return Seconds.LAST if plain and len(expression.split()) == 6 else None


def _unless_utc(timezone: str) -> str | None:
    return None if timezone == "UTC" else timezone


def _trimmed(written: Written) -> Written:
    while written[-1] is None:
        written.pop()
    return written


def _decode_rule(written: Sequence[Any]) -> Rule:
    match written:
        case ["rate", every, anchor]:
            return RateRule(every=every, anchor=anchor)
        case ["delay", delay]:
            return DelayRule(delay=delay)
    return _decode_cron(written)


def _decode_exclusion(written: Sequence[Any]) -> Exclusion:
    match written:
        case ["dates", dates, *rest]:
            return ExcludedDates(dates=tuple(dates), timezone=_first(rest) or "UTC")
    return _decode_cron(written)


def _decode_cron(written: Sequence[Any]) -> CronRule:
    match written:
        case ["cron", expression, *rest] if len(rest) <= 5:
            timezone, gap, overlap, seconds, days = (*rest, *[None] * 5)[:5]
            return CronRule(
                expression=expression,
                timezone=timezone or "UTC",
                gap=DstGap(gap) if gap else None,
                overlap=DstOverlap(overlap) if overlap else None,
                seconds=Seconds(seconds) if seconds else _usual_seconds(expression),
                days=DayMatch(days) if days else DayMatch.EITHER,
            )
    raise ValueError(f"not a rule: {written!r}")


def _first(rest: Sequence[Any]) -> Any:
    return rest[0] if rest else None
