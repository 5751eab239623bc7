"""ended: what follows for a schedule when one of its runs is over.

It is a debt of the task (see lambdas.debts). Paying it twice changes nothing: whatever is done
here is done to a schedule that still names the task.
"""

from dataclasses import replace
from typing import Any

from lambdas.core.lifecycle import Status
from lambdas.core.rules import Rules
from lambdas.core.schedules.changes import Changed, pause
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus, placed
from lambdas.core.schedules.times import first
from lambdas.core.task import Task
from lambdas.core.times import Millis


def ended(rules: Rules, schedule: Schedule, task: Task, now: Millis) -> Changed | None:
    """None if nothing follows."""
    sets = _let_go(schedule, task.id) | _awaited(schedule, task) | _counted(schedule, task)
    if not sets:
        return None
    after = replace(schedule, **sets)
    if _gives_up(after):
        return pause(rules, after, now, f"{len(after.dead_runs)} runs in a row are dead")
    after = replace(after, revision=schedule.revision + 1)
    return Changed(schedule=replace(after, wake=placed(rules, after, now)))


def _let_go(schedule: Schedule, task_id: str) -> dict[str, Any]:
    named = (("active", schedule.active), ("waiting", schedule.waiting))
    return {name: None for name, there in named if there == task_id}


def _awaited(schedule: Schedule, task: Task) -> dict[str, Any]:
    """A delay counts from the end of the run, however it ended."""
    if schedule.awaited != task.id:
        return {}
    if schedule.status is ScheduleStatus.FINISHED:
        return {"awaited": None}
    next_at = first(schedule.plan, task.updated_at)
    sets: dict[str, Any] = {"awaited": None, "next_at": next_at}
    if next_at is None and schedule.status is ScheduleStatus.ACTIVE:
        sets["status"] = ScheduleStatus.FINISHED
    return sets


def _counted(schedule: Schedule, task: Task) -> dict[str, Any]:
    """Dead runs in a row; one that was cancelled neither counts nor interrupts."""
    most = schedule.plan.pause_on_failure
    if most is None:
        return {}
    if task.status is Status.SUCCEEDED:
        return {"dead_runs": ()} if schedule.dead_runs else {}
    if task.status is not Status.DEAD or task.id in schedule.dead_runs:
        return {}
    return {"dead_runs": (*schedule.dead_runs, task.id)[-most:]}


def _gives_up(schedule: Schedule) -> bool:
    most = schedule.plan.pause_on_failure
    active = schedule.status is ScheduleStatus.ACTIVE
    return active and most is not None and len(schedule.dead_runs) >= most
