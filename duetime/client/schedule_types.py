"""Types of the JSON of schedules. They are plain dicts, like those in `types`."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Literal, NotRequired, Required, TypedDict

from duetime.client.limit_types import LimitUse, LimitUseFields, OnDead
from duetime.client.types import Json, Moment, Priority, Retry, RetryFields, Seconds

Overlap = Literal["allow", "skip", "queue", "cancel"]


class Dst(TypedDict, total=False):
    gap: Literal["skip", "shift"]
    overlap: Literal["first", "last", "both"]


class CronRule(TypedDict):
    type: Literal["cron"]
    expression: str
    timezone: NotRequired[str]  # UTC
    seconds: NotRequired[Literal["first", "last"]]  # where they are in six fields
    days: NotRequired[Literal["either", "both"]]  # either
    dst: NotRequired[Dst]


class RateRule(TypedDict):
    """Fires at the anchor and every `every` seconds after it, even while a run goes on."""

    type: Literal["rate"]
    every: float
    anchor: NotRequired[str]  # when the schedule was made


class DelayRule(TypedDict):
    """Fires `delay` seconds after the previous run has ended."""

    type: Literal["delay"]
    delay: float


class RateFields(TypedDict):
    """A rate rule as submitted."""

    type: Literal["rate"]
    every: Seconds
    anchor: NotRequired[Moment]


class DelayFields(TypedDict):
    """A delay rule as submitted."""

    type: Literal["delay"]
    delay: Seconds


class ExcludedDates(TypedDict):
    type: Literal["dates"]
    dates: list[str] | list[date]  # 2026-12-25
    timezone: NotRequired[str]


Rule = CronRule | RateRule | DelayRule
Exclusion = CronRule | ExcludedDates


class Misfire(TypedDict, total=False):
    policy: Literal["run_once", "run_all", "skip"]
    grace: Seconds
    window: Seconds | None
    per_minute: float


class TaskTemplate(TypedDict, total=False):
    """A task as submitted with a schedule, without a due time. Its texts may be templates."""

    target: Required[Json]
    payload: Any
    priority: Priority
    pool: str | None
    timeout: Seconds
    retry: RetryFields
    name: str | None
    namespace: str
    ordering_key: str | None
    on_dead: OnDead | None
    limits: Sequence[LimitUseFields]
    fairness_key: str | None
    tags: dict[str, str]


class ScheduledTask(TypedDict):
    """A task template as returned."""

    target: Json
    payload: Any
    priority: Priority
    pool: str | None
    timeout: float
    retry: Retry
    name: str | None
    namespace: str
    ordering_key: str | None
    on_dead: OnDead | None
    limits: list[LimitUse]
    fairness_key: str | None
    tags: dict[str, str]
    not_shown: NotRequired[dict[str, str]]  # see Task


class RuleFields(TypedDict, total=False):
    """One of `rule` and `rules`, as submitted."""

    rule: CronRule | RateFields | DelayFields
    rules: list[CronRule | RateFields | DelayFields]
    exclude: list[Exclusion]


class ScheduleFields(RuleFields, total=False):
    """A schedule as submitted."""

    task: Required[TaskTemplate]
    name: str | None
    starts_at: Moment | None
    ends_at: Moment | None
    max_runs: int | None
    jitter: Seconds
    misfire: Misfire
    overlap: Overlap
    pause_on_failure: int | None


class Schedule(TypedDict):
    """A schedule as returned, with one of `rule` and `rules`. Times are RFC 3339, durations are
    seconds."""

    rule: NotRequired[Rule]
    rules: NotRequired[list[Rule]]
    exclude: list[Exclusion]
    task: ScheduledTask
    name: str | None
    starts_at: str | None
    ends_at: str | None
    max_runs: int | None
    jitter: float
    misfire: Misfire
    overlap: Overlap
    pause_on_failure: int | None
    id: str
    status: str  # active, paused, broken, finished
    origin: Literal["code", "api"]
    app: str | None  # these two of a schedule from code: who declares it, and where
    source: str | None
    version: int
    next_fire_at: str | None
    last_fired_at: str | None
    runs: int
    last_error: str | None
    note: str | None
    paused_at: str | None
    paused_by: str | None  # None if Duetime did, or the caller has no name
    description: str | None
    created_at: str
    updated_at: str


class SyncStep(TypedDict):
    """What a sync does to one schedule."""

    action: Literal["create", "change", "same", "detached", "removed", "pruned"]
    id: str
    name: str
    handler: str
    namespace: str
    source: str
    note: str | None


class SyncPlan(TypedDict):
    app: str
    generation: int
    dry_run: bool
    schedules: list[SyncStep]


class SchedulePage(TypedDict):
    items: list[Schedule]
    next_cursor: str | None


class DstNote(TypedDict):
    """The effect of daylight saving on a fire time. `at` is that fire time; for a skipped one, the
    time at which the clock passes over it."""

    at: str
    kind: str
    note: str


class Upcoming(TypedDict):
    fire_times: list[str]
    daylight_saving: list[DstNote]
    description: NotRequired[str]  # of a preview


class Backfill(TypedDict):
    fire_times: int  # how many will be run


class Expected(TypedDict):
    """What became of a fire time: a row of the ledger."""

    fire_time: str
    outcome: str  # fired, skipped_overlap, skipped_misfire, paused, broken
    late_ms: int | None  # the start of its first attempt, after the fire time
    task_id: str | None
    task_status: str | None
    reason: NotRequired[str]  # why its task was cancelled
    backfill: NotRequired[str]  # the id of its backfill
    error: NotRequired[str]


class LedgerPage(TypedDict):
    items: list[Expected]
    next_cursor: str | None
