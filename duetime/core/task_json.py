"""JSON of tasks and attempts, as answers and the archive show them: secrets are masked."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from duetime.core.large_texts import references_of
from duetime.core.lifecycle import TO_START, Status
from duetime.core.limits.definition import LimitUse
from duetime.core.masking import masked
from duetime.core.results import decode_result
from duetime.core.retry import RetryPolicy
from duetime.core.suspension import WaitsFor
from duetime.core.task import DEFERRED, ORDERING_KEY, Attempt, Spec, Task
from duetime.core.times import Millis, rfc3339
from duetime.core.unique import Unique

NOT_SHOWN = "not_shown"  # beside a field that is null: its name, and why


def task_json(task: Task) -> dict[str, Any]:
    spec = task.spec
    current, occurrence, step = task.current, spec.occurrence, spec.step
    result, note = decode_result(task.result)
    notes = {"result": note} if note else {}
    if spec.payload_object or note:
        notes |= _large_notes(task)
    return {
        "id": task.id,
        "status": task.status.value,
        "name": spec.name,
        "namespace": spec.namespace,
        "target": masked(spec.target),
        "payload": spec.payload,
        "run_at": rfc3339(spec.run_at),
        "due_at": rfc3339(task.due_at),
        "priority": spec.priority.value,
        "lane": task.lane.value,
        "promoted_at": moment_json(task.promoted.at if task.promoted else None),
        "pool": spec.pool,
        "timeout": spec.timeout,
        "retry": retry_json(spec.retry),
        "jitter": spec.jitter,
        "expires_at": moment_json(spec.expires_at),
        "ordering_key": spec.ordering_key,
        "on_dead": on_dead_of(spec),
        "limits": limits_json(spec.limits),
        "fairness_key": spec.fairness_key,
        "waiting_for": waiting_for_json(task),
        "idempotency_key": spec.idempotency_key,
        "unique": unique_json(spec.unique) if spec.unique else None,
        "tags": spec.tags,
        "attempt": task.attempt,
        "created_at": rfc3339(task.created_at),
        "updated_at": rfc3339(task.updated_at),
        "started_at": moment_json(current.started_at if current else None),
        "finished_at": moment_json(task.finished_at),
        "drift_ms": current.drift_ms if current else None,
        "progress": asdict(task.progress) if task.progress else None,
        "result": result,
        "error": error_json(task),
        "cancel_requested": task.cancel_requested,
        "reason": reason_of(task),
        "schedule_id": occurrence.schedule_id if occurrence else None,
        "scheduled_for": moment_json(occurrence.scheduled_for if occurrence else None),
        "parent_id": spec.parent_id,
        "run_id": step.run_id if step else None,
        "step": step.step if step else None,
        "index": step.index if step else None,
        NOT_SHOWN: notes or None,
    }


def _large_notes(task: Task) -> dict[str, str]:
    return {
        part: f"{reference.size:,} bytes: GET /v1/tasks/{task.id}/{part}"
        for part, reference in references_of(task).items()
    }


def retry_json(retry: RetryPolicy) -> dict[str, Any]:
    return {
        "max_attempts": retry.max_attempts,
        "base_delay": retry.base_delay,
        "multiplier": retry.multiplier,
        "max_delay": retry.max_delay,
        "jitter": retry.jitter,
    }


def unique_json(unique: Unique) -> dict[str, Any]:
    return {
        "key": unique.key,
        "while": unique.held_while.value,
        "on_conflict": unique.on_conflict.value,
    }


def limits_json(limits: Sequence[LimitUse]) -> list[dict[str, Any]]:
    return [
        {"name": use.name, "key": use.key or None, "on_full": use.on_full.value} for use in limits
    ]


def on_dead_of(spec: Spec) -> str | None:
    """It means nothing without an ordering key."""
    return None if spec.ordering_key is None else spec.on_dead.value


def waiting_for_json(task: Task) -> dict[str, Any] | None:
    """Returns what a task that has not started waits for, a limit or its ordering key, or what ends
    the wait of a suspended one."""
    spec, held = task.spec, task.held
    if task.status is Status.WAITING and (waits := task.suspended) is not None:
        return {"run": waits.id} if waits.kind is WaitsFor.RUN else {"callback": True}
    if task.status not in TO_START:
        return None
    if held is None:
        return None
    if held == ORDERING_KEY:
        return {"ordering_key": spec.ordering_key}
    use = spec.limits[held if task.in_line else DEFERRED - held]
    return {"limit": use.name, "key": use.key or None}


def reason_of(task: Task) -> str | None:
    """Returns why a task was cancelled; a task that ended first has no reason."""
    return task.reason if task.status is Status.CANCELLED else None


def attempt_json(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "started_at": rfc3339(attempt.started_at),
        "finished_at": moment_json(attempt.finished_at),
        "outcome": attempt.outcome.value if attempt.outcome else None,
        "error": asdict(attempt.error) if attempt.error else None,
        "drift_ms": attempt.drift_ms,
    }


def error_json(task: Task) -> dict[str, Any] | None:
    """Returns the last failure of a task."""
    failed = task.last_failure
    if failed is None or failed.error is None:
        return None
    return {**asdict(failed.error), "attempt": failed.number}


def moment_json(at: Millis | None) -> str | None:
    return None if at is None else rfc3339(at)
