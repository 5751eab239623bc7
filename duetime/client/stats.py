"""The calls for statistics, and the types of their JSON."""

from typing import Literal, TypedDict

from duetime.client.calls import Call, ask


class Quantiles(TypedDict):
    """Milliseconds that half, 95 % and 99 % do not exceed, and the most."""

    p50: int
    p95: int
    p99: int
    max: int


class StatCounts(TypedDict):
    """What was counted."""

    attempts: dict[str, int]  # that ended, by outcome
    ends: dict[str, int]  # of tasks, by status
    drift_ms: Quantiles | None  # None: no attempt has ended
    duration_ms: Quantiles | None


class LaneStats(StatCounts):
    lane: str


class StatsPoint(LaneStats):
    at: str  # when the step begins


class _Vitals(TypedDict):
    """How far behind the roles are; None: the API does not know."""

    tick_age_seconds: float | None
    cursor_lag_seconds: float | None
    held_back: int | None
    relay_age_seconds: float | None


# `from` is a keyword of Python.
_Counted = TypedDict(
    "_Counted",
    {
        "source": Literal["table", "emf"],
        "from": str,
        "to": str,
        "step": int,
        "approximate": bool,
        "complete": bool,
        "series": list[StatsPoint],
        "lanes": list[LaneStats],
        "total": StatCounts | None,
    },
)


class Stats(_Counted, _Vitals, total=False):
    """What happened, in steps of time and by lane. With the source `emf` only CloudWatch has the
    numbers: at `url`, if there is a dashboard."""

    url: str | None


class Objective(TypedDict):
    """That `share` of the tasks start at most `drift_ms` late."""

    share: float
    drift_ms: int
    window: str


class LateMinute(TypedDict):
    at: str
    late: int
    of: int


class LaneSlo(TypedDict):
    """How well a lane meets its objective."""

    lane: str
    objective: Objective
    good: int
    total: int
    share: float | None  # None: no task counts
    budget_left: float | None  # below 0: the objective is missed
    burn: dict[str, float]  # by window; at 1 the budget lasts for the objective's window
    worst_minutes: list[LateMinute]
    approximate: bool


class _Slo(TypedDict):
    source: Literal["table", "emf"]
    lanes: list[LaneSlo]


class Slo(_Slo, total=False):
    """How well the lanes meet their objectives. `url` as in Stats."""

    url: str | None


def stats(window: str | float | None, step: int | None, lane: str | None) -> Call[Stats]:
    return ask("GET", "/v1/stats", query={"window": window, "step": step, "lane": lane})


def slo() -> Call[Slo]:
    return ask("GET", "/v1/slo")
