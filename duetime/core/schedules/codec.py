"""The text form of schedules and ledger entries, the same in every backend.

No condition reads these texts: a schedule is replaced as a whole, by its revision.
"""

from dataclasses import fields
from typing import Any

from duetime.core.codec import decode_spec, encode_spec, from_json, to_json
from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.codec import decode_recurrence, encode_recurrence
from duetime.core.schedules.ledger import Entry, LedgerOutcome, LedgerRow, LedgerSpan
from duetime.core.schedules.plan import Declared, Misfire, MisfirePolicy, Plan
from duetime.core.schedules.schedule import Schedule, Span

_APART = ("recurrence", "task", "misfire", "declared")
_PLAN_DEFAULTS = [(f.name, f.default) for f in fields(Plan) if f.name not in _APART]
# The fields that are written as one text; the others have columns of their own, or are in the plan.
_STATE = (
    "since",
    "put_at",
    "runs",
    "active",
    "active_since",
    "waiting",
    "awaited",
    "dead_runs",
    "settled_until",
    "note",
    "paused_at",
    "paused_by",
    "last_error",
)
_STATE_DEFAULTS = [(f.name, f.default) for f in fields(Schedule) if f.name in _STATE]


def encode_plan(plan: Plan) -> str:
    body: dict[str, Any] = {
        "recurrence": encode_recurrence(plan.recurrence),
        "task": encode_spec(plan.task),
    }
    body |= _given(plan, _PLAN_DEFAULTS)
    if plan.misfire != Misfire():
        body["misfire"] = [getattr(plan.misfire, f.name) for f in fields(Misfire)]
    if plan.declared:
        body["declared"] = [getattr(plan.declared, f.name) for f in fields(Declared)]
    return to_json(body)


def decode_plan(text: str) -> Plan:
    body = from_json(text)
    body["recurrence"] = decode_recurrence(body["recurrence"])
    body["task"] = decode_spec(body["task"])
    if "overlap" in body:
        body["overlap"] = OverlapPolicy(body["overlap"])
    if "misfire" in body:
        policy, grace, window, per_minute = body["misfire"]
        body["misfire"] = Misfire(
            policy=MisfirePolicy(policy), grace=grace, window=window, per_minute=per_minute
        )
    if "declared" in body:
        names = (f.name for f in fields(Declared))
        body["declared"] = Declared(**dict(zip(names, body["declared"], strict=True)))
    return Plan(**body)


def encode_state(schedule: Schedule) -> str:
    body = _given(schedule, _STATE_DEFAULTS)
    if schedule.spans:
        body["spans"] = [[getattr(s, f.name) for f in fields(Span)] for s in schedule.spans]
    return to_json(body)


def decode_state(text: str) -> dict[str, Any]:
    """Returns the fields of a schedule that `encode_state` wrote."""
    body = from_json(text)
    if isinstance(body.get("waiting"), str):  # by a release in which only one run could wait
        body["waiting"] = [body["waiting"]]
    for name in ("put_at", "dead_runs", "waiting"):
        if name in body:
            body[name] = tuple(body[name])
    if "spans" in body:
        body["spans"] = tuple(_span(*written) for written in body["spans"])
    return {**body}


def encode_entry(entry: Entry) -> str:
    """Returns what the schedule id and the key of an entry do not say."""
    if isinstance(entry, LedgerSpan):
        return to_json([entry.start, entry.outcome, encode_recurrence(entry.recurrence)])
    return to_json([entry.version, entry.outcome, entry.task_id, entry.error])


def decode_entry(schedule_id: str, key: str, text: str) -> Entry:
    at, kind, *backfill = key.split("#")
    if kind == "0":
        start, outcome, recurrence = from_json(text)
        return LedgerSpan(
            schedule_id=schedule_id,
            start=start,
            until=int(at),
            outcome=LedgerOutcome(outcome),
            recurrence=decode_recurrence(recurrence),
        )
    version, outcome, task_id, error = from_json(text)
    return LedgerRow(
        schedule_id=schedule_id,
        fire_time=int(at),
        version=version,
        outcome=LedgerOutcome(outcome),
        task_id=task_id,
        backfill=backfill[0],
        error=error,
    )


def _given(value: Plan | Schedule, defaults: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: given for name, default in defaults if (given := getattr(value, name)) != default}


def _span(
    span_id: str,
    next_at: int,
    until: int,
    due_at: int,
    interval: int,
    overlap: str,
    running: str | None = None,  # not written by releases without serial spans
) -> Span:
    return Span(
        id=span_id,
        next_at=next_at,
        until=until,
        due_at=due_at,
        interval=interval,
        overlap=OverlapPolicy(overlap),
        running=running,
    )
