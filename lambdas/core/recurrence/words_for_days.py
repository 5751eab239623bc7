"""The days and years that an expression names, in words."""

from lambdas.core.recurrence import fields
from lambdas.core.recurrence.days import Days
from lambdas.core.recurrence.pattern import Pattern
from lambdas.core.recurrence.special_days import LONGEST_MONTH
from lambdas.core.recurrence.words import in_runs, listed

SUNDAY, *_OTHERS = (name.capitalize() for name in fields.WEEKDAYS)
WEEKDAYS = dict(enumerate([*_OTHERS, SUNDAY], start=1))
MONTHS = dict(enumerate((name.capitalize() for name in fields.MONTHS), start=1))
NTH = ("last", "first", "second", "third", "fourth", "fifth")


def days_in_words(pattern: Pattern, *, always: bool) -> str:
    """To be put behind the times of the day; `always`: something must be said of every day."""
    return _days(pattern, always=always) + _years(pattern.years)


def _days(pattern: Pattern, *, always: bool) -> str:
    days = pattern.days
    months = in_runs(sorted(pattern.months), MONTHS) if len(pattern.months) < 12 else None
    any_number, any_weekday = len(days.numbers) == 31, len(days.weekdays) == 7
    if (any_number and any_weekday) or ((any_number or any_weekday) and not days.both):
        return (" every day" if always else "") + (f" in {months}" if months else "")
    if any_number:
        return _by_weekday(days, months)
    number = f" on {_by_number(days)} of {months or 'the month'}"
    if any_weekday:
        return number
    link = ", but only" if days.both else ", and also"
    return f"{number}{link}{_by_weekday(days, months, linked=True)}"


def _by_number(days: Days) -> str:
    numbers = sorted(days.numbers)
    said = [f"day{'s' * (len(numbers) > 1)} {in_runs(numbers)}"] if numbers else []
    said += [_nearest(day) for day in sorted(days.nearest)]
    return listed(said + [_before_the_last(count) for count in sorted(days.last, reverse=True)])


def _nearest(day: int) -> str:
    if day == LONGEST_MONTH:
        return "the last weekday (Monday to Friday)"
    return f"the weekday nearest to day {day}"


def _before_the_last(count: int) -> str:
    match count:
        case 0:
            return "the last day"
        case 1:
            return "the day before the last day"
    return f"the day {count} days before the last day"


def _by_weekday(days: Days, months: str | None, *, linked: bool = False) -> str:
    """`linked`: behind the days of the month."""
    said = in_runs(sorted(day or 7 for day in days.weekdays), WEEKDAYS) if days.weekdays else ""
    run = " to " in said and "and" not in said and not linked and not days.nth
    weekdays = (", " if run else " on ") + said + (f" in {months}" if months else "")
    if not days.nth:
        return weekdays
    nth = f" on {_nth(days)} of {months or 'the month'}"
    return f"{weekdays} and{nth}" if days.weekdays else nth


def _nth(days: Days) -> str:
    ordered = sorted(days.nth, key=lambda nth: (nth[1] or 6, nth[0] or 7))
    return listed([f"the {NTH[which]} {WEEKDAYS[day or 7]}" for day, which in ordered])


def _years(years: frozenset[int] | None) -> str:
    if years is None:
        return ""
    ordered = sorted(years)
    step = ordered[1] - ordered[0] if len(ordered) > 3 else 1
    if step > 1 and ordered == list(range(ordered[0], ordered[-1] + 1, step)):
        return f", every {step} years from {ordered[0]} to {ordered[-1]}"
    return f", in {in_runs(ordered)}"
