"""Suggestions for expressions that other crons accept and this one does not."""

import re
from collections.abc import Iterable, Sequence

from duetime.core.recurrence.cron_fields import WEEKDAYS, tokens
from duetime.core.recurrence.rules import BadRule, CronRule, Recurrence, Seconds

BOUNDS = "bound the schedule with starts_at and ends_at"

_YEAR = re.compile(r"(?:19[7-9]|20[0-9]|21[0-9])[0-9](?:[-,/].*)?")
_WEEKDAY_NUMBER = re.compile(r"(?<![#/0-9])[0-7]")
_EVERY = re.compile(r"@every (.+)")
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|h|m|s))+")
_LENGTH = re.compile(r"([0-9.]+)(ms|h|m|s)")
_UNITS = {"h": 3_600, "m": 60, "s": 1, "ms": 0.001}


def for_six_fields(expression: str, start: int) -> BadRule:
    """Returns an error with both readings described, or what to write for a year."""
    *five, (last, position) = tokens(expression, start)
    if _YEAR.fullmatch(last):
        instead = _with_year([token for token, _ in five], last)
        reason = f"the sixth field is a year; {_or_bounds(instead)}"
        return BadRule("expression", reason, position=position)
    readings = [f"with seconds {order}: {_in_words(expression, order)}" for order in Seconds]
    reason = "; ".join(["is required with six fields", *readings])
    return BadRule("seconds", reason + _as_eventbridge(expression[start:].strip()))


def for_seven_fields(expression: str, start: int) -> BadRule:
    found = tokens(expression, start)
    words = [token for token, _ in found]
    instead = None
    if words[0] == "0":  # Quartz: the seconds first
        instead = _valid(f"cron({' '.join(words[1:]).upper()})")
    if words[5] == "0" and instead is None:  # croniter: the seconds before the year
        instead = _with_year(words[:5], words[6])
    reason = f"has seven fields; {_or_bounds(instead)}"
    return BadRule("expression", reason, position=found[6][1])


def for_alias(text: str, aliases: Iterable[str]) -> str:
    if text == "@reboot":
        return "@reboot names no time; to run something once, submit a task: duetime submit"
    if text.startswith("@every"):
        return f"@every is not cron; write a rule of type rate: {_rate(text)}"
    return f"{text} is not one of {', '.join(aliases)}"


def _in_words(expression: str, seconds: Seconds | None = None) -> str:
    from duetime.core.recurrence.describe import describe

    rule = CronRule(expression=expression, seconds=seconds)
    try:
        return describe(Recurrence(rules=(rule,)))
    except BadRule as bad:
        return f"not valid ({bad.reason})"


def _as_eventbridge(expression: str) -> str:
    """Adds EventBridge's reading, since its six fields are often pasted without cron( )."""
    wrapped = _valid(f"cron({expression})")
    return f"; as EventBridge's {wrapped}: {_in_words(wrapped)}" if wrapped else ""


def _with_year(five: Sequence[str], year: str) -> str | None:
    """Returns the expression in EventBridge's form, None if it has none."""
    minute, hour, day, month, weekday = five
    if weekday in ("*", "?"):
        days = (day, month, "?")
    elif day in ("*", "?"):
        days = ("?", month, _WEEKDAY_NUMBER.sub(_weekday_name, weekday))
    else:
        return None
    return _valid(f"cron({' '.join([minute, hour, *days, year]).upper()})")


def _weekday_name(number: re.Match[str]) -> str:
    return WEEKDAYS[int(number[0]) % 7][:3]


def _valid(expression: str) -> str | None:
    from duetime.core.recurrence.cron_syntax import parse

    try:
        parse(expression.lower())
    except BadRule:
        return None
    return expression


def _or_bounds(instead: str | None) -> str:
    if instead is None:
        return f"only EventBridge's cron(…) has a year; instead, {BOUNDS}"
    return f"write {instead}, or {BOUNDS}"


def _rate(text: str) -> str:
    found = _EVERY.fullmatch(text)
    if not found or not _DURATION.fullmatch(found[1]):
        return '{"type": "rate", "every": 300}, or --every 5m'
    lengths = _LENGTH.findall(found[1])
    seconds = sum(float(count) * _UNITS[unit] for count, unit in lengths)
    typed = f"{seconds:.15g}s" if "ms" in found[1] else found[1]
    return f'{{"type": "rate", "every": {seconds:.15g}}}, or --every {typed}'
