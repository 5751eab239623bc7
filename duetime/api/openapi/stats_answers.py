"""The models of the statistics."""

from typing import Annotated, Literal

from pydantic import Field

from duetime.api.openapi.answers import AnswerModel, Time
from duetime.api.openapi.system_answers import QueueName


class AttemptCounts(AnswerModel):
    """How many attempts ended, by outcome."""

    succeeded: int
    failed: int
    timed_out: int
    lease_expired: int
    snoozed: int
    interrupted: int
    suspended: int
    cancelled: int


class EndCounts(AnswerModel):
    """How often a task ended, by status. A dead task that is redriven ends again."""

    SUCCEEDED: int
    DEAD: int
    CANCELLED: int
    EXPIRED: int


class Quantiles(AnswerModel):
    """Milliseconds that half, 95 % and 99 % of the attempts do not exceed, from a histogram with 15
    buckets, and the most."""

    p50: int
    p95: int
    p99: int
    max: int


class StatCounts(AnswerModel):
    """What was counted."""

    attempts: AttemptCounts
    ends: EndCounts
    drift_ms: Quantiles | None
    """From the due time to the start of an attempt; null if none has ended."""
    duration_ms: Quantiles | None
    """From the start of an attempt to its end; null if none has ended."""


class LaneStats(StatCounts):
    """What was counted in a lane."""

    lane: QueueName


class StatsPoint(LaneStats):
    """What was counted in a lane in one step."""

    at: Time
    """When the step begins."""


class Stats(AnswerModel):
    """What happened, in steps of time and by lane."""

    source: Literal["table", "emf"]
    """`emf`: only CloudWatch has the numbers."""
    url: str | None = None
    """With `emf`: the dashboard in CloudWatch, if there is one."""
    start: Annotated[Time, Field(alias="from")]
    """The counts are complete from here on."""
    to: Time
    step: int
    """Seconds."""
    approximate: bool
    """True: a crash may lose the last second, and a change that is relayed twice counts twice."""
    complete: bool
    """Whether the counts are those of the whole window."""
    series: list[StatsPoint]
    """In order of time, then of lanes, without steps in which nothing was counted."""
    lanes: list[LaneStats]
    """The sums of the lanes."""
    total: StatCounts | None
    """The sum of all lanes that were asked for; null with `emf`."""
    tick_age_seconds: float | None
    """Since the scanner's last tick. This and the next three are of now; null where the API does
    not know."""
    cursor_lag_seconds: float | None
    """How far the scanner's oldest cursor is behind its normal position."""
    held_back: int | None
    """Overdue tasks that the last tick left for the next one."""
    relay_age_seconds: float | None
    """The age of the change that the relay handles now; 0 if it is idle."""


class Objective(AnswerModel):
    """That `share` of the tasks start at most `drift_ms` after their due time."""

    share: float
    drift_ms: int
    window: str
    """The time that the budget is for."""


class BurnRates(AnswerModel):
    """How fast the budget is spent: at 1 it lasts exactly for the window of the objective."""

    in_1h: Annotated[float, Field(alias="1h")]
    in_6h: Annotated[float, Field(alias="6h")]
    in_3d: Annotated[float, Field(alias="3d")]


class LateMinute(AnswerModel):
    """A minute in which tasks started late."""

    at: Time
    late: int
    of: int


class LaneCompliance(AnswerModel):
    """How well a lane meets its objective. Only first attempts of tasks count that were known 5 s
    before they were due."""

    lane: Literal["high", "medium", "low"]
    objective: Objective
    good: int
    """Tasks that started on time."""
    total: int
    share: float | None
    """`good / total`; null if there is none."""
    budget_left: float | None
    """1: no task was late. Below 0: the objective is missed."""
    burn: BurnRates
    worst_minutes: list[LateMinute]
    """The worst of the last six hours, at most five."""
    approximate: bool


class Slo(AnswerModel):
    """How well the lanes meet their objectives."""

    source: Literal["table", "emf"]
    """`emf`: only CloudWatch has the numbers."""
    url: str | None = None
    """With `emf`: the dashboard in CloudWatch, if there is one."""
    lanes: list[LaneCompliance]
    """Empty with `emf`."""
