"""What is left out: the instants that an exclusion matches by the clock on the wall."""

from datetime import date
from functools import lru_cache

from lambdas.core.recurrence.language import check_zone, parse
from lambdas.core.recurrence.pattern import DAY_LONG, EPOCH, Pattern, matching
from lambdas.core.recurrence.rules import (
    BadRule,
    CronRule,
    DayMatch,
    ExcludedDates,
    Exclusion,
    Seconds,
)
from lambdas.core.recurrence.zones import load, stretch
from lambdas.core.times import SECOND, Millis


class WholeDays:
    __slots__ = ("_days",)

    def __init__(self, days: frozenset[int]) -> None:
        self._days = days

    def first_other(self, at: int, end: int) -> int:
        """The first local time at or after this one that is not on one of the days."""
        day = at // DAY_LONG
        if day not in self._days:
            return at
        while day in self._days and day * DAY_LONG < end:
            day += 1
        return day * DAY_LONG


class LeftOut:
    """An exclusion made ready."""

    __slots__ = ("_times", "_zone")

    def __init__(self, times: Pattern | WholeDays, zone: str) -> None:
        self._times = times
        self._zone = zone

    def until(self, at: Millis) -> Millis:
        """`at` if it is not left out; else a later instant before which everything is."""
        second = at // SECOND
        now = stretch(self._zone, second)
        other = self._times.first_other(second + now.offset, now.end + now.offset) - now.offset
        return at if other == second else min(other, now.end) * SECOND


def left_out(exclusion: Exclusion) -> LeftOut:
    match exclusion:
        case CronRule(gap=None, overlap=None):
            return _cron(
                exclusion.expression, exclusion.timezone, exclusion.seconds, exclusion.days
            )
        case CronRule():
            raise BadRule("dst", "an exclusion goes by the clock on the wall and takes no dst")
        case ExcludedDates(dates=dates, timezone=timezone):
            return _dates(dates, timezone)


@lru_cache(maxsize=1_024)
def _cron(expression: str, zone: str, seconds: Seconds | None, days: DayMatch) -> LeftOut:
    pattern = matching(expression, seconds, days)
    check_zone(parse(expression, seconds), zone)
    load(zone)
    return LeftOut(pattern, zone)


@lru_cache(maxsize=1_024)
def _dates(dates: tuple[str, ...], zone: str) -> LeftOut:
    if not dates:
        raise BadRule("dates", "no date is given")
    days = frozenset(_day(text) for text in dates)
    load(zone)
    return LeftOut(WholeDays(days), zone)


def _day(text: str) -> int:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:
        raise BadRule("dates", f"{text!r} is not a date like 2026-12-25")
    return day.toordinal() - EPOCH
