"""JSON of schedules."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from duetime.core.masking import masked
from duetime.core.recurrence.describe import describe
from duetime.core.recurrence.dst_notes import DstNote
from duetime.core.recurrence.rules import (
    CronRule,
    DayMatch,
    DelayRule,
    ExcludedDates,
    Exclusion,
    RateRule,
    Recurrence,
    Rule,
)
from duetime.core.schedules.fire_times import last_fired_at, runs_so_far, upcoming
from duetime.core.schedules.plan import Misfire, Plan
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.task import Spec
from duetime.core.task_json import limits_json, moment_json, on_dead_of, retry_json
from duetime.core.times import SECOND, Millis, rfc3339

log = logging.getLogger(__name__)

T = TypeVar("T")


def schedule_json(schedule: Schedule, now: Millis) -> dict[str, Any]:
    plan = schedule.plan
    return {
        "id": schedule.id,
        "status": status_of(schedule, now).value,
        **_plan(plan),
        "origin": "code" if plan.declared else "api",
        "app": plan.declared.app if plan.declared else None,
        "source": plan.declared.source if plan.declared else None,
        "version": schedule.version,
        "next_fire_at": moment_json(_next_fire(schedule, now)),
        "last_fired_at": moment_json(_or_none(schedule, lambda: last_fired_at(schedule, now))),
        "runs": _or_none(schedule, lambda: runs_so_far(schedule, now)),
        "last_error": schedule.last_error,
        "note": schedule.note,
        "paused_at": moment_json(schedule.paused_at),
        "paused_by": schedule.paused_by,
        "description": _or_none(schedule, lambda: describe(plan.recurrence)),
        "created_at": rfc3339(schedule.created_at),
        "updated_at": rfc3339(schedule.updated_at),
    }


def status_of(schedule: Schedule, now: Millis) -> ScheduleStatus:
    """The last run becomes a task before its fire time, which finishes the stored schedule. Until
    that fire time the API shows it as active."""
    if schedule.status is ScheduleStatus.FINISHED and _next_fire(schedule, now) is not None:
        return ScheduleStatus.ACTIVE
    return schedule.status


def _next_fire(schedule: Schedule, now: Millis) -> Millis | None:
    return _or_none(schedule, lambda: next(upcoming(schedule, now), None))


def dst_notes_json(notes: Sequence[DstNote]) -> list[dict[str, Any]]:
    return [{"at": rfc3339(n.at), "kind": n.kind, "note": n.note} for n in notes]


def _or_none(schedule: Schedule, read: Callable[[], T | None]) -> T | None:
    """Returns None if the rule cannot be evaluated any more: that must not hide the schedule, nor
    the others of a list."""
    try:
        return read()
    except Exception:
        fields = {"step": "request", "schedule_id": schedule.id}
        log.exception("rule not evaluated", extra=fields)
        return None


def _plan(plan: Plan) -> dict[str, Any]:
    return {
        "name": plan.name,
        **_recurrence(plan.recurrence),
        "task": _task(plan.task),
        "starts_at": moment_json(plan.starts_at),
        "ends_at": moment_json(plan.ends_at),
        "max_runs": plan.max_runs,
        "jitter": plan.jitter,
        "misfire": _misfire(plan.misfire),
        "overlap": plan.overlap.value,
        "pause_on_failure": plan.pause_on_failure,
    }


def _recurrence(recurrence: Recurrence) -> dict[str, Any]:
    rules = [_rule(rule) for rule in recurrence.rules]
    named = {"rule": rules[0]} if len(rules) == 1 else {"rules": rules}
    return {**named, "exclude": [_rule(exclusion) for exclusion in recurrence.exclude]}


def _rule(rule: Rule | Exclusion) -> dict[str, Any]:
    match rule:
        case RateRule(every=every, anchor=anchor):
            return {"type": "rate", "every": every / SECOND, "anchor": rfc3339(anchor)}
        case DelayRule(delay=delay):
            return {"type": "delay", "delay": delay / SECOND}
        case ExcludedDates(dates=dates, timezone=timezone):
            return {"type": "dates", "dates": list(dates), "timezone": timezone}
        case CronRule():
            return _cron(rule)


def _cron(rule: CronRule) -> dict[str, Any]:
    dst = {"gap": rule.gap, "overlap": rule.overlap}
    given = {name: choice.value for name, choice in dst.items() if choice is not None}
    return {
        "type": "cron",
        "expression": rule.expression,
        "timezone": rule.timezone,
        **({"seconds": rule.seconds.value} if rule.seconds else {}),
        **({"days": rule.days.value} if rule.days is not DayMatch.EITHER else {}),
        **({"dst": given} if given else {}),
    }


def _task(spec: Spec) -> dict[str, Any]:
    return {
        "target": masked(spec.target),
        "payload": spec.payload,
        "priority": spec.priority.value,
        "pool": spec.pool,
        "timeout": spec.timeout,
        "retry": retry_json(spec.retry),
        "name": spec.name,
        "namespace": spec.namespace,
        "ordering_key": spec.ordering_key,
        "on_dead": on_dead_of(spec),
        "limits": limits_json(spec.limits),
        "fairness_key": spec.fairness_key,
        "tags": spec.tags,
    }


def _misfire(misfire: Misfire) -> dict[str, Any]:
    return {
        "policy": misfire.policy.value,
        "grace": misfire.grace / SECOND,
        "window": None if misfire.window is None else misfire.window / SECOND,
        "per_minute": misfire.per_minute,
    }
