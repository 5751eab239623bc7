"""Future and past fire times: upcoming, preview and the ledger."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from duetime.api.http import FieldError, Request, Response, invalid
from duetime.api.paging import JsonPage, list_response, refusing_bad_cursors
from duetime.api.query import Query
from duetime.api.schedules.models import PreviewIn
from duetime.api.schedules.views import dst_notes_json
from duetime.api.schedules.writer import ScheduleWriter, evaluating
from duetime.api.task_models import read_body
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports, TaskStore
from duetime.core.recurrence.describe import describe
from duetime.core.recurrence.dst_notes import find_dst_notes
from duetime.core.recurrence.fire_times import check, fire_times
from duetime.core.recurrence.rules import DelayRule, Recurrence
from duetime.core.schedules.fire_times import upcoming
from duetime.core.schedules.ledger import NEVER_RAN, LedgerOutcome, LedgerRow, just_after
from duetime.core.schedules.ledger_history import Place, history, place_of
from duetime.core.schedules.start_decisions import CHANGED
from duetime.core.task import MAX_AHEAD, Task
from duetime.core.task_json import reason_of
from duetime.core.times import Millis, rfc3339
from duetime.core.value import value

DEFAULT_COUNT, MAX_COUNT = 10, 100  # of upcoming fire times


def ledger_page(ports: Ports, schedule_id: str, limit: int, cursor: str | None) -> JsonPage:
    """Returns the fire times up to now. A run that is put ahead of its fire time has a row too,
    which the ledger does not show before that time."""
    with refusing_bad_cursors():
        place = place_of(cursor) if cursor else Place(just_after(ports.clock.now()))
    entries = history(lambda below, most: ports.schedules.ledger(schedule_id, below, most), place)
    found = list(islice(entries, limit + 1))
    rows = [entry.row for entry in found[:limit]]
    tasks = ports.store.get([row.task_id for row in rows if row.task_id])
    known = [(row, tasks.get(row.task_id or "")) for row in rows]
    items = [_row(ports.store, row, task) for row, task in known if not _dropped(row, task)]
    return items, found[limit - 1].place.cursor() if len(found) > limit else None


def _row(store: TaskStore, row: LedgerRow, task: Task | None) -> dict[str, Any]:
    started_at = _first_start(store, task) if task else None
    fields = {
        "fire_time": rfc3339(row.fire_time),
        "outcome": _outcome(row, task).value,
        "late_ms": None if started_at is None else started_at - row.fire_time,
        "task_id": row.task_id,
        "task_status": task.status.value if task else None,
    }
    optional = {
        "reason": reason_of(task) if task else None,
        "backfill": row.backfill,
        "error": row.error,
    }
    return fields | {name: text for name, text in optional.items() if text}


def _outcome(row: LedgerRow, task: Task | None) -> LedgerOutcome:
    """A run may have been put and then cancelled before it started: only its task knows."""
    if task is None or task.status is not Status.CANCELLED or task.attempt > 0:
        return row.outcome
    return NEVER_RAN.get(task.reason, row.outcome)


def _dropped(row: LedgerRow, task: Task | None) -> bool:
    """Whether a change of the schedule dropped this fire time before it came."""
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


@value(frozen=True, slots=True)
class ScheduleHistory:
    ports: Ports
    writer: ScheduleWriter

    def upcoming(self, request: Request, parameters: Mapping[str, str]) -> Response:
        query = Query(request)
        count = query.number("count", DEFAULT_COUNT)
        query.done()
        if not 1 <= count <= MAX_COUNT:
            raise invalid([FieldError("count", f"must be from 1 to {MAX_COUNT}")])
        schedule = self.writer.find(parameters["id"])
        now = self.ports.clock.now()
        with evaluating(schedule):
            times = list(islice(upcoming(schedule, now), count))
            return Response(status=200, body=_upcoming_json(schedule.plan.recurrence, now, times))

    def ledger(self, request: Request, parameters: Mapping[str, str]) -> Response:
        query = Query(request)
        limit, cursor = query.limit(), query.text("cursor")
        query.done()
        schedule = self.writer.find(parameters["id"])
        with evaluating(schedule):
            return list_response(*ledger_page(self.ports, schedule.id, limit, cursor))

    def preview(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        body = read_body(PreviewIn, request.json())
        now = self.ports.clock.now()
        after = now if body.after is None else body.after
        if after - now > MAX_AHEAD:
            raise invalid([FieldError("after", "must be at most 10 years ahead")])
        recurrence = body.recurrence(now, now)
        with body.refusing_bad_rules():
            check(recurrence, after)
            times = list(islice(_fire_times(recurrence, after), body.count))
        upcoming = _upcoming_json(recurrence, after, times)
        return Response(status=200, body={**upcoming, "description": describe(recurrence)})


def _fire_times(recurrence: Recurrence, after: Millis) -> Iterator[Millis]:
    """For a delay only the first fire time is known, as if a run had just ended."""
    rule = recurrence.rules[0]
    if isinstance(rule, DelayRule):
        return iter([after + rule.delay])
    return fire_times(recurrence, after)


def _upcoming_json(
    recurrence: Recurrence, after: Millis, times: Sequence[Millis]
) -> dict[str, Any]:
    notes = find_dst_notes(recurrence, after, times[-1]) if times else []
    return {
        "fire_times": [rfc3339(at) for at in times],
        "daylight_saving": dst_notes_json(notes),
    }
