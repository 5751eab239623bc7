"""The local times that an expression names, sought on the calendar.

A local time is a whole number of seconds since 1970 on the clock on the wall.
"""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Any

from lambdas.core.recurrence.days import Days, length
from lambdas.core.recurrence.entries import expand, plain
from lambdas.core.recurrence.language import Parsed, Part, parse
from lambdas.core.recurrence.rules import BadRule, DayMatch, Seconds
from lambdas.core.recurrence.special_days import (
    LastDay,
    NearestWeekday,
    NthWeekday,
    Special,
    special,
)
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
    years: frozenset[int] | None = None  # None: every year

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
        return bool(self._in_month(when.year, when.month) >> when.day & 1)

    @property
    def never(self) -> bool:
        """Whether no month of the years that it names has such a day."""
        if self.years is None:
            return not any(map(self.days.ever_in, self.months))
        return not any(self._in_month(year, month) for year in self.years for month in self.months)

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

    def _in_month(self, year: int, month: int) -> int:
        """The days that it names in a month, as bits."""
        if month not in self.months or (self.years is not None and year not in self.years):
            return 0
        return self.days.in_month(year, month)

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
    """The local times at which it fires: without a field for seconds, at second 0."""
    parsed = parse(expression, seconds)
    pattern = _pattern(parsed, days, (0,))
    if pattern.never:
        reason = "never fires: no month that it names has such a day"
        raise BadRule("expression", reason, position=parsed.day.position)
    return pattern


@lru_cache(maxsize=1_024)
def matching(
    expression: str, seconds: Seconds | None = None, days: DayMatch = DayMatch.EITHER
) -> Pattern:
    """The local times it matches: without a field for seconds, the whole minute."""
    return _pattern(parse(expression, seconds), days, _EVERY_SECOND)


def _pattern(parsed: Parsed, match: DayMatch, seconds: tuple[int, ...]) -> Pattern:
    """croniter expands the plain entries; special days and years are read here."""
    from croniter import croniter

    five = (parsed.minute, parsed.hour, parsed.day, parsed.month, parsed.weekday)
    texts = [plain(part.field, part.text) for part in five]
    # A field of special entries alone gets any number, which is not used.
    (minute, hour, day, month, weekday), _ = croniter.expand(" ".join(t or "1" for t in texts))
    if parsed.second:
        # The seconds go through the minute's door: with six fields croniter takes 7 for no
        # weekday and 0 for the first day of a month.
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
    said = [*_specials(parsed.day), *_specials(parsed.weekday)]
    open_day = _says_nothing(parsed.day, len(numbers) == 31, parsed.weekday)
    open_weekday = _says_nothing(parsed.weekday, len(weekdays) == 7, parsed.day)
    return Days(
        numbers=numbers,
        last=frozenset(s.before for s in said if isinstance(s, LastDay)),
        nearest=frozenset(s.day for s in said if isinstance(s, NearestWeekday)),
        weekdays=weekdays,
        nth=frozenset((s.weekday, s.nth) for s in said if isinstance(s, NthWeekday)),
        # Where one of the two says nothing, the other decides; where both do, either will do,
        # unless the rule wants both.
        both=open_day or open_weekday or match is DayMatch.BOTH,
    )


def _specials(part: Part) -> list[Special]:
    return [said for entry in part.text.split(",") for said in special(part.field, entry)]


def _says_nothing(part: Part, all_named: bool, other: Part) -> bool:
    """croniter's rule: `*` and `?` do, and a field that names every day if the other has a star."""
    entries = part.text.split(",")
    return "*" in entries or "?" in entries or (all_named and "*" in other.text)


def _all_or(expanded: Sequence[Any], low: int, high: int) -> tuple[int, ...]:
    """croniter writes "*" for all."""
    return tuple(range(low, high + 1)) if "*" in expanded else tuple(sorted(expanded))
