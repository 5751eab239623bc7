"""The right answer by the slowest way: every minute (or second) of a span is looked at.

Nothing here uses the code under test but for the zones' data. Local times come from datetime,
and passes of the clock from its folds.
"""

from calendar import monthrange
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from tests.core.recurrence.draws import MONTHS, WEEKDAYS

NAMES = {**{n: i + 1 for i, n in enumerate(MONTHS)}, **{n: i for i, n in enumerate(WEEKDAYS)}}


def number(text: str) -> int:
    return NAMES[text] if text in NAMES else int(text)


def entry(text: str, low: int, high: int) -> Iterator[int]:
    span, _, step = text.partition("/")
    first, _, last = span.partition("-")
    if span == "*":
        first, last = str(low), str(high)
    elif not last:
        last = str(high) if step else first
    return iter(range(number(first), number(last) + 1, int(step or 1)))


def numbers(text: str, low: int, high: int) -> set[int]:
    return {n for part in text.split(",") for n in entry(part, low, high)}


def by_number(text: str, day: datetime) -> bool:
    last = day.day == monthrange(day.year, day.month)[1]
    plain = [part for part in text.split(",") if part != "l"]
    return ("l" in text and last) or any(day.day in entry(part, 1, 31) for part in plain)


def by_weekday(text: str, day: datetime) -> bool:
    weekday = day.isoweekday() % 7
    for part in text.split(","):
        if "#" in part:
            which, _, nth = part.partition("#")
            if number(which) % 7 == weekday and (day.day + 6) // 7 == int(nth):
                return True
        elif part.startswith("l"):
            last = (day + timedelta(days=7)).month != day.month
            if int(part[1:]) % 7 == weekday and last:
                return True
        elif weekday in {n % 7 for n in entry(part, 0, 6)}:
            return True
    return False


def on(day_text: str, weekday_text: str, day: datetime) -> bool:
    if day_text == "*" or weekday_text == "*":
        return by_number(day_text, day) and by_weekday(weekday_text, day)
    return by_number(day_text, day) or by_weekday(weekday_text, day)


class Oracle:
    def __init__(self, expression: str, zone: ZoneInfo) -> None:
        minute, hour, self.day, month, self.weekday, *second = expression.lower().split()
        self.minutes, self.hours = numbers(minute, 0, 59), numbers(hour, 0, 23)
        self.months = numbers(month, 1, 12)
        self.seconds = numbers(second[0], 0, 59) if second else {0}
        self.step = 1 if second else 60
        self.zone = zone

    def names(self, local: datetime) -> bool:
        return (
            local.minute in self.minutes
            and local.hour in self.hours
            and local.second in self.seconds
            and local.month in self.months
            and on(self.day, self.weekday, local)
        )

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
        """The local times that the clock passes over on its way to this instant."""
        step = timedelta(seconds=self.step)
        last, now = (self.local(t).replace(tzinfo=None) for t in (at - self.step, at))
        while (last := last + step) < now:
            yield last

    def right_pass(self, local: datetime, overlap: str) -> bool:
        first, second = (local.replace(fold=fold).utcoffset() for fold in (0, 1))
        if first <= second or overlap == "both":
            return True
        return local.fold == (overlap == "last")
