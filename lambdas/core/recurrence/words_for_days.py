"""The days that an expression names, in words."""

from lambdas.core.recurrence.days import Days
from lambdas.core.recurrence.pattern import Pattern
from lambdas.core.recurrence.words import in_runs, listed

WEEKDAYS = dict(
    enumerate(
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"], start=1
    )
)
MONTHS = dict(
    enumerate(
        [
            *("January", "February", "March", "April", "May", "June"),
            *("July", "August", "September", "October", "November", "December"),
        ],
        start=1,
    )
)
NTH = ("last", "first", "second", "third", "fourth", "fifth")


def days_in_words(pattern: Pattern, *, always: bool) -> str:
    """To be put behind the times of the day; `always`: something must be said of every day."""
    days = pattern.days
    months = in_runs(sorted(pattern.months), MONTHS) if len(pattern.months) < 12 else None
    any_number = len(days.numbers) == 31 and days.nearest is None
    any_weekday = len(days.weekdays) == 7 and not days.nth
    if (any_number and any_weekday) or ((any_number or any_weekday) and not days.both):
        return (" every day" if always else "") + (f" in {months}" if months else "")
    if any_number:
        return _by_weekday(days, months)
    number = f" on {_by_number(days)} of {months or 'the month'}"
    return number if any_weekday else f"{number}, and also{_by_weekday(days, months, also=True)}"


def _by_number(days: Days) -> str:
    if days.nearest is not None:
        return f"the weekday nearest to day {days.nearest}"
    numbers = sorted(days.numbers)
    told = [f"day{'s' * (len(numbers) > 1)} {in_runs(numbers)}"] if numbers else []
    return listed([*told, "the last day"]) if days.last else told[0]


def _by_weekday(days: Days, months: str | None, *, also: bool = False) -> str:
    if days.nth:
        ordered = sorted(days.nth, key=lambda nth: (nth[1] or 6, nth[0] or 7))
        told = listed([f"the {NTH[which]} {WEEKDAYS[day or 7]}" for day, which in ordered])
        return f" on {told} of {months or 'the month'}"
    weekdays = sorted(day or 7 for day in days.weekdays)
    told = in_runs(weekdays, WEEKDAYS)
    run = " to " in told and "and" not in told and not also
    return (", " if run else " on ") + told + (f" in {months}" if months else "")
