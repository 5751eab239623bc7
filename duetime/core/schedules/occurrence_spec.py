"""The spec of an occurrence's task: the schedule's template, filled in."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from duetime.core.occurrence import Occurrence, OverlapPolicy
from duetime.core.schedules.schedule import Schedule
from duetime.core.task import Spec
from duetime.core.template import OF_THE_SCHEDULE, finish, names_in, render
from duetime.core.times import Millis, rfc3339


def occurrence_spec(
    schedule: Schedule,
    fire_time: Millis,
    *,
    run_at: Millis,
    overlap: OverlapPolicy,
    version: int | None,
    jitter: float = 0.0,
    awaited: bool = False,
) -> Spec:
    """Returns the spec of a run. `version` is None for a run outside the rule. `awaited` says that
    another run waits for its end."""
    plan = schedule.plan
    names = schedule_names(schedule.id, plan.name, fire_time)
    left_open = _left_open(plan.task)
    return replace(
        plan.task,
        run_at=run_at,
        jitter=jitter,
        occurrence=Occurrence(
            schedule_id=schedule.id,
            scheduled_for=fire_time,
            version=version,
            overlap=overlap,
            has_follow_up=awaited or plan.has_follow_up(overlap),
            name=plan.name,
            open=left_open,
        ),
        name=finish(plan.task.name, names, whole=False),
        tags=finish(plan.task.tags, names, whole=False),
        **filled(plan.task, names, last=not left_open),
    )


def schedule_names(schedule_id: str, name: str | None, fire_time: Millis) -> dict[str, Any]:
    return {
        "scheduled_for": rfc3339(fire_time),
        "schedule.id": schedule_id,
        "schedule.name": name,
    }


def filled(spec: Spec, names: dict[str, Any], *, last: bool) -> dict[str, Any]:
    """Returns the fields of a task that may name the previous run. Filled in for the `last` time
    they are not templates any more; before that, names that are not given are kept."""
    fill = finish if last else render
    return {
        "payload": fill(spec.payload, names),
        "target": fill(spec.target, names, whole=takes_values(spec.target)),
    }


def takes_values(target: Any) -> bool:
    """Whether a name in a target becomes its value, not text: only the input of a workflow, which
    has no other templates."""
    return isinstance(target, Mapping) and target.get("type") == "workflow"


def _left_open(spec: Spec) -> bool:
    """Whether the task names the previous run, which is unknown until the task starts."""
    return any(found.name not in OF_THE_SCHEDULE for found in names_in([spec.payload, spec.target]))
