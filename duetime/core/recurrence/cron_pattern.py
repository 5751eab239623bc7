"""The local times of a cron expression, searched on the calendar.

A local time is a whole number of seconds since 1970 on the local clock.
"""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Any

from duetime.core.recurrence.cron_entries import expand, plain
from duetime.core.recurrence.cron_syntax import Parsed, Part, parse
from duetime.core.recurrence.month_days import Days, length
from duetime.core.recurrence.rules import BadRule, DayMatch, Seconds
from duetime.core.recurrence.special_days import (
    LastDay,
    NearestWeekday,
    NthWeekday,
    Special,
    special,
)
from duetime.core.value import value

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
    other_seconds: tuple[int, ...]  # that do not match
    other_minutes: tuple[int, ...]  # that do not match
    months: frozenset[int]
    days: Days
    years: frozenset[int] | None = None  # None: every year

    def first(self, at: int) -> int | None:
        """Returns the first match at or after this local time."""
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
        """Returns the first local time from this one on without a match; else `end` or later."""
        while at < end and self.matches(at):
            at = self._further(at, end)
        return at

    def on(self, day: int) -> bool:
        if not 0 < day + EPOCH <= _LAST_DAY:
            return False
        when = date.fromordinal(day + EPOCH)
        return bool(self._in_month(when.year, when.month) >> when.day & 1)

    @property
    def never(self) -> bool:
        """Whether no month of its years has a matching day."""
        if self.years is None:
            return not any(map(self.days.ever_in, self.months))
        return not any(self._in_month(year, month) for year in self.years for month in self.months)

    @property
    def _earliest(self) -> int:
        return self.minutes[0] * 60 + self.seconds[0]

    def _in_day(self, second: int) -> int | None:
        """Returns the first match in a day at or after this second of it."""
        minute, second = divmod(second, 60)
        place = bisect_left(self.minutes, minute)
        if place < len(self.minutes) and self.minutes[place] == minute:
            found = bisect_left(self.seconds, second)
            if found < len(self.seconds):
                return minute * 60 + self.seconds[found]
            place += 1
        return self.minutes[place] * 60 + self.seconds[0] if place < len(self.minutes) else None

    def _in_month(self, year: int, month: int) -> int:
        """Returns the matching days of a month, as bits."""
        if month not in self.months or (self.years is not None and year not in self.years):
            return 0
        return self.days.in_month(year, month)

    def _further(self, at: int, end: int) -> int:
        """Moves to a later second, minute or day, past nothing but matches."""
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
        """Returns the next day that matches, or does not, within so many months."""
        when = date.fromordinal(min(max(day + EPOCH, 1), _LAST_DAY))
        year, month, passed = when.year, when.month, when.day
        for _ in range(months):
            named = self._in_month(year, month)
            left = (named if on else _ALL_DAYS[length(year, month)] & ~named) >> passed + 1
            if left:
                number = passed + (left & -left).bit_length()
                return date(year, month, number).toordinal() - EPOCH
            year, month, passed = (year, month + 1, 0) if month < 12 else (year + 1, 1, 0)
            if year > LAST_YEAR:
                return None
        return None


@lru_cache(maxsize=1_024)
def firing(
    expression: str, seconds: Seconds | None = None, days: DayMatch = DayMatch.EITHER
) -> Pattern:
    """Returns the local times at which an expression fires; without seconds, at second 0."""
    parsed = parse(expression, seconds)
    pattern = _pattern(parsed, days, (0,))
    if pattern.never:
        reason = "never fires: none of its months has such a day"
        raise BadRule("expression", reason, position=parsed.day.position)
    return pattern


@lru_cache(maxsize=1_024)
def matching(
    expression: str, seconds: Seconds | None = None, days: DayMatch = DayMatch.EITHER
) -> Pattern:
    """Returns the local times that an expression matches; without seconds, whole minutes."""
    return _pattern(parse(expression, seconds), days, _EVERY_SECOND)


def _pattern(parsed: Parsed, match: DayMatch, seconds: tuple[int, ...]) -> Pattern:
    """croniter expands the plain entries; special days and years are expanded here."""
    from croniter import croniter

    five = (parsed.minute, parsed.hour, parsed.day, parsed.month, parsed.weekday)
    texts = [plain(part.field, part.text) for part in five]
    # A field of special entries alone gets any number, which is not used.
    (minute, hour, day, month, weekday), _ = croniter.expand(" ".join(t or "1" for t in texts))
    if parsed.second:
        # Seconds are expanded as minutes, since with six fields croniter rejects weekday 7 and
        # takes 0 for the first day of a month.
        second = plain(parsed.second.field, parsed.second.text)
        seconds = _all_or(croniter.expand(f"{second} * * * *")[0][0], 0, 59)
    named = {60 * h + m for h in _all_or(hour, 0, 23) for m in _all_or(minute, 0, 59)}
    return Pattern(
        seconds=seconds,
        minutes=tuple(sorted(named)),
        other_seconds=tuple(s for s in _EVERY_SECOND if s not in seconds),
        other_minutes=tuple(m for m in range(1_440) if m not in named),
        months=frozenset(_all_or(month, 1, 12)),
        days=_days(
            parsed,
            frozenset(_all_or(day, 1, 31) if texts[2] else ()),
            frozenset(_all_or(weekday, 0, 6) if texts[4] else ()),
            match,
        ),
        years=expand(parsed.year.field, parsed.year.text) if parsed.year else None,
    )


def _days(
    parsed: Parsed, numbers: frozenset[int], weekdays: frozenset[int], match: DayMatch
) -> Days:
    specials = [*_specials(parsed.day), *_specials(parsed.weekday)]
    any_day = _is_unrestricted(parsed.day, len(numbers) == 31, parsed.weekday)
    any_weekday = _is_unrestricted(parsed.weekday, len(weekdays) == 7, parsed.day)
    return Days(
        numbers=numbers,
        last=frozenset(s.before for s in specials if isinstance(s, LastDay)),
        nearest=frozenset(s.day for s in specials if isinstance(s, NearestWeekday)),
        weekdays=weekdays,
        nth=frozenset((s.weekday, s.nth) for s in specials if isinstance(s, NthWeekday)),
        # If one of the two is not restricted, the other decides. If both are restricted, either
        # is enough, unless the rule wants both.
        both=any_day or any_weekday or match is DayMatch.BOTH,
    )


def _specials(part: Part) -> list[Special]:
    return [found for entry in part.text.split(",") for found in special(part.field, entry)]


def _is_unrestricted(part: Part, all_named: bool, other: Part) -> bool:
    """croniter's rule: `*` and `?` restrict nothing, nor does a list of all days if the other field
    has a star."""
    entries = part.text.split(",")
    return "*" in entries or "?" in entries or (all_named and "*" in other.text)


def _all_or(expanded: Sequence[Any], low: int, high: int) -> tuple[int, ...]:
    """Returns the expanded values; croniter writes "*" for all."""
    return tuple(range(low, high + 1)) if "*" in expanded else tuple(sorted(expanded))
