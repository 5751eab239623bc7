"""Special entries of the two day fields: L, W and #."""

import re

from duetime.core.recurrence.cron_fields import Field, Wrong, check_span, number, values
from duetime.core.value import value

LONGEST_MONTH = 31
MAX_BEFORE_THE_LAST = 30  # the first day of a month of 31 days

_LAST_DAY = re.compile(r"l(?:-([0-9]+))?")
_NEAREST = re.compile(r"([0-9]+)w|w([0-9]+)")
_LAST_WEEKDAY = re.compile(r"l([0-9]+)|([0-9]+|[a-z]{2,})l")


@value(frozen=True, kw_only=True, slots=True)
class LastDay:
    """L, or L-3: so many days before the last day of the month."""

    before: int


@value(frozen=True, kw_only=True, slots=True)
class NearestWeekday:
    """15W: the Monday to Friday nearest to that day, within the month.

    In a shorter month the last day takes its place, so that 31W and LW are the same: the last
    Monday to Friday.
    """

    day: int


@value(frozen=True, kw_only=True, slots=True)
class NthWeekday:
    """MON#2, or FRIL with 0 for the last. Sunday is 0."""

    weekday: int
    nth: int


Special = LastDay | NearestWeekday | NthWeekday


def special(field: Field, entry: str) -> tuple[Special, ...]:
    """Returns what a special entry means; empty for a plain one, several for a range with #."""
    match field.kind:
        case "day":
            return _special_day(field, entry)
        case "weekday":
            return _special_weekday(field, entry)
    return ()


def _special_day(field: Field, entry: str) -> tuple[Special, ...]:
    if found := _LAST_DAY.fullmatch(entry):
        return (LastDay(before=_before_the_last(entry, found[1])),)
    if entry == "lw":
        return (NearestWeekday(day=LONGEST_MONTH),)
    if found := _NEAREST.fullmatch(entry):
        return (NearestWeekday(day=number(field, found[1] or found[2])),)
    return ()


def _before_the_last(entry: str, days: str | None) -> int:
    if days is None:
        return 0
    if not 1 <= int(days) <= MAX_BEFORE_THE_LAST:
        raise Wrong(f"{entry.upper()}: the number after L- is from 1 to {MAX_BEFORE_THE_LAST}")
    return int(days)


def _special_weekday(field: Field, entry: str) -> tuple[Special, ...]:
    days, mark, nth = entry.partition("#")
    if mark:
        if nth not in (*"12345", "l"):
            raise Wrong(f"{nth or 'nothing'} after # is neither from 1 to 5 nor L")
        check_span(field, days)
        return tuple(_nth(field, day, nth) for day in values(field, days))
    found = _LAST_WEEKDAY.fullmatch(entry)
    return (_nth(field, number(field, found[1] or found[2]), "l"),) if found else ()


def _nth(field: Field, day: int, nth: str) -> NthWeekday:
    return NthWeekday(weekday=(day - field.low) % 7, nth=0 if nth == "l" else int(nth))
