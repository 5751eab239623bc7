"""What a test reads from its world: tasks, attempts and entries of a ledger, as small values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from duetime.client.schedule_types import Expected
from duetime.client.types import Attempt, Task, TaskError


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why an attempt failed. `type` is the name of the exception, or Http503, TimedOut, …"""

    type: str
    message: str
    traceback: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class TaskRecord:
    """A task as it is now.

    Attributes:
        handler: The name of its handler; None for another target.
        result: Of a task that SUCCEEDED, as JSON.
        error: Of its latest attempt that failed; None once it has SUCCEEDED.
        attempts: How many attempts have begun.
        scheduled_for: The fire time of a schedule's run; None for every other task."""

    id: str
    status: str
    handler: str | None
    payload: Any
    result: Any = None
    error: Failure | None = None
    attempts: int = 0
    submitted_at: datetime
    run_at: datetime
    due_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    scheduled_for: datetime | None = None
    schedule_id: str | None = None
    name: str | None = None
    namespace: str = "default"
    priority: str = "medium"
    pool: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    target: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AttemptRecord:
    """An attempt. `outcome` is succeeded, failed, timed_out, lease_expired, snoozed, interrupted or
    cancelled; None while it runs."""

    number: int
    outcome: str | None
    started_at: datetime
    finished_at: datetime | None
    error: Failure | None


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """What became of a fire time. `outcome` is fired, skipped_overlap, skipped_misfire, paused or
    broken; `task_id` and `task_status` are those of its run."""

    scheduled_for: datetime
    outcome: str
    task_id: str | None
    task_status: str | None
    late_ms: int | None
    reason: str | None


def task_record(task: Task, payload: Any, result: Any) -> TaskRecord:
    return TaskRecord(
        id=task["id"],
        status=task["status"],
        handler=task["target"].get("handler"),
        payload=payload,
        result=result,
        error=_failure(task["error"]),
        attempts=task["attempt"],
        submitted_at=_time(task["created_at"]),
        run_at=_time(task["run_at"]),
        due_at=_time(task["due_at"]),
        started_at=_maybe(task["started_at"]),
        finished_at=_maybe(task["finished_at"]),
        scheduled_for=_maybe(task["scheduled_for"]),
        schedule_id=task["schedule_id"],
        name=task["name"],
        namespace=task["namespace"],
        priority=task["priority"],
        pool=task["pool"],
        tags=task["tags"],
        target=task["target"],
    )


def attempt_record(attempt: Attempt) -> AttemptRecord:
    return AttemptRecord(
        number=attempt["number"],
        outcome=attempt["outcome"],
        started_at=_time(attempt["started_at"]),
        finished_at=_maybe(attempt["finished_at"]),
        error=_failure(attempt["error"]),
    )


def ledger_entry(expected: Expected) -> LedgerEntry:
    return LedgerEntry(
        scheduled_for=_time(expected["fire_time"]),
        outcome=expected["outcome"],
        task_id=expected["task_id"],
        task_status=expected["task_status"],
        late_ms=expected["late_ms"],
        reason=expected.get("reason"),
    )


def _failure(error: TaskError | None) -> Failure | None:
    if error is None:
        return None
    return Failure(type=error["type"], message=error["message"], traceback=error["traceback"])


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _maybe(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
