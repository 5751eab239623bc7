"""Schedules as the API returns them."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from lambdas.api.masking import masked
from lambdas.api.render import moment_json, retry_json
from lambdas.core.recurrence.rules import (
    CronRule,
    DayMatch,
    DelayRule,
    ExcludedDates,
    Exclusion,
    RateRule,
    Recurrence,
    Rule,
)
from lambdas.core.recurrence.told import Touch, describe
from lambdas.core.schedules.plan import Misfire, Plan
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus
from lambdas.core.schedules.times import last_fired_at, runs_so_far, upcoming
from lambdas.core.task import Spec
from lambdas.core.times import SECOND, Millis, rfc3339

log = logging.getLogger(__name__)

Told = TypeVar("Told")


def schedule_json(schedule: Schedule, now: Millis) -> dict[str, Any]:
    plan = schedule.plan
    return {
        "id": schedule.id,
        "status": status_of(schedule, now).value,
        **_plan(plan),
        "version": schedule.version,
        "next_fire_at": moment_json(_next_fire(schedule, now)),
        "last_fired_at": moment_json(_told(schedule, lambda: last_fired_at(schedule, now))),
        "runs": _told(schedule, lambda: runs_so_far(schedule, now)),
        "last_error": schedule.last_error,
        "note": schedule.note,
        "description": _told(schedule, lambda: describe(plan.recurrence)),
        "created_at": rfc3339(schedule.created_at),
        "updated_at": rfc3339(schedule.updated_at),
    }


def status_of(schedule: Schedule, now: Millis) -> ScheduleStatus:
    """Its last run is a task before its time has come; until then it is not finished for anybody
    who waits for it."""
    if schedule.status is ScheduleStatus.FINISHED and _next_fire(schedule, now) is not None:
        return ScheduleStatus.ACTIVE
    return schedule.status


def _next_fire(schedule: Schedule, now: Millis) -> Millis | None:
    return _told(schedule, lambda: next(upcoming(schedule, now), None))


def touch_json(touches: Sequence[Touch]) -> list[dict[str, Any]]:
    return [{"at": rfc3339(t.at), "kind": t.kind, "note": t.note} for t in touches]


def _told(schedule: Schedule, ask: Callable[[], Told | None]) -> Told | None:
    """A rule that cannot be evaluated any more must not hide its schedule, nor the others of a
    list."""
    try:
        return ask()
    except Exception:
        log.exception("a rule cannot be evaluated", extra={"schedule_id": schedule.id})
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
        "timeout": spec.timeout,
        "retry": retry_json(spec.retry),
        "name": spec.name,
        "namespace": spec.namespace,
        "ordering_key": spec.ordering_key,
        "tags": spec.tags,
    }


def _misfire(misfire: Misfire) -> dict[str, Any]:
    return {
        "policy": misfire.policy.value,
        "grace": misfire.grace / SECOND,
        "window": None if misfire.window is None else misfire.window / SECOND,
        "per_minute": misfire.per_minute,
    }
