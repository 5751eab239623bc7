"""The task of an occurrence: the schedule's template, filled in."""

from dataclasses import replace
from typing import Any

from lambdas.core.occurrence import Occurrence, OverlapPolicy
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.task import Spec
from lambdas.core.template import OF_THE_SCHEDULE, finish, names_in, render
from lambdas.core.times import Millis, rfc3339


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
    """`version` is None for a run outside the rule. `awaited`: another run waits for its end."""
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
            owes=awaited or plan.owes(overlap),
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
    """The fields of a task that may name the previous run. What is filled in for the `last` time
    is no template any more; before that, names that are not given stay as they are."""
    fill = finish if last else render
    return {
        "payload": fill(spec.payload, names),
        "target": fill(spec.target, names, whole=False),
    }


def _left_open(spec: Spec) -> bool:
    """Whether it names the previous run, of which nothing is known before the start."""
    return any(found.name not in OF_THE_SCHEDULE for found in names_in([spec.payload, spec.target]))
