"""The ledger as the API returns it: what became of every expected fire time, and of its task."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from lambdas.api.http import FieldError, invalid
from lambdas.api.render import reason_of
from lambdas.core.lifecycle import Status
from lambdas.core.ports import Ports, TaskStore
from lambdas.core.schedules.decisions import CHANGED, MISFIRE, OVERLAP, PAUSED
from lambdas.core.schedules.history import Place, history, place_of
from lambdas.core.schedules.ledger import Expected, LedgerRow, just_after
from lambdas.core.task import Task
from lambdas.core.times import Millis, rfc3339

_NEVER_RAN: Mapping[str | None, Expected] = {
    OVERLAP: Expected.SKIPPED_OVERLAP,
    MISFIRE: Expected.SKIPPED_MISFIRE,
    PAUSED: Expected.PAUSED,
}


def ledger_page(
    ports: Ports, schedule_id: str, limit: int, cursor: str | None
) -> tuple[list[dict[str, Any]], str | None]:
    """What is put ahead of its time has a row too, which is nobody's business before that."""
    place = _place(cursor) if cursor else Place(just_after(ports.clock.now()))
    told = history(lambda below, most: ports.schedules.ledger(schedule_id, below, most), place)
    found = list(islice(told, limit + 1))
    rows = [one.row for one in found[:limit]]
    tasks = ports.store.get([row.task_id for row in rows if row.task_id])
    known = [(row, tasks.get(row.task_id or "")) for row in rows]
    items = [_row(ports.store, row, task) for row, task in known if not _dropped(row, task)]
    return items, found[limit - 1].place.cursor() if len(found) > limit else None


def _place(cursor: str) -> Place:
    try:
        return place_of(cursor)
    except ValueError as error:
        raise invalid([FieldError("cursor", str(error))]) from None


def _row(store: TaskStore, row: LedgerRow, task: Task | None) -> dict[str, Any]:
    started_at = _first_start(store, task) if task else None
    told = {
        "fire_time": rfc3339(row.fire_time),
        "outcome": _outcome(row, task).value,
        "late_ms": None if started_at is None else started_at - row.fire_time,
        "task_id": row.task_id,
        "task_status": task.status.value if task else None,
    }
    more = {
        "reason": reason_of(task) if task else None,
        "backfill": row.backfill,
        "error": row.error,
    }
    return told | {name: text for name, text in more.items() if text}


def _outcome(row: LedgerRow, task: Task | None) -> Expected:
    """A run may have been put and then held back: only its task tells."""
    if task is None or task.status is not Status.CANCELLED or task.attempt > 0:
        return row.outcome
    return _NEVER_RAN.get(task.reason, row.outcome)


def _dropped(row: LedgerRow, task: Task | None) -> bool:
    """By a change of the schedule, ahead of its time: nobody expects that fire time any more."""
    if task is None or task.attempt > 0 or reason_of(task) != CHANGED:
        return False
    return row.fire_time > task.updated_at


def _first_start(store: TaskStore, task: Task) -> Millis | None:
    if task.attempt == 0:
        return None
    near = (task.current, task.previous)
    first = next((a for a in near if a is not None and a.number == 1), None)
    if first is None:
        first = next(iter(store.attempts(task.id)), None)
    return None if first is None else first.started_at
