"""The task of an occurrence: the schedule's template, filled in."""

from dataclasses import replace
from typing import Any

from lambdas.core.occurrence import Occurrence, OverlapPolicy
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.task import Spec
from lambdas.core.template import render
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
    """`version` is None for a run outside the rule. Names of the previous run stay as they are
    until it starts."""
    plan = schedule.plan
    names = {
        "scheduled_for": rfc3339(fire_time),
        "schedule.id": schedule.id,
        "schedule.name": plan.name,
    }
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
        ),
        **filled(plan.task, names),
    )


def filled(spec: Spec, names: dict[str, Any]) -> dict[str, Any]:
    """The fields of a task that may be templates."""
    return {
        "target": render(spec.target, names),
        "payload": render(spec.payload, names),
        "name": render(spec.name, names),
        "tags": render(spec.tags, names),
    }
