"""A series of statistics: counts in steps of equal length, by lane."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from duetime.core.lanes import Queue
from duetime.core.lifecycle import FINISHED, Outcome, Status
from duetime.core.stats.counts import DRIFT, TOOK, Counts, Durations, LaneCounts, total
from duetime.core.stats.histogram import quantile
from duetime.core.times import Millis

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
ENDS = tuple(status for status in Status if status in FINISHED)


def in_steps(rows: Iterable[LaneCounts], step: Millis) -> list[LaneCounts]:
    """Returns the rows added up by step and lane, in the order of time, then of the lanes."""
    found: dict[tuple[Millis, str], list[Counts]] = {}
    for row in rows:
        found.setdefault((row.start // step * step, row.lane), []).append(row.counts)
    ordered = sorted(found.items(), key=lambda each: (each[0][0], place_of(each[0][1])))
    return [
        LaneCounts(start=start, lane=lane, counts=total(counts))
        for (start, lane), counts in ordered
    ]


def by_lane(rows: Sequence[LaneCounts]) -> dict[str, Counts]:
    """Returns the sums of the lanes that have any row."""
    lanes = sorted({row.lane for row in rows}, key=place_of)
    return {lane: total(row.counts for row in rows if row.lane == lane) for lane in lanes}


def place_of(lane: str) -> tuple[str, int]:
    """Sorts lanes by rank, and those of pools after those without one."""
    queue = Queue.parse(lane)
    return queue.pool or "", queue.lane.rank


def summary(counts: Counts) -> dict[str, Any]:
    return {
        "attempts": {outcome.value: counts.numbers[outcome.value] for outcome in Outcome},
        "ends": {status.value: counts.numbers[status.value] for status in ENDS},
        "drift_ms": durations(counts, DRIFT),
        "duration_ms": durations(counts, TOOK),
    }


def durations(counts: Counts, kind: Durations) -> Mapping[str, Millis] | None:
    """Returns the quantiles and the longest; None if nothing was measured."""
    histogram, longest = counts.histogram(kind), counts.longest(kind)
    if not any(histogram):
        return None
    found = {name: quantile(histogram, share, longest) or 0 for name, share in QUANTILES.items()}
    return {**found, "max": longest}
