"""ended: what follows for a schedule when one of its runs is over.

It is a debt of the task (see lambdas.debts). Paying it twice changes nothing: whatever is done
here is done to a schedule that still names the task.
"""

from dataclasses import replace
from typing import Any

from lambdas.core.lifecycle import Status
from lambdas.core.rules import Rules
from lambdas.core.schedules.changes import Changed, pause
from lambdas.core.schedules.ledger import Expected, LedgerRow
from lambdas.core.schedules.plan import Plan
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus, placed
from lambdas.core.schedules.times import first, latest
from lambdas.core.task import Task
from lambdas.core.times import Millis


def ended(rules: Rules, schedule: Schedule, task: Task, now: Millis) -> Changed | None:
    """None if nothing follows."""
    sets = _let_go(schedule, task, now) | _awaited(schedule, task) | _counted(schedule, task)
    if not sets:
        return None
    after = replace(schedule, **sets)
    notes = (_fired(schedule, task),) if _is_due(schedule, task) else ()
    if _gives_up(after):
        changed = pause(rules, after, now, f"{len(after.dead_runs)} runs in a row are dead")
        return replace(changed, notes=(*notes, *changed.notes))
    after = replace(after, revision=schedule.revision + 1)
    return Changed(schedule=replace(after, wake=placed(rules, after, now)), notes=notes)


def waits_for(schedule: Schedule, task_id: str) -> bool:
    """Whether another run of the schedule can go on once this one has ended."""
    in_line = schedule.active == task_id and bool(schedule.waiting)
    return in_line or any(span.running == task_id for span in schedule.spans)


def _let_go(schedule: Schedule, task: Task, now: Millis) -> dict[str, Any]:
    sets: dict[str, Any] = {}
    if schedule.active == task.id:
        sets |= {"active": None, "active_since": None}
    if task.id in schedule.waiting:
        sets["waiting"] = tuple(i for i in schedule.waiting if i != task.id)
    if any(span.running == task.id for span in schedule.spans):
        sets["spans"] = tuple(
            span.freed(task, now) if span.running == task.id else span for span in schedule.spans
        )
    return sets


def _awaited(schedule: Schedule, task: Task) -> dict[str, Any]:
    """A delay counts from the end of the run, however it ended."""
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
    """After the fire time of the run itself: one that was cancelled ahead of its time, perhaps by
    somebody whose clock lags, would else be put again, and be found over."""
    again = _fire_time(task) - (plan.delay or 0)
    return first(plan, max(task.updated_at, again + 1))


def _is_due(schedule: Schedule, task: Task) -> bool:
    """Whether the schedule is still about to put this very run: who did put it was cut off, or
    got no answer. Were its end passed over now, the schedule would come to await it for ever."""
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
        outcome=Expected.FIRED,
        task_id=task.id,
    )


def _fire_time(task: Task) -> Millis:
    return task.spec.occurrence.scheduled_for if task.spec.occurrence else task.spec.run_at


def _counted(schedule: Schedule, task: Task) -> dict[str, Any]:
    """Dead runs in a row; one that was cancelled neither counts nor interrupts. Nor does one that
    was over before the schedule was resumed: it may have been counted, and is not counted twice."""
    most = schedule.plan.pause_on_failure
    if most is None or task.updated_at < schedule.since:
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
