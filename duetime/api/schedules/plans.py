"""Plans: a submitted schedule, after checking that its fields agree."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from duetime.api.capabilities import Capabilities
from duetime.api.http import FieldError, Problem, invalid, problem_of
from duetime.api.schedules.models import ScheduleIn
from duetime.api.task_models import (
    TARGET_LIMIT,
    is_large,
    read_body,
    stored_size,
)
from duetime.core.masking import unmasked
from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.fire_times import check
from duetime.core.recurrence.rules import Recurrence
from duetime.core.schedules.codec import encode_plan
from duetime.core.schedules.fire_times import first, runs_so_far
from duetime.core.schedules.occurrence_spec import schedule_names, takes_values
from duetime.core.schedules.plan import Misfire, Plan
from duetime.core.schedules.schedule import Schedule
from duetime.core.secrets import references_in
from duetime.core.task import MAX_AHEAD, Spec
from duetime.core.template import OF_THE_SCHEDULE, BadTemplate, check_names, finish, names_in
from duetime.core.times import Millis
from duetime.engine.large_payloads import NO_ROOM, payload_too_large
from duetime.engine.limit_check import limit_errors

PLAN_LIMIT = 350 * 1024  # bytes; DynamoDB takes 400 KB, and a plan is not all of a schedule
INSTEAD: Mapping[str, str] = {
    "run_at": "the rule says when; for the first time use starts_at of the schedule",
    "delay": "the rule says when: use a rule of type delay, or starts_at of the schedule",
    "expires_at": "use misfire (grace, window) or ends_at of the schedule",
    "jitter": "use jitter of the schedule",
    "idempotency_key": "every fire time is one task; for the schedule itself use the header",
    "id": "every fire time gets an id of its own",
    "unique": "use overlap of the schedule",
}
# The fields of a target that cannot be templates. Types that are not here have no templates at all.
FIXED_FIELDS: Mapping[Any, Sequence[str]] = {
    "http": ("type", "method"),
    "python": ("type", "handler"),
    "workflow": ("type", "workflow"),
}
SAMPLE = "1"  # valid as a host, a port, a path and any text


def read_template(
    body: Mapping[str, Any], name: str | None, capabilities: Capabilities, now: Millis
) -> Spec:
    """Stores the templates as they are, and checks the task that they would become. The defaults of
    its handler become a part of it."""
    body = capabilities.with_defaults(body)
    if misplaced := [FieldError(f"task.{n}", why) for n, why in INSTEAD.items() if n in body]:
        raise invalid(misplaced)
    try:
        _check_names(body)
        task = capabilities.read(_filled(body, name, now))
        spec = task.spec(now)
        _check_payload(spec.payload)
        if spec.limits and (errors := limit_errors(capabilities.limits, spec)):
            raise invalid(errors)
        return _with_templates(spec, body)
    except BadTemplate as bad:
        raise invalid([FieldError(f"task.{bad.path}", bad.reason)]) from None
    except Problem as problem:
        raise _under_task(problem) from None


def _under_task(problem: Problem) -> Problem:
    """Returns the same problem with its fields under `task`."""
    errors = [FieldError(f"task.{e['field']}", e["message"]) for e in problem.body["errors"]]
    kind = problem.body["type"].rpartition(":")[2]
    return Problem(problem.status, kind, problem.body["title"], errors=errors)


def _check_names(body: Mapping[str, Any]) -> None:
    check_names({part: body.get(part) for part in ("target", "payload")})
    check_names({part: body.get(part) for part in ("name", "tags")}, OF_THE_SCHEDULE)
    target = body.get("target")
    if not isinstance(target, dict):
        return
    # What such a target acts on, and an SQL statement, must be what was checked and allowed.
    kind = target.get("type")
    fields = FIXED_FIELDS.get(kind if isinstance(kind, str) else "", tuple(target))
    fixed = [f"target.{field}" for field in fields if any(names_in(target.get(field)))]
    fixed += [path for path, name in references_in(target) if any(names_in(name))]
    if fixed:
        raise BadTemplate(fixed[0], "cannot be a template")


def _filled(body: Mapping[str, Any], name: str | None, now: Millis) -> dict[str, Any]:
    """Fills in the names of the schedule with their real length, and the others with a sample."""
    names = dict.fromkeys(_names(body), SAMPLE) | schedule_names("0" * 26, name, now)
    whole = {"payload": True, "target": takes_values(body.get("target"))}
    filled = {
        part: finish(body[part], names, whole=whole.get(part, False))
        for part in ("target", "payload", "name", "tags")
        if part in body
    }
    return {**body, **filled}


def _names(body: Mapping[str, Any]) -> Iterator[str]:
    return (name for part in ("target", "payload") for _, name in names_in(body.get(part)))


def _with_templates(spec: Spec, body: Mapping[str, Any]) -> Spec:
    target = {field: body["target"].get(field, value) for field, value in spec.target.items()}
    kept = replace(
        spec,
        target=target,
        payload=body.get("payload"),
        name=body.get("name"),
        tags=body.get("tags", {}),
    )
    if stored_size(kept.target) > TARGET_LIMIT:
        raise invalid([FieldError("target", "must be at most 16 KiB")])
    _check_payload(kept.payload)
    return kept


def _check_payload(payload: Any) -> None:
    if is_large(payload):
        raise problem_of(payload_too_large(NO_ROOM))


def read_plan(
    body: Any, capabilities: Capabilities, now: Millis, current: Schedule | None = None
) -> Plan:
    """`current` is the schedule that the plan is to change."""
    given = read_body(ScheduleIn, body)
    _check_bounds(given, now)
    plan = _unchecked_plan(given, capabilities, now, current)
    check_order(plan.task, plan.overlap)
    if current is not None:
        _check_change(plan, current, now)
    with given.refusing_bad_rules():
        check(plan.recurrence, max(now, (plan.starts_at or 0) - 1))
        if first(plan, now) is None:
            raise invalid([FieldError("ends_at", "must leave time for one run: it never fires")])
    if len(encode_plan(plan).encode()) > PLAN_LIMIT:
        detail = "All of it together must be at most 350 KiB."
        raise Problem(413, "too-large", "The schedule is too large", detail)
    return plan


def check_order(task: Spec, overlap: OverlapPolicy) -> None:
    """Refuses runs that may overlap and still have to start one after another."""
    if task.ordering_key is not None and overlap is OverlapPolicy.ALLOW:
        message = "must not be allow: tasks with an ordering_key run one after another"
        raise invalid([FieldError("overlap", message)])


def has_plan(current: Schedule, body: Any, capabilities: Capabilities, now: Millis) -> bool:
    """Whether a body describes the schedule as it is. What was checked when it was stored need not
    hold any more: its end may have passed."""
    plan = _unchecked_plan(read_body(ScheduleIn, body), capabilities, now, current)
    stored = current.plan
    # The run_at of a template is when it was read, and is not used.
    return replace(plan, task=replace(plan.task, run_at=stored.task.run_at)) == stored


def _unchecked_plan(
    given: ScheduleIn, capabilities: Capabilities, now: Millis, current: Schedule | None
) -> Plan:
    recurrence = given.recurrence(current.created_at if current else now, now)
    task = _with_secrets(given.task, current) if current else given.task
    return _plan(given, recurrence, read_template(task, given.name, capabilities, now))


def _with_secrets(task: dict[str, Any], current: Schedule) -> dict[str, Any]:
    if "target" not in task:
        return task
    return {**task, "target": unmasked(task["target"], current.plan.task.target)}


def _check_bounds(given: ScheduleIn, now: Millis) -> None:
    errors = []
    starts_at, ends_at = given.starts_at, given.ends_at
    if starts_at is not None and starts_at - now > MAX_AHEAD:
        errors.append(FieldError("starts_at", "must be at most 10 years ahead"))
    if starts_at is not None and ends_at is not None and ends_at <= starts_at:
        errors.append(FieldError("ends_at", "must be after starts_at"))
    elif ends_at is not None and ends_at <= now:
        errors.append(FieldError("ends_at", "must be in the future"))
    if errors:
        raise invalid(errors)


def _check_change(plan: Plan, current: Schedule, now: Millis) -> None:
    errors = []
    if plan.namespace != current.plan.namespace:
        message = (
            f"must stay {current.plan.namespace!r}; create a new schedule for another namespace"
        )
        errors.append(FieldError("task.namespace", message))
    runs = runs_so_far(current, now)
    if plan.max_runs is not None and plan.max_runs <= runs:
        message = f"must be more than the {runs:,} runs so far"
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
