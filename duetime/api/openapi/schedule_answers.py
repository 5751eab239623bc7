"""Models of the answers about schedules; see answers.py."""

from typing import Annotated, Any, Literal

from pydantic import Field

from duetime.api.openapi.answers import AnswerModel, LimitUse, RetryPolicy, Seconds, Time, list_of
from duetime.api.schedules.models import ExclusionIn, OverlapIn, RuleIn
from duetime.api.service_target_models import AnyTarget
from duetime.core.lifecycle import Status
from duetime.core.recurrence.dst_notes import Kind
from duetime.core.schedules.declarations import Action
from duetime.core.schedules.ledger import LedgerOutcome
from duetime.core.schedules.schedule import ScheduleStatus


class Misfire(AnswerModel):
    """What happens to a run that cannot start in time."""

    policy: Literal["run_once", "run_all", "skip"]
    grace: Seconds
    window: Seconds | None
    per_minute: float


class TaskTemplate(AnswerModel):
    """The task of every run, with its templates."""

    target: AnyTarget | None
    payload: Any
    priority: Literal["high", "medium", "low"]
    pool: str | None
    timeout: Seconds
    retry: RetryPolicy
    name: str | None
    namespace: str
    ordering_key: str | None
    on_dead: Literal["continue", "block"] | None
    limits: list[LimitUse]
    fairness_key: str | None
    tags: dict[str, str]
    not_shown: dict[str, str] | None = None
    """Which fields are null here although they are stored, and why."""


class Schedule(AnswerModel):
    """A rule and a task: at every fire time of the rule, Duetime creates and runs one task."""

    id: str
    status: ScheduleStatus
    """`broken`: its rule cannot be evaluated. `finished`: it never fires again."""
    name: str | None
    rule: RuleIn | None = None
    """Its rule, if it has one."""
    rules: Annotated[list[RuleIn], Field(min_length=2)] | None = None
    """Its rules, if it has several."""
    exclude: list[ExclusionIn]
    task: TaskTemplate
    starts_at: Time | None
    ends_at: Time | None
    max_runs: int | None
    jitter: Seconds
    misfire: Misfire
    overlap: OverlapIn
    pause_on_failure: int | None
    origin: Literal["code", "api"]
    """Whether it is declared in code, or was made by a request."""
    app: str | None
    """The app that declares it."""
    source: str | None
    """File and line of the declaration."""
    version: int
    """It grows with every change, pause and resumption. It need not begin at 1."""
    next_fire_at: Time | None
    last_fired_at: Time | None
    runs: int | None
    """How many fire times of the rule have passed and became tasks."""
    last_error: str | None
    """Why a run could not be created, or why the schedule is broken."""
    note: str | None
    """The note of the last pause or resumption."""
    paused_at: Time | None
    """Since when it is paused."""
    paused_by: str | None
    """Who paused it; null if Duetime did, or the caller has no name."""
    description: str | None
    """Its rules in words."""
    created_at: Time
    updated_at: Time


class Generation(AnswerModel):
    """The number of a deployment of an app."""

    app: str
    generation: int


class SyncStep(AnswerModel):
    """What a sync does to one schedule."""

    action: Action
    """`same`: nothing changes. `detached`: the sync leaves it alone. `removed`: not in the code any
    more, and paused; if this sync has not paused it, `note` says so. `pruned`: not in the code any
    more, and deleted."""
    id: str
    name: str
    handler: str
    namespace: str
    source: str
    """File and line of the declaration."""
    note: str | None
    """What else to know."""


class SyncPlan(AnswerModel):
    """What a sync does."""

    app: str
    generation: int
    dry_run: bool
    """Whether nothing was stored."""
    schedules: list[SyncStep]


class DaylightSavingNote(AnswerModel):
    """A fire time that a change of the clocks affects."""

    at: Time
    kind: Kind
    note: str


class FireTimes(AnswerModel):
    """The next fire times."""

    fire_times: list[Time]
    daylight_saving: list[DaylightSavingNote]


class Preview(FireTimes):
    """The fire times of a rule that is not stored."""

    description: str
    """The rules in words."""


class LedgerEntry(AnswerModel):
    """What became of one fire time."""

    fire_time: Time
    outcome: LedgerOutcome
    late_ms: int | None
    """Start of the first attempt minus the fire time, in milliseconds; null before it starts."""
    task_id: str | None
    task_status: Status | None
    reason: str | None = None
    """Why the task was cancelled."""
    backfill: str | None = None
    """The backfill that this run belongs to."""
    error: str | None = None
    """Why there is no task."""


class BackfillAccepted(AnswerModel):
    """A backfill has begun."""

    fire_times: int
    """How many runs it makes."""


ScheduleList = list_of(Schedule)
LedgerEntryList = list_of(LedgerEntry)
