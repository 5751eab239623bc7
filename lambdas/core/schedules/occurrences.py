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
) -> Spec:
    """`version` is None for a run outside the rule."""
    plan = schedule.plan
    names = {
        "scheduled_for": rfc3339(fire_time),
        "schedule.id": schedule.id,
        "schedule.name": plan.name,
    }
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
            owes=plan.owes(overlap),
            name=plan.name,
            open=left_open,
        ),
        **filled(plan.task, names, last=not left_open),
    )


def filled(spec: Spec, names: dict[str, Any], *, last: bool) -> dict[str, Any]:
    """The fields of a task that may be templates. What is filled in for the `last` time is no
    template any more; before that, names that are not given stay as they are."""
    fill = finish if last else render
    return {
        "payload": fill(spec.payload, names),
        "target": fill(spec.target, names, whole=False),
        "name": fill(spec.name, names, whole=False),
        "tags": fill(spec.tags, names, whole=False),
    }


def _left_open(spec: Spec) -> bool:
    """Whether it names the previous run, of which nothing is known before the start."""
    templates = [spec.payload, spec.target, spec.name, spec.tags]
    return any(found.name not in OF_THE_SCHEDULE for found in names_in(templates))
