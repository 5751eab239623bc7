"""Types of the JSON of tasks. They are plain dicts, so a newer server may add fields."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NotRequired, Required, TypedDict
from uuid import UUID

Json = dict[str, Any]
Priority = Literal["high", "medium", "low"]

# The client accepts more than the types of JSON: see duetime.core.json_values.
Moment = str | datetime  # RFC 3339 with an offset, or with a time zone
Seconds = float | timedelta


class RetryFields(TypedDict, total=False):
    """A retry policy as submitted."""

    max_attempts: int  # including the first
    base_delay: Seconds
    multiplier: float
    max_delay: Seconds
    jitter: Seconds


class Retry(TypedDict, total=False):
    max_attempts: int  # including the first
    base_delay: float
    multiplier: float
    max_delay: float
    jitter: float


class TaskFields(TypedDict, total=False):
    """A task as submitted. The payload may hold datetimes with a time zone, UUIDs, dataclasses and
    more: see duetime.core.json_values."""

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


class ChangeFields(TypedDict, total=False):
    """What may be changed about a task. A field that is left out stays as it is; None removes
    `expires_at` and gives `retry` its defaults. The fields of `retry` change one by one, `tags` as
    a whole."""

    payload: Any
    run_at: Moment
    delay: Seconds
    priority: Priority
    timeout: Seconds
    retry: RetryFields | None
    expires_at: Moment | None
    tags: dict[str, str]


class Progress(TypedDict):
    fraction: float
    message: str | None


class TaskError(TypedDict):
    type: str
    message: str
    traceback: str | None  # the end of the traceback of a handler that raised
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
    # Why its schedule cancelled it: overlap, misfire, paused, changed, deleted; or discarded.
    reason: str | None
    schedule_id: str | None
    scheduled_for: str | None
    workflow_id: str | None
    not_shown: dict[str, str] | None  # fields that are null because they are nested too deep


@dataclass(frozen=True)
class Submitted:
    task: Task
    replayed: bool  # the idempotency key was used before, and this is the task stored then


class TaskPage(TypedDict):
    """A page may be short, even empty. The list ends where `next_cursor` is None."""

    items: list[Task]
    next_cursor: str | None


class DeadFilter(TypedDict, total=False):
    """Selects dead tasks. A field that is None or left out matches every task."""

    namespace: str | None
    error_type: str | None
    died_after: Moment | None  # then or later
    died_before: Moment | None


class NotRedriven(TypedDict):
    id: str
    reason: str


class Redriven(TypedDict):
    """The result of a redrive; after a dry run, what it would be."""

    redriven: int
    dry_run: bool
    not_redriven: list[NotRedriven]


class Attempt(TypedDict):
    number: int
    started_at: str
    finished_at: str | None
    outcome: str | None  # None while it runs
    error: TaskError | None
    drift_ms: int


class BatchResult(TypedDict):
    """Has `task` if it was stored, or else `error`, a problem; `status` is the HTTP status."""

    status: int
    task: NotRequired[Task]
    error: NotRequired[Json]
