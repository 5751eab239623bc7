"""The matching days of a month.

There are only 28 kinds of month (by length and first weekday), and the days that an expression
matches, with `L`, `W` and `#` too, depend only on the kind. So the days of each kind are computed
once, as bits, and a search takes one step per month, not per day.
"""

from datetime import date

LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Days:
    """The matching days for each kind of month, as bits: bit 1 is the first day."""

    __slots__ = ("_kinds", "both", "last", "nearest", "nth", "numbers", "weekdays")

    def __init__(
        self,
        *,
        numbers: frozenset[int],
        last: frozenset[int],  # days before the last of the month
        nearest: frozenset[int],  # the weekdays nearest to these days
        weekdays: frozenset[int],
        nth: frozenset[tuple[int, int]],  # (weekday, which); which is 0 for the last
        both: bool,
    ) -> None:
        self.numbers = numbers
        self.last = last
        self.nearest = nearest
        self.weekdays = weekdays
        self.nth = nth
        self.both = both
        self._kinds = [[-1] * 7, [-1] * 7, [-1] * 7, [-1] * 7]

    def in_month(self, year: int, month: int) -> int:
        first = date(year, month, 1).isoweekday() % 7
        return self.kind(first, length(year, month))

    def ever_in(self, month: int) -> bool:
        """Whether this month has a matching day in any year; every kind of it occurs."""
        lengths = (28, 29) if month == 2 else (LENGTHS[month - 1],)
        return any(self.kind(first, length) for length in lengths for first in range(7))

    def kind(self, first: int, length: int) -> int:
        """Returns the days of a kind of month: its first weekday (Sunday is 0) and its length."""
        known = self._kinds[length - 28]
        if known[first] < 0:
            known[first] = sum(
                1 << day for day in range(1, length + 1) if self._on(day, first, length)
            )
        return known[first]

    def _on(self, day: int, first: int, length: int) -> bool:
        by_number = self._by_number(day, first, length)
        by_weekday = self._by_weekday(day, first, length)
        return by_number and by_weekday if self.both else by_number or by_weekday

    def _by_number(self, day: int, first: int, length: int) -> bool:
        return (
            day in self.numbers
            or length - day in self.last
            or any(day == _nearest_weekday(near, first, length) for near in self.nearest)
        )

    def _by_weekday(self, day: int, first: int, length: int) -> bool:
        weekday = (first + day - 1) % 7
        return (
            weekday in self.weekdays
            or (weekday, (day + 6) // 7) in self.nth
            or ((weekday, 0) in self.nth and day + 7 > length)
        )


def _nearest_weekday(day: int, first: int, length: int) -> int:
    """Returns the Monday to Friday nearest to a day, within the month."""
    day = min(day, length)
    match (first + day - 1) % 7:
        case 6:
            return day - 1 if day > 1 else day + 2
        case 0:
            return day + 1 if day < length else day - 2
    return day


def length(year: int, month: int) -> int:
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return LENGTHS[month - 1] + leap
