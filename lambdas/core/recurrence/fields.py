"""One field of a cron expression: what it may hold, and in words what is wrong with it."""

import re
from collections.abc import Mapping

from lambdas.core.values import value

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")

_RANDOM = re.compile(r"[hr](\(.*\))?(/\d+)?")
_LAST_WEEKDAY = re.compile(r"l(\d+)")
NEAREST = re.compile(r"(\d+)w|w(\d+)")


@value(frozen=True, kw_only=True, slots=True)
class Field:
    name: str
    low: int
    high: int
    names: Mapping[str, int]
    circular: bool = False


MINUTE = Field(name="minute", low=0, high=59, names={})
HOUR = Field(name="hour", low=0, high=23, names={})
DAY = Field(name="day of the month", low=1, high=31, names={})
MONTH = Field(
    name="month", low=1, high=12, names={n: i + 1 for i, n in enumerate(MONTHS)}, circular=True
)
WEEKDAY = Field(
    name="weekday", low=0, high=7, names={n: i for i, n in enumerate(WEEKDAYS)}, circular=True
)
SECOND = Field(name="second", low=0, high=59, names={})
FIELDS = (MINUTE, HOUR, DAY, MONTH, WEEKDAY, SECOND)


class Wrong(Exception):
    """The reason alone: which field it is and where it stands is known further out."""


def check_field(field: Field, text: str) -> None:
    if _RANDOM.fullmatch(text):
        raise Wrong(f"{text.upper()} stands for a random value; give the value itself")
    if text == "?" and field in (DAY, WEEKDAY):
        return
    entries = text.split(",")
    for entry in entries:
        _check_entry(field, entry)
    if field is DAY and len(entries) > 1 and any(map(NEAREST.fullmatch, entries)):
        raise Wrong("W stands alone, not in a list")
    if field is WEEKDAY and len({_nth(entry) for entry in entries}) > 1:
        raise Wrong("an nth weekday (# or L) cannot stand in a list with plain weekdays")


def _nth(entry: str) -> bool:
    return "#" in entry or entry.startswith("l")


def _check_entry(field: Field, entry: str) -> None:
    if not entry:
        raise Wrong("an entry of the list is empty")
    if _special(field, entry):
        return
    span, slash, step = entry.partition("/")
    if slash:
        _check_step(step)
    if span != "*":
        _check_span(field, span, step)


def _special(field: Field, entry: str) -> bool:
    """L, W and #; True if the entry is one of them and is well said."""
    if field is DAY:
        return entry == "l" or _nearest(field, entry)
    return field is WEEKDAY and (_nth_weekday(field, entry) or _last_weekday(field, entry))


def _nearest(field: Field, entry: str) -> bool:
    found = NEAREST.fullmatch(entry)
    if found:
        _value(field, found[1] or found[2])
    return found is not None


def _nth_weekday(field: Field, entry: str) -> bool:
    days, hash_mark, nth = entry.partition("#")
    if not hash_mark:
        return False
    if nth not in tuple("12345"):
        raise Wrong(f"{nth or 'nothing'} after # is not from 1 to 5")
    if "-" in days and any(map(str.isdigit, days)):
        raise Wrong(f"{entry}: before # stands one weekday, or a range of names")
    _check_span(field, days, "")
    return True


def _last_weekday(field: Field, entry: str) -> bool:
    turned = re.fullmatch(r"(\w+)l", entry)
    if turned and (turned[1].isdigit() or turned[1] in field.names):
        day = field.names.get(turned[1], turned[1])
        raise Wrong(f"{entry.upper()}: the last such weekday of a month is written L{day}")
    found = _LAST_WEEKDAY.fullmatch(entry)
    if found:
        _value(field, found[1])
    return found is not None


def _check_step(step: str) -> None:
    if not (step.isascii() and step.isdigit()):
        raise Wrong(f"the step {step!r} is not a number" if step else "no step follows the /")
    if int(step) == 0:
        raise Wrong("a step of 0 gets nowhere")


def _check_span(field: Field, span: str, step: str) -> None:
    start, dash, end = span.partition("-")
    low = _value(field, start)
    if not dash:
        if step and low >= _top(field):
            raise Wrong(f"{span}/{step}: nothing is left to step to; write {span}")
        return
    high = _top(field) if field is DAY and end == "l" else _value(field, end)
    _check_range(field, span, low, high, step)


def _check_range(field: Field, span: str, low: int, high: int, step: str) -> None:
    if field is WEEKDAY and low == 7:
        low = 0
    if low == high:
        raise Wrong(f"{span} is a range of one; write {span.partition('-')[0]}")
    if low > high and not field.circular:
        start, _, end = span.partition("-")
        instead = f"{start}-{field.high},{field.low}-{end}"
        raise Wrong(f"{span} runs backwards; if it is to go round, write {instead}")
    if low > high and step:
        raise Wrong(f"{span} goes round, and so takes no step; list the {field.name}s instead")


def _value(field: Field, text: str) -> int:
    if text in field.names:
        return field.names[text]
    if not text:
        raise Wrong("a value is missing")
    if not (text.isascii() and text.isdigit()):
        raise Wrong(_unknown(field, text))
    if not field.low <= int(text) <= field.high:
        raise Wrong(f"{int(text)} is not from {field.low} to {field.high}")
    return int(text)


def _unknown(field: Field, text: str) -> str:
    if not field.names:
        return f"{text!r} is not a number from {field.low} to {field.high}"
    return f"{text!r} is neither a number from {field.low} to {field.high} nor one of " + ", ".join(
        field.names
    )


def _top(field: Field) -> int:
    return 6 if field is WEEKDAY else field.high
