"""The task of an occurrence: the schedule's template, filled in."""

from dataclasses import replace

from lambdas.core.occurrence import Occurrence, OverlapPolicy
from lambdas.core.schedules.filled import made
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.task import Spec
from lambdas.core.times import Millis


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
    occurrence = Occurrence(
        schedule_id=schedule.id,
        scheduled_for=fire_time,
        version=version,
        overlap=overlap,
        owes=plan.owes(overlap),
        name=plan.name,
    )
    return replace(made(plan.task, occurrence), run_at=run_at, jitter=jitter)
