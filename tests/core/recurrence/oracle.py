"""A slow oracle: it checks every minute (or second) of a span.

It uses nothing of the code under test but the zones' data. Local times come from datetime, and the
first or second pass of a repeated local time from its fold.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from tests.core.recurrence.strategies import MONTHS, WEEKDAYS

NAMES = {**{n: i + 1 for i, n in enumerate(MONTHS)}, **{n: i for i, n in enumerate(WEEKDAYS)}}


def number(text: str) -> int:
    return int(text) if text.isdigit() else NAMES[text[:3]]


def entry(text: str, low: int, high: int) -> Iterator[int]:
    """Expands an entry; a range that runs backwards wraps around."""
    span, _, step = text.partition("/")
    first, _, last = span.partition("-")
    if span == "*":
        first, last = str(low), str(high)
    elif not last:
        last = str(high) if step else first
    start, end = number(first), number(last)
    if end >= start:
        return iter(range(start, end + 1, int(step or 1)))
    size = high - low + 1
    return iter([low + (n - low) % size for n in range(start, end + size + 1, int(step or 1))])


def numbers(text: str, low: int, high: int) -> set[int]:
    return {n for part in text.split(",") for n in entry(part, low, high)}


def month_of(day: datetime) -> list[datetime]:
    length = monthrange(day.year, day.month)[1]
    return [day.replace(day=n) for n in range(1, length + 1)]


def nearest_weekday(target: int, day: datetime) -> int:
    weekdays = [d.day for d in month_of(day) if d.isoweekday() <= 5]
    wanted = min(target, month_of(day)[-1].day)
    return min(weekdays, key=lambda number: abs(number - wanted))


def is_one_of_the_days(part: str, day: datetime) -> bool:
    last = month_of(day)[-1].day
    if part == "l":
        return day.day == last
    if part == "lw":
        return day.day == max(d.day for d in month_of(day) if d.isoweekday() <= 5)
    if part.startswith("l-"):
        return day.day == last - int(part[2:])
    if "w" in part:
        return day.day == nearest_weekday(int(part.replace("w", "")), day)
    return day.day in entry(part.replace("-l", "-31"), 1, 31)


def by_number(text: str, day: datetime) -> bool:
    return any(is_one_of_the_days(part, day) for part in text.split(","))


def is_one_of_the_weekdays(part: str, day: datetime) -> bool:
    weekday = day.isoweekday() % 7
    same = [d.day for d in month_of(day) if d.isoweekday() % 7 == weekday]
    named, _, nth = part.partition("#")
    if nth:
        place = same[-1] if nth == "l" else same[int(nth) - 1] if int(nth) <= len(same) else None
        return day.day == place and weekday in {n % 7 for n in entry(named, 0, 6)}
    if part[0] == "l" or part[-1] == "l":
        return day.day == same[-1] and number(part.strip("l")) % 7 == weekday
    return weekday in {n % 7 for n in entry(part, 0, 6)}


def by_weekday(text: str, day: datetime) -> bool:
    return any(is_one_of_the_weekdays(part, day) for part in text.split(","))


def says_nothing(text: str, low: int, high: int, other: str) -> bool:
    """Whether a field is `*`, or names every day while the other field has a star."""
    plain = not re.search("[lw#]", text)
    everything = plain and len({n % (high + 1) for n in numbers(text, low, high)}) > high - low
    return text == "*" or (everything and "*" in other)


def on(day_text: str, weekday_text: str, day: datetime, days: str = "either") -> bool:
    one, other = by_number(day_text, day), by_weekday(weekday_text, day)
    no_day = says_nothing(day_text, 1, 31, weekday_text)
    no_weekday = says_nothing(weekday_text, 0, 6, day_text)
    return one and other if no_day or no_weekday or days == "both" else one or other


class Oracle:
    def __init__(self, expression: str, zone: ZoneInfo, days: str = "either") -> None:
        minute, hour, self.day, month, self.weekday, *second = expression.lower().split()
        self.minutes, self.hours = numbers(minute, 0, 59), numbers(hour, 0, 23)
        self.months = numbers(month, 1, 12)
        self.seconds = numbers(second[0], 0, 59) if second else {0}
        self.step = 1 if second else 60
        self.zone = zone
        self.days = days

    def names(self, local: datetime) -> bool:
        return (
            local.minute in self.minutes
            and local.hour in self.hours
            and local.second in self.seconds
            and self.names_day(local)
        )

    def names_day(self, local: datetime) -> bool:
        return local.month in self.months and on(self.day, self.weekday, local, self.days)

    def local(self, at: int) -> datetime:
        return datetime.fromtimestamp(at, self.zone)

    def fires(self, after: int, until: int, gap: str, overlap: str) -> list[int]:
        instants = range(after - after % self.step + self.step, until + 1, self.step)
        return [at for at in instants if self.fires_at(at, gap, overlap)]

    def fires_at(self, at: int, gap: str, overlap: str) -> bool:
        local = self.local(at)
        if gap == "shift" and any(self.names(lost) for lost in self.lost_before(at)):
            return True
        return self.names(local) and self.right_pass(local, overlap)

    def lost_before(self, at: int) -> Iterator[datetime]:
        """Yields the local times that the clock skips just before this instant."""
        step = timedelta(seconds=self.step)
        last, now = (self.local(t).replace(tzinfo=None) for t in (at - self.step, at))
        while (last := last + step) < now:
            yield last

    def right_pass(self, local: datetime, overlap: str) -> bool:
        first, second = (local.replace(fold=fold).utcoffset() for fold in (0, 1))
        if first <= second or overlap == "both":
            return True
        return local.fold == (overlap == "last")


class EventBridgeOracle(Oracle):
    """cron(minute hour day month weekday year), as in the user guide of AWS."""

    def __init__(self, expression: str, zone: ZoneInfo) -> None:
        fields = expression.lower().removeprefix("cron(").removesuffix(")").split()
        minute, hour, day, month, weekday, year = fields
        super().__init__(f"{minute} {hour} {day} {month} {weekday}", zone)
        self.years = numbers(year, 1970, 2199)

    def names_day(self, local: datetime) -> bool:
        if local.year not in self.years or local.month not in self.months:
            return False
        if self.weekday == "?":
            return by_number(self.day, local)
        return any(self.is_weekday(part, local) for part in self.weekday.split(","))

    def is_weekday(self, part: str, local: datetime) -> bool:
        """Sunday is 1, and L alone is Saturday, the last day of that week."""
        if part == "l":
            return local.isoweekday() == 6
        in_numbers = re.sub("[a-z]{3}", lambda name: str(NAMES[name[0]] + 1), part)
        named, _, nth = in_numbers.partition("#")
        if local.isoweekday() % 7 + 1 not in entry(named.removesuffix("l"), 1, 7):
            return False
        if named.endswith("l"):
            return (local + timedelta(days=7)).month != local.month
        return not nth or (local.day + 6) // 7 == int(nth)
