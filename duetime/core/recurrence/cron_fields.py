"""The fields of a cron expression, with their numbers, names and ranges."""

import re
from collections.abc import Mapping
from typing import Literal

from duetime.core.value import value

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")

Kind = Literal["number", "day", "weekday"]


@value(frozen=True, kw_only=True, slots=True)
class Field:
    name: str
    low: int
    high: int
    names: Mapping[str, int]
    kind: Kind = "number"
    circular: bool = False  # whether a range may wrap around: fri-mon
    loose: bool = False  # whether a range of one, and a step in one that wraps, are allowed

    @property
    def size(self) -> int:
        """The number of different values: 0 and 7 are the same weekday."""
        return 7 if self.kind == "weekday" else self.high - self.low + 1

    @property
    def top(self) -> int:
        """The highest value that a step can reach."""
        return self.low + self.size - 1


def named(words: tuple[str, ...], first: int) -> dict[str, int]:
    """Returns the number of each word, by its first three letters and in full."""
    numbered = list(enumerate(words, first))
    return {word[:3]: n for n, word in numbered} | {word: n for n, word in numbered}


SECOND = Field(name="second", low=0, high=59, names={})
MINUTE = Field(name="minute", low=0, high=59, names={})
HOUR = Field(name="hour", low=0, high=23, names={})
DAY = Field(name="day of the month", low=1, high=31, names={}, kind="day")
MONTH = Field(name="month", low=1, high=12, names=named(MONTHS, 1), circular=True)
WEEKDAY = Field(
    name="weekday", low=0, high=7, names=named(WEEKDAYS, 0), kind="weekday", circular=True
)


class Wrong(Exception):
    """An invalid field. It has only the reason; the caller adds the field and its position."""


def number(field: Field, text: str) -> int:
    if text in field.names:
        return field.names[text]
    if not text:
        raise Wrong("a value is missing")
    if not (text.isascii() and text.isdigit()):
        raise Wrong(_unknown(field, text))
    if not field.low <= int(text) <= field.high:
        raise Wrong(f"{int(text)} is not from {field.low} to {field.high}")
    return int(text)


def end_of_range(field: Field, text: str) -> int:
    """Returns the end of a range; 20-L ends with the last day of the month."""
    return field.top if field.kind == "day" and text == "l" else number(field, text)


def values(field: Field, span: str, step: int = 1) -> list[int]:
    """Returns one value, or those of a range; a range that runs backwards wraps around."""
    start, dash, end = span.partition("-")
    low = number(field, start)
    high = end_of_range(field, end) if dash else low
    if high < low:
        high += field.size
    return [field.low + (n - field.low) % field.size for n in range(low, high + 1, step)]


def check_span(field: Field, span: str, step: str = "") -> None:
    start, dash, end = span.partition("-")
    low = number(field, start)
    if dash:
        _check_range(field, span, low, end_of_range(field, end), step)
    elif step and low >= field.top:
        raise Wrong(f"{span}/{step}: there is no next value; write {span}")


def _check_range(field: Field, span: str, low: int, high: int, step: str) -> None:
    start, _, end = span.partition("-")
    if field is WEEKDAY and low == 7 and high < 7:
        low = 0
    if low == high and not field.loose:
        raise Wrong(f"{span} is a range of one; write {start}")
    if low > high and not field.circular:
        instead = f"{start}-{field.high},{field.low}-{end}"
        raise Wrong(f"{span} runs backwards; to wrap around, write {instead}")
    if low > high and step and not field.loose:
        raise Wrong(f"{span} wraps around, and so takes no step; list the {field.name}s instead")


def _unknown(field: Field, text: str) -> str:
    if field is WEEKDAY and text == "l":
        return "L alone names no weekday; write FRIL for the last Friday of the month"
    if not field.names:
        return f"{text!r} is not a number from {field.low} to {field.high}"
    short = ", ".join(name for name in field.names if len(name) == 3)
    return f"{text!r} is neither a number from {field.low} to {field.high} nor one of {short}"


_TOKEN = re.compile(r"\S+")

Token = tuple[str, int]  # in lower case, and its position in the expression from 1


def tokens(expression: str, start: int = 0, end: int | None = None) -> list[Token]:
    found = _TOKEN.finditer(expression, start, len(expression) if end is None else end)
    return [(token[0].lower(), token.start() + 1) for token in found]
