"""The JSON of the contract, as types. They are plain dicts, so a newer server may add fields."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NotRequired, Required, TypedDict
from uuid import UUID

Json = dict[str, Any]
Priority = Literal["high", "medium", "low"]

# What the client takes beside JSON's own types: see lambdas.core.json_values.
Moment = str | datetime  # RFC 3339 with an offset, or with a time zone
Seconds = float | timedelta


class RetryFields(TypedDict, total=False):
    """A retry policy as submitted."""

    max_attempts: int  # counts the first
    base_delay: Seconds
    multiplier: float
    max_delay: Seconds
    jitter: Seconds


class Retry(TypedDict, total=False):
    max_attempts: int  # counts the first
    base_delay: float
    multiplier: float
    max_delay: float
    jitter: float


class TaskFields(TypedDict, total=False):
    """A task as submitted. The payload may hold what `json_values` knows: datetimes with a time
    zone, UUIDs, dataclasses and more."""

    target: Required[Json]
    payload: Any
    run_at: Moment
    delay: Seconds
    priority: Priority
    timeout: Seconds
    retry: RetryFields
    jitter: Seconds
    expires_at: Moment
    name: str
    namespace: str
    ordering_key: str | UUID
    idempotency_key: str | UUID
    tags: dict[str, str]


class Progress(TypedDict):
    fraction: float
    message: str | None


class TaskError(TypedDict):
    type: str
    message: str
    traceback: str | None  # its end, of a handler that raised
    attempt: NotRequired[int]


class Task(TypedDict):
    """A task as returned."""

    id: str
    status: str
    name: str | None
    namespace: str
    target: Json
    payload: Any
    run_at: str
    due_at: str
    priority: Priority
    timeout: float
    retry: Retry
    jitter: float
    expires_at: str | None
    ordering_key: str | None
    idempotency_key: str | None
    tags: dict[str, str]
    attempt: int  # 0 before the first
    created_at: str
    updated_at: str
    started_at: str | None
    finished_at: str | None
    drift_ms: int | None
    progress: Progress | None
    result: Any
    error: TaskError | None
    cancel_requested: bool
    # Why its schedule cancelled it: overlap, misfire, paused, changed, deleted.
    reason: str | None
    schedule_id: str | None
    scheduled_for: str | None
    workflow_id: str | None
    not_shown: dict[str, str] | None  # fields that are null because they are nested too deep


@dataclass(frozen=True)
class Submitted:
    task: Task
    replayed: bool  # its idempotency key had been used: the task was there before


class TaskPage(TypedDict):
    """A page may be short, even empty; only no cursor ends a list."""

    items: list[Task]
    next_cursor: str | None


class DeadFilter(TypedDict, total=False):
    """Which dead tasks; what is left out, or None, asks nothing."""

    namespace: str | None
    error_type: str | None
    died_after: Moment | None  # then or later
    died_before: Moment | None


class NotRedriven(TypedDict):
    id: str
    reason: str


class Redriven(TypedDict):
    """What a redrive has come to; after a dry run, what it would come to."""

    redriven: int
    dry_run: bool
    not_redriven: list[NotRedriven]


class Attempt(TypedDict):
    number: int
    started_at: str
    finished_at: str | None
    outcome: str | None  # None: it goes on
    error: TaskError | None
    drift_ms: int


class BatchResult(TypedDict):
    """One of `task` and `error` (a problem), as `status` says."""

    status: int
    task: NotRequired[Task]
    error: NotRequired[Json]
