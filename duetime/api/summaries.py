"""JSON of a task in a list of summaries: what a row of a table shows. None of it is long."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from duetime.core.masking import masked
from duetime.core.task import Task
from duetime.core.task_json import moment_json, reason_of, waiting_for_json
from duetime.core.times import rfc3339

MAX_MESSAGE = 200  # characters of an error's message
TARGET_FIELDS = ("type", "handler", "method", "url")


def summary_json(task: Task) -> dict[str, Any]:
    spec, current, occurrence = task.spec, task.current, task.spec.occurrence
    return {
        "id": task.id,
        "status": task.status.value,
        "name": spec.name,
        "namespace": spec.namespace,
        "target": _target(masked(spec.target)),
        "run_at": rfc3339(spec.run_at),
        "due_at": rfc3339(task.due_at),
        "priority": spec.priority.value,
        "lane": task.lane.value,
        "promoted_at": moment_json(task.promoted.at if task.promoted else None),
        "pool": spec.pool,
        "waiting_for": waiting_for_json(task),
        "tags": spec.tags,
        "attempt": task.attempt,
        "max_attempts": spec.retry.max_attempts,
        "created_at": rfc3339(task.created_at),
        "updated_at": rfc3339(task.updated_at),
        "started_at": moment_json(current.started_at if current else None),
        "finished_at": moment_json(task.finished_at),
        "drift_ms": current.drift_ms if current else None,
        "progress": asdict(task.progress) if task.progress else None,
        "error": _error(task),
        "cancel_requested": task.cancel_requested,
        "reason": reason_of(task),
        "schedule_id": occurrence.schedule_id if occurrence else None,
        "scheduled_for": moment_json(occurrence.scheduled_for if occurrence else None),
        "parent_id": spec.parent_id,
    }


def _target(target: Mapping[str, Any]) -> dict[str, Any]:
    return {name: target[name] for name in TARGET_FIELDS if name in target}


def _error(task: Task) -> dict[str, Any] | None:
    failed = task.last_failure
    if failed is None or failed.error is None:
        return None
    message = failed.error.message[:MAX_MESSAGE]
    return {"type": failed.error.type, "message": message, "attempt": failed.number}
