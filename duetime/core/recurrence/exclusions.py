"""Exclusions: the instants that an exclusion matches by the local clock."""

from datetime import date
from functools import lru_cache

from duetime.core.recurrence.cron_pattern import DAY_LONG, EPOCH, Pattern, matching
from duetime.core.recurrence.cron_syntax import check_zone, parse
from duetime.core.recurrence.rules import (
    BadRule,
    CronRule,
    DayMatch,
    ExcludedDates,
    Exclusion,
    Seconds,
)
from duetime.core.recurrence.timezones import load, stretch
from duetime.core.times import SECOND, Millis


class WholeDays:
    """A set of local days."""

    __slots__ = ("_days",)

    def __init__(self, days: frozenset[int]) -> None:
        self._days = days

    def first_other(self, at: int, end: int) -> int:
        """Returns the first local time at or after this one that is on none of the days."""
        day = at // DAY_LONG
        if day not in self._days:
            return at
        while day in self._days and day * DAY_LONG < end:
            day += 1
        return day * DAY_LONG


class CompiledExclusion:
    """An exclusion, ready for the search."""

    __slots__ = ("_times", "_zone")

    def __init__(self, times: Pattern | WholeDays, zone: str) -> None:
        self._times = times
        self._zone = zone

    def until(self, at: Millis) -> Millis:
        """Returns `at` if it is not excluded, else a later instant up to which everything is."""
        second = at // SECOND
        now = stretch(self._zone, second)
        other = self._times.first_other(second + now.offset, now.end + now.offset) - now.offset
        return at if other == second else min(other, now.end) * SECOND


def compile_exclusion(exclusion: Exclusion) -> CompiledExclusion:
    match exclusion:
        case CronRule(gap=None, overlap=None):
            return _cron(
                exclusion.expression, exclusion.timezone, exclusion.seconds, exclusion.days
            )
        case CronRule():
            raise BadRule("dst", "an exclusion follows the local clock and takes no dst")
        case ExcludedDates(dates=dates, timezone=timezone):
            return _dates(dates, timezone)


@lru_cache(maxsize=1_024)
def _cron(expression: str, zone: str, seconds: Seconds | None, days: DayMatch) -> CompiledExclusion:
    pattern = matching(expression, seconds, days)
    check_zone(parse(expression, seconds), zone)
    load(zone)
    return CompiledExclusion(pattern, zone)


@lru_cache(maxsize=1_024)
def _dates(dates: tuple[str, ...], zone: str) -> CompiledExclusion:
    if not dates:
        raise BadRule("dates", "no date is given")
    days = frozenset(_day(text) for text in dates)
    load(zone)
    return CompiledExclusion(WholeDays(days), zone)


def _day(text: str) -> int:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:
        raise BadRule("dates", f"{text!r} is not a date like 2026-12-25")
    return day.toordinal() - EPOCH
