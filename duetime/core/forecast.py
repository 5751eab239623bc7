"""A forecast: how many tasks come due in each of the next minutes.

A store counts the tasks that are stored, and names the schedules that wake in the span. Their fire
times that are not tasks yet are added by duetime.engine.forecast.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from duetime.core.lanes import Lane
from duetime.core.times import HOUR, MINUTE, Millis
from duetime.core.value import value
from duetime.core.wakes import Wake, minute_of

MAX_HOURS = 24
MAX_SCHEDULES = 1_000  # of one forecast
MAX_FIRE_TIMES = 20_000  # of one forecast, of all its schedules together

Place = tuple[int, Lane]  # a minute and a lane
Counts = Mapping[Place, int]


@value(frozen=True, kw_only=True, slots=True)
class DueSpan:
    """The due times that a forecast is about: from `start` to before `end`, the end of a minute."""

    start: Millis
    end: Millis
    namespace: str | None = None  # None: all

    @classmethod
    def ahead(cls, now: Millis, hours: int, namespace: str | None = None) -> "DueSpan":
        """Returns the span from now on: the rest of this minute is its first minute."""
        end = (minute_of(now) + hours * HOUR // MINUTE) * MINUTE
        return cls(start=now, end=end, namespace=namespace)

    @property
    def minutes(self) -> range:
        return range(minute_of(self.start), minute_of(self.end - 1) + 1)

    def has(self, at: Millis) -> bool:
        return self.start <= at < self.end


@value(frozen=True, kw_only=True, slots=True)
class DueCounts:
    """The tasks of a span that are still to start, and the schedules that wake before its end.

    The counts are complete from `looked_from` to before `looked_until`; the minute of
    `looked_until` may have more."""

    tasks: Counts
    wakes: Sequence[Wake]  # of the schedules, soonest first; at most MAX_SCHEDULES + 1
    looked_from: Millis
    looked_until: Millis


@value(frozen=True, kw_only=True, slots=True)
class Forecast:
    """The tasks and the coming occurrences of each minute and lane; complete as DueCounts are."""

    span: DueSpan
    tasks: Counts
    occurrences: Counts
    looked_from: Millis
    looked_until: Millis

    @property
    def complete(self) -> bool:
        return (self.looked_from, self.looked_until) == (self.span.start, self.span.end)

    def by_minute(self) -> dict[int, Counter[Lane]]:
        """Returns what comes due in each minute that is not empty, by lane, in order."""
        found: dict[int, Counter[Lane]] = {}
        for counts in (self.tasks, self.occurrences):
            for (minute, lane), count in counts.items():
                found.setdefault(minute, Counter())[lane] += count
        return dict(sorted(found.items()))
