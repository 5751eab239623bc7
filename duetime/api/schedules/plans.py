"""plan: what is asked for, once everything in it is known to agree."""

from typing import Any

from lambdas.api.http import FieldError, Problem, invalid
from lambdas.api.masking import unmasked
from lambdas.api.models import LATEST, read_body
from lambdas.api.schedules.bodies import ScheduleIn
from lambdas.api.schedules.task import read_template
from lambdas.api.tasks import Accepted
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.recurrence.fire_times import check
from lambdas.core.recurrence.rules import Recurrence
from lambdas.core.schedules.codec import encode_plan
from lambdas.core.schedules.plan import Misfire, Plan
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.schedules.times import first, runs_so_far
from lambdas.core.task import Spec
from lambdas.core.times import Millis

PLAN_LIMIT = 350 * 1024  # bytes; DynamoDB takes 400 KB, and a plan is not all of a schedule


def read_plan(body: Any, accepted: Accepted, now: Millis, standing: Schedule | None = None) -> Plan:
    """`standing` is the schedule that the plan is to change."""
    given = read_body(ScheduleIn, body)
    _check_bounds(given, now)
    recurrence = given.recurrence(standing.created_at if standing else now, now)
    task = _with_secrets(given.task, standing) if standing else given.task
    plan = _plan(given, recurrence, read_template(task, given.name, accepted, now))
    if standing is not None:
        _check_change(plan, standing, now)
    with given.refusing():
        check(plan.recurrence, max(now, (plan.starts_at or 0) - 1))
        if first(plan, now) is None:
            raise invalid([FieldError("ends_at", "must leave time for one run: it never fires")])
    if len(encode_plan(plan).encode()) > PLAN_LIMIT:
        detail = "All of it together must be at most 350 KiB."
        raise Problem(413, "too-large", "The schedule is too large", detail)
    return plan


def _with_secrets(task: dict[str, Any], standing: Schedule) -> dict[str, Any]:
    if "target" not in task:
        return task
    return {**task, "target": unmasked(task["target"], standing.plan.task.target)}


def _check_bounds(given: ScheduleIn, now: Millis) -> None:
    errors = []
    starts_at, ends_at = given.starts_at, given.ends_at
    if starts_at is not None and starts_at - now > LATEST:
        errors.append(FieldError("starts_at", "must be at most 10 years ahead"))
    if starts_at is not None and ends_at is not None and ends_at <= starts_at:
        errors.append(FieldError("ends_at", "must be after starts_at"))
    elif ends_at is not None and ends_at <= now:
        errors.append(FieldError("ends_at", "must be in the future"))
    if errors:
        raise invalid(errors)


def _check_change(plan: Plan, standing: Schedule, now: Millis) -> None:
    errors = []
    if plan.namespace != standing.plan.namespace:
        message = f"must stay {standing.plan.namespace!r}; make another schedule for another one"
        errors.append(FieldError("task.namespace", message))
    runs = runs_so_far(standing, now)
    if plan.max_runs is not None and plan.max_runs <= runs:
        message = f"must be more than the {runs:,} runs that it has had"
        errors.append(FieldError("max_runs", message))
    if errors:
        raise invalid(errors)


def _plan(given: ScheduleIn, recurrence: Recurrence, task: Spec) -> Plan:
    return Plan(
        recurrence=recurrence,
        task=task,
        name=given.name,
        starts_at=given.starts_at,
        ends_at=given.ends_at,
        max_runs=given.max_runs,
        jitter=given.jitter,
        misfire=given.misfire.misfire() if given.misfire else Misfire(),
        overlap=OverlapPolicy(given.overlap),
        pause_on_failure=given.pause_on_failure,
    )
