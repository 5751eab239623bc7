"""How a schedule changes when one of its runs has ended.

This is the decision behind a follow-up (see duetime.engine.followups). Applying it twice changes
nothing: each part of it changes only a schedule that still names the task.
"""

from dataclasses import replace
from typing import Any

from duetime.core.lifecycle import Status
from duetime.core.schedules.changes import Changed, pause
from duetime.core.schedules.fire_times import first, latest
from duetime.core.schedules.ledger import LedgerOutcome, LedgerRow
from duetime.core.schedules.plan import Plan
from duetime.core.schedules.schedule import Schedule, ScheduleStatus, next_wake
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.wake_policy import WakePolicy


def schedule_after_run(
    wake_policy: WakePolicy, schedule: Schedule, task: Task, now: Millis
) -> Changed | None:
    """Returns the schedule after the end of a run; None if the schedule does not change."""
    sets = (
        _without_task(schedule, task, now) | _set_next(schedule, task) | _count_dead(schedule, task)
    )
    if not sets:
        return None
    after = replace(schedule, **sets)
    ledger_entries = (_fired(schedule, task),) if _is_due(schedule, task) else ()
    if _must_pause(after):
        changed = pause(wake_policy, after, now, f"{len(after.dead_runs)} runs in a row are dead")
        return replace(changed, ledger_entries=(*ledger_entries, *changed.ledger_entries))
    after = replace(after, revision=schedule.revision + 1)
    return Changed(
        schedule=replace(after, wake=next_wake(wake_policy, after, now)),
        ledger_entries=ledger_entries,
    )


def waits_for(schedule: Schedule, task_id: str) -> bool:
    """Whether another run of the schedule waits for the end of this one."""
    in_line = schedule.active == task_id and bool(schedule.waiting)
    return in_line or any(span.running == task_id for span in schedule.spans)


def _without_task(schedule: Schedule, task: Task, now: Millis) -> dict[str, Any]:
    sets: dict[str, Any] = {}
    if schedule.active == task.id:
        sets |= {"active": None, "active_since": None}
    if task.id in schedule.waiting:
        sets["waiting"] = tuple(i for i in schedule.waiting if i != task.id)
    if any(span.running == task.id for span in schedule.spans):
        sets["spans"] = tuple(
            span.without_run(task, now) if span.running == task.id else span
            for span in schedule.spans
        )
    return sets


def _set_next(schedule: Schedule, task: Task) -> dict[str, Any]:
    """Sets the next fire time of a delay, which counts from the end of the run. How the run ended
    does not matter."""
    if schedule.awaited == task.id:
        sets: dict[str, Any] = {"awaited": None}
    elif _is_due(schedule, task):
        sets = {"runs": schedule.runs + 1, "put_at": latest(schedule, [_fire_time(task)])}
    else:
        return {}
    if schedule.status is ScheduleStatus.FINISHED:
        return sets
    most = schedule.plan.max_runs
    runs_out = most is not None and sets.get("runs", schedule.runs) >= most
    sets["next_at"] = None if runs_out else _next(schedule.plan, task)
    if sets["next_at"] is None and schedule.status is ScheduleStatus.ACTIVE:
        sets["status"] = ScheduleStatus.FINISHED
    return sets


def _next(plan: Plan, task: Task) -> Millis | None:
    """Returns the next fire time of a delay, which is after the fire time of the run itself. A run
    that was cancelled before its fire time, perhaps by a role with a slow clock, would otherwise
    be put again under the same id, and be found ended."""
    again = _fire_time(task) - (plan.delay or 0)
    return first(plan, max(task.updated_at, again + 1))


def _is_due(schedule: Schedule, task: Task) -> bool:
    """Whether the schedule has not recorded that this run was put: the role that put it was cut
    off, or got no answer. If the end of the run were ignored now, the schedule would put the run
    again and await its end forever."""
    occurrence = task.spec.occurrence
    return (
        schedule.plan.delay is not None
        and schedule.awaited is None
        and occurrence is not None
        and (occurrence.version, occurrence.scheduled_for) == (schedule.version, schedule.next_at)
    )


def _fired(schedule: Schedule, task: Task) -> LedgerRow:
    return LedgerRow(
        schedule_id=schedule.id,
        fire_time=_fire_time(task),
        version=schedule.version,
        outcome=LedgerOutcome.FIRED,
        task_id=task.id,
    )


def _fire_time(task: Task) -> Millis:
    return task.spec.occurrence.scheduled_for if task.spec.occurrence else task.spec.run_at


def _count_dead(schedule: Schedule, task: Task) -> dict[str, Any]:
    """Counts dead runs in a row. A cancelled run neither counts nor resets the count. Nor does a
    run that ended before the schedule was resumed: it may have been counted already."""
    most = schedule.plan.pause_on_failure
    if most is None or task.updated_at < schedule.since:
        return {}
    if task.status is Status.SUCCEEDED:
        return {"dead_runs": ()} if schedule.dead_runs else {}
    if task.status is not Status.DEAD or task.id in schedule.dead_runs:
        return {}
    return {"dead_runs": (*schedule.dead_runs, task.id)[-most:]}


def _must_pause(schedule: Schedule) -> bool:
    most = schedule.plan.pause_on_failure
    active = schedule.status is ScheduleStatus.ACTIVE
    return active and most is not None and len(schedule.dead_runs) >= most
