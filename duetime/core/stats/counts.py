"""Counts: what the metrics of many changes add up to."""

from collections import Counter
from collections.abc import Iterable, Mapping

from duetime.core.lifecycle import FINISHED, Outcome
from duetime.core.metrics import ChangeMetrics, Path
from duetime.core.stats.histogram import BUCKETS, bucket_of
from duetime.core.times import MINUTE, Millis
from duetime.core.value import value


class Durations:
    """The names under which the durations of one kind are counted: each bucket of the histogram,
    the sum, and the longest."""

    def __init__(self, name: str) -> None:
        self.buckets = tuple(f"{name}{number}" for number in range(BUCKETS))
        self.sum = f"{name}_sum"
        self.longest = f"{name}_max"


DRIFT = Durations("drift")  # of every attempt
TOOK = Durations("took")  # every attempt
PLANNED = Durations("planned")  # drift of first attempts of tasks that were known ahead
KINDS = (DRIFT, TOOK, PLANNED)
MAXIMA = frozenset(kind.longest for kind in KINDS)
# Every name of a number, each with a different spelling.
NUMBERS = frozenset(
    [*Outcome, *FINISHED, *Path] + [name for kind in KINDS for name in (*kind.buckets, kind.sum)]
)


class Counts:
    """Numbers, which add up, and maxima. Equal counts have equal numbers that are not 0."""

    __slots__ = ("maxima", "numbers")

    def __init__(
        self, numbers: Mapping[str, int] | None = None, maxima: Mapping[str, Millis] | None = None
    ) -> None:
        self.numbers: Counter[str] = Counter(numbers)
        self.maxima: dict[str, Millis] = dict(maxima or {})

    def add(self, metrics: ChangeMetrics, times: int = 1) -> None:
        """Counts a change, or several with equal metrics."""
        numbers = self.numbers
        if metrics.submitted:
            numbers[metrics.submitted.value] += times
        if metrics.outcome:
            numbers[metrics.outcome.value] += times
        if metrics.end:
            numbers[metrics.end.value] += times
        if metrics.drift_ms is not None:
            self._measure(DRIFT, metrics.drift_ms, times)
            if metrics.known_ahead:
                self._measure(PLANNED, metrics.drift_ms, times)
        if metrics.duration_ms is not None:
            self._measure(TOOK, metrics.duration_ms, times)

    def merge(self, other: "Counts") -> None:
        self.numbers.update(other.numbers)
        for name, most in other.maxima.items():
            self.maxima[name] = max(self.maxima.get(name, 0), most)

    def histogram(self, kind: Durations) -> list[int]:
        return [self.numbers[name] for name in kind.buckets]

    def longest(self, kind: Durations) -> Millis:
        return self.maxima.get(kind.longest, 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return +self.numbers == +other.numbers and self.maxima == other.maxima

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Counts({dict(self.numbers)}, {self.maxima})"

    def _measure(self, kind: Durations, duration: Millis, times: int) -> None:
        duration = max(duration, 0)  # a clock that was set back
        self.numbers[kind.buckets[bucket_of(duration)]] += times
        self.numbers[kind.sum] += duration * times
        if duration > self.maxima.get(kind.longest, -1):
            self.maxima[kind.longest] = duration


def total(counts: Iterable[Counts]) -> Counts:
    made = Counts()
    for each in counts:
        made.merge(each)
    return made


@value(frozen=True, kw_only=True, slots=True)
class LaneCounts:
    """The counts of one lane in the minute, or the hour, that begins at `start`."""

    start: Millis
    lane: str  # the text of a queue
    counts: Counts


class MinuteCounts:
    """Counts by minute and lane."""

    def __init__(self) -> None:
        self._counts: dict[tuple[Millis, str], Counts] = {}

    def __bool__(self) -> bool:
        return bool(self._counts)

    def add(self, metrics: ChangeMetrics, times: int = 1) -> None:
        self._of(metrics.at // MINUTE * MINUTE, metrics.lane).add(metrics, times)

    def merge(self, counted: Iterable[LaneCounts]) -> None:
        for each in counted:
            self._of(each.start, each.lane).merge(each.counts)

    def rows(self) -> list[LaneCounts]:
        return [
            LaneCounts(start=start, lane=lane, counts=counts)
            for (start, lane), counts in self._counts.items()
        ]

    def _of(self, start: Millis, lane: str) -> Counts:
        found = self._counts.get((start, lane))
        if found is None:
            found = self._counts[start, lane] = Counts()
        return found
