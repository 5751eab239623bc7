"""The objective for drift: which share of the tasks starts on time, and what is left of the budget
for those that do not.

Only first attempts of tasks that were known 5 s ahead count (duetime.core.metrics.AHEAD)."""

import re
from collections.abc import Mapping, Sequence

from duetime.core.durations import parse_duration
from duetime.core.lanes import Lane
from duetime.core.stats.counts import PLANNED, Counts, LaneCounts, total
from duetime.core.stats.histogram import BOUNDS, within
from duetime.core.times import DAY, HOUR, SECOND, Millis, seconds
from duetime.core.value import value

WINDOW: Millis = 30 * DAY
BURN_WINDOWS: Mapping[str, Millis] = {"1h": HOUR, "6h": 6 * HOUR, "3d": 3 * DAY}
MINUTES_READ: Millis = 6 * HOUR  # the longer windows are read by the hour
WORST = 5  # minutes

_OBJECTIVE = re.compile(r"(?:(\w+)=)?(\d+(?:\.\d+)?)%/(.+)", re.ASCII)


@value(frozen=True, kw_only=True, slots=True)
class Objective:
    """`share` of the tasks start at most `drift_ms` late."""

    share: float
    drift_ms: Millis

    @property
    def budget(self) -> float:
        """The share of the tasks that may be late."""
        return 1 - self.share


Objectives = Mapping[Lane, Objective]

DEFAULT = Objective(share=0.99, drift_ms=SECOND)  # as promised: see docs/guarantees.md
DEFAULTS: Objectives = dict.fromkeys(Lane, DEFAULT)


def parse_objectives(text: str) -> Objectives:
    """Reads `99%/1s` or, by lane, `99%/1s,high=99.9%/0.5s`. Raises ValueError, whose message is for
    the user."""
    found: dict[Lane | None, Objective] = {}
    for part in (each.strip() for each in text.split(",")):
        match = _OBJECTIVE.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} is not an objective such as 99%/1s or high=99.9%/0.5s")
        lane = _lane(match[1])
        if lane in found:
            raise ValueError(f"{part!r} is the second objective of its lane")
        found[lane] = _objective(float(match[2]), match[3])
    others = found.get(None, DEFAULT)
    return {lane: found.get(lane, others) for lane in Lane}


def _lane(name: str | None) -> Lane | None:
    if name is not None and name not in list(Lane):
        raise ValueError(f"{name!r} is not a lane: {', '.join(Lane)}")
    return None if name is None else Lane(name)


def _objective(percent: float, text: str) -> Objective:
    if not 0 < percent < 100:
        raise ValueError(f"{percent:g}% must be over 0% and under 100%")
    drift = seconds(parse_duration(text))
    if drift not in BOUNDS:
        bounds = ", ".join(f"{bound / SECOND:g}s" for bound in BOUNDS)
        raise ValueError(f"{text!r} must be one of {bounds}")
    return Objective(share=round(percent / 100, 9), drift_ms=drift)


@value(frozen=True, kw_only=True, slots=True)
class LateMinute:
    at: Millis
    late: int
    of: int


@value(frozen=True, kw_only=True, slots=True)
class Compliance:
    """How well a lane meets its objective.

    Attributes:
        good: Tasks that started on time, of `total` in 30 days.
        burn: How fast the budget is spent, by window: at 1 it lasts exactly 30 days."""

    lane: Lane
    objective: Objective
    good: int
    total: int
    burn: Mapping[str, float]
    worst_minutes: Sequence[LateMinute]

    @property
    def share(self) -> float | None:
        return self.good / self.total if self.total else None

    @property
    def budget_left(self) -> float | None:
        """From 1 down; below 0 the objective is missed."""
        if not self.total:
            return None
        return 1 - (self.total - self.good) / self.total / self.objective.budget


def compliance(
    lane: Lane,
    objective: Objective,
    *,
    hours: Sequence[LaneCounts],
    minutes: Sequence[LaneCounts],
    now: Millis,
) -> Compliance:
    """Returns the compliance of a lane, from its rows of 30 days by the hour and of 6 hours by the
    minute."""
    hours = [row for row in hours if row.lane == lane]
    minutes = [row for row in minutes if row.lane == lane]
    good, of = _good(total(row.counts for row in hours), objective)
    burn = {}
    for name, window in BURN_WINDOWS.items():
        rows = minutes if window <= MINUTES_READ else hours
        recent = total(row.counts for row in rows if row.start > now - window)
        burn[name] = _late_share(recent, objective) / objective.budget
    return Compliance(
        lane=lane,
        objective=objective,
        good=good,
        total=of,
        burn=burn,
        worst_minutes=_worst(minutes, objective),
    )


def _good(counts: Counts, objective: Objective) -> tuple[int, int]:
    histogram = counts.histogram(PLANNED)
    return within(histogram, objective.drift_ms), sum(histogram)


def _late_share(counts: Counts, objective: Objective) -> float:
    good, of = _good(counts, objective)
    return (of - good) / of if of else 0.0


def _worst(minutes: Sequence[LaneCounts], objective: Objective) -> list[LateMinute]:
    """Returns the minutes with the most late tasks, the latest first among equals."""
    found = []
    for row in minutes:
        good, of = _good(row.counts, objective)
        if of > good:
            found.append(LateMinute(at=row.start, late=of - good, of=of))
    return sorted(found, key=lambda minute: (minute.late, minute.at), reverse=True)[:WORST]
