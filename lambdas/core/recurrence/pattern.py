"""The local times that an expression names, sought on the calendar.

A local time is a whole number of seconds since 1970 on the clock on the wall.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Any

from lambdas.core.recurrence.days import Days, length
from lambdas.core.recurrence.fields import NEAREST
from lambdas.core.recurrence.language import fields_of, position_of
from lambdas.core.recurrence.rules import BadRule
from lambdas.core.values import value

DAY_LONG = 86_400
EPOCH = date(1970, 1, 1).toordinal()
LAST_YEAR = 9_998  # the calendar of datetime ends soon after
# 29 February falls on a given weekday every 28 years, but 40 years pass around 2100.
YEARS_AHEAD = 41

_LAST_DAY = date.max.toordinal()
_EVERY_SECOND = tuple(range(60))
_ALL_DAYS = {length: (1 << length + 1) - 2 for length in (28, 29, 30, 31)}


@value(frozen=True, kw_only=True, slots=True)
class Pattern:
    seconds: tuple[int, ...]  # of the minute
    minutes: tuple[int, ...]  # of the day
    other_seconds: tuple[int, ...]  # those it does not name
    other_minutes: tuple[int, ...]  # likewise
    months: frozenset[int]
    days: Days

    def first(self, at: int) -> int | None:
        """The first local time at or after this one."""
        day, second = divmod(at, DAY_LONG)
        if self.on(day):
            found = self._in_day(second)
            if found is not None:
                return day * DAY_LONG + found
        next_day = self._day_after(day, 12 * YEARS_AHEAD)
        return None if next_day is None else next_day * DAY_LONG + self._earliest

    def matches(self, at: int) -> bool:
        day, second = divmod(at, DAY_LONG)
        return self._in_day(second) == second and self.on(day)

    def first_other(self, at: int, end: int) -> int:
        """The first local time at or after this one that is not named; or the end, or later."""
        while at < end and self.matches(at):
            at = self._further(at, end)
        return at

    def on(self, day: int) -> bool:
        if not 0 < day + EPOCH <= _LAST_DAY:
            return False
        when = date.fromordinal(day + EPOCH)
        return when.month in self.months and bool(
            self.days.in_month(when.year, when.month) >> when.day & 1
        )

    @property
    def never(self) -> bool:
        """Whether no month of any year has such a day."""
        return not any(map(self.days.ever_in, self.months))

    @property
    def _earliest(self) -> int:
        return self.minutes[0] * 60 + self.seconds[0]

    def _in_day(self, second: int) -> int | None:
        """The first second of the day at or after this one."""
        minute, second = divmod(second, 60)
        place = bisect_left(self.minutes, minute)
        if place < len(self.minutes) and self.minutes[place] == minute:
            found = bisect_left(self.seconds, second)
            if found < len(self.seconds):
                return minute * 60 + self.seconds[found]
            place += 1
        return self.minutes[place] * 60 + self.seconds[0] if place < len(self.minutes) else None

    def _further(self, at: int, end: int) -> int:
        """To the next second, minute or day, with nothing passed over that is not named."""
        if self.other_seconds:
            minute, second = divmod(at, 60)
            place = bisect_left(self.other_seconds, second)
            rest = self.other_seconds[place] if place < len(self.other_seconds) else 60
            return minute * 60 + rest
        day, second = divmod(at, DAY_LONG)
        place = bisect_left(self.other_minutes, second // 60)
        if place < len(self.other_minutes):
            return day * DAY_LONG + self.other_minutes[place] * 60
        if self.other_minutes:
            return (day + 1) * DAY_LONG
        months = (end - at) // (28 * DAY_LONG) + 2
        other_day = self._day_after(day, months, on=False)
        return end if other_day is None else other_day * DAY_LONG

    def _day_after(self, day: int, months: int, *, on: bool = True) -> int | None:
        """The next day that is named, or the next that is not, within so many months."""
        when = date.fromordinal(min(max(day + EPOCH, 1), _LAST_DAY))
        year, month, passed = when.year, when.month, when.day
        for _ in range(months):
            named = self.days.in_month(year, month) if month in self.months else 0
            left = (named if on else _ALL_DAYS[length(year, month)] & ~named) >> passed + 1
            if left:
                number = passed + (left & -left).bit_length()
                return date(year, month, number).toordinal() - EPOCH
            year, month, passed = (year, month + 1, 0) if month < 12 else (year + 1, 1, 0)
            if year > LAST_YEAR:
                return None
        return None


@lru_cache(maxsize=1_024)
def firing(expression: str) -> Pattern:
    """The local times at which it fires: without a field for seconds, at second 0."""
    pattern = _pattern(expression, (0,))
    if pattern.never:
        reason = "never fires: no month that it names has such a day"
        raise BadRule("expression", reason, position=position_of(expression, 2))
    return pattern


@lru_cache(maxsize=1_024)
def matching(expression: str) -> Pattern:
    """The local times it matches: without a field for seconds, the whole minute."""
    return _pattern(expression, _EVERY_SECOND)


def _pattern(expression: str, seconds: tuple[int, ...]) -> Pattern:
    from croniter import croniter

    fields = fields_of(expression)
    # The seconds go through the minute's door: with six fields croniter takes 7 for no weekday
    # and 0 for the first day of a month.
    (minute, hour, day, month, weekday), nth = croniter.expand(" ".join(fields[:5]))
    if len(fields) == 6:
        seconds = _all_or(croniter.expand(f"{fields[5]} * * * *")[0][0], 0, 59)
    named = {60 * h + m for h in _all_or(hour, 0, 23) for m in _all_or(minute, 0, 59)}
    return Pattern(
        seconds=seconds,
        minutes=tuple(sorted(named)),
        other_seconds=tuple(s for s in _EVERY_SECOND if s not in seconds),
        other_minutes=tuple(m for m in range(1_440) if m not in named),
        months=frozenset(_all_or(month, 1, 12)),
        days=_days(fields[2], day, weekday, nth),
    )


def _days(
    text: str, day: Sequence[Any], weekday: Sequence[Any], nth: Mapping[Any, set[Any]]
) -> Days:
    nearest = NEAREST.fullmatch(text)
    return Days(
        numbers=frozenset(_all_or(day, 1, 31)),
        last="l" in day,
        nearest=int(nearest[1] or nearest[2]) if nearest else None,
        weekdays=frozenset(_all_or(weekday, 0, 6)),
        nth=frozenset((d, 0 if n == "l" else int(n)) for d, which in nth.items() for n in which),
        # Where one of the two says nothing, the other decides; where both do, either will do.
        both="*" in day or "*" in weekday,
    )


def _all_or(expanded: Sequence[Any], low: int, high: int) -> tuple[int, ...]:
    """croniter writes "*" for all, and "l" for a last day, which is no number."""
    if "*" in expanded:
        return tuple(range(low, high + 1))
    return tuple(sorted(n for n in expanded if n != "l"))
