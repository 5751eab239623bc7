"""What a sync does to one schedule: create it, change it, leave it alone, or pause it.

Each change is one write of the schedule's row. What a person has paused stays paused.
"""

from dataclasses import replace
from enum import StrEnum

from duetime.core.schedules.apps import Superseded
from duetime.core.schedules.changes import Changed, change, pause, resume
from duetime.core.schedules.fire_times import upcoming
from duetime.core.schedules.plan import Declared, Plan
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.times import Millis
from duetime.core.wake_policy import WakePolicy


class Action(StrEnum):
    CREATE = "create"
    CHANGE = "change"
    SAME = "same"
    DETACHED = "detached"  # a request has made it an ordinary schedule: the sync leaves it alone
    REMOVED = "removed"  # not in the code any more: it is paused
    PRUNED = "pruned"  # not in the code any more: it is deleted


def decide(stored: Schedule | None, wanted: Declared) -> Action:
    """Returns what to do for a declaration. Raises Superseded if a newer generation has written the
    schedule."""
    if stored is None:
        return Action.CREATE
    declared = stored.plan.declared
    if declared is None:
        return Action.DETACHED
    if declared.generation > wanted.generation:
        raise Superseded(wanted.app, wanted.generation)
    same = declared.digest == wanted.digest and declared.removed is None
    return Action.SAME if same else Action.CHANGE


def redeclare(
    wake_policy: WakePolicy, schedule: Schedule, plan: Plan, now: Millis
) -> Changed | None:
    """Stores a new plan. A plan with the digest of the stored one keeps the version, so its tasks
    stay; returns None if it has the same source too."""
    before, after = schedule.plan.declared, plan.declared
    if before and after and before.digest == after.digest:
        if before.removed is None and before.source == after.source:
            return None
        changed = _rewritten(schedule, replace(schedule.plan, declared=after), now)
    else:
        changed = change(wake_policy, schedule, plan, now)
    if not paused_by_sync(schedule):
        return changed
    resumed = resume(wake_policy, changed.schedule, now)
    return Changed(
        schedule=replace(resumed.schedule, revision=schedule.revision + 1),
        ledger_entries=(*changed.ledger_entries, *resumed.ledger_entries),
    )


def remove(wake_policy: WakePolicy, schedule: Schedule, generation: int, now: Millis) -> Changed:
    """Pauses a schedule that is not in the code any more, and marks it. If a person resumes it, the
    mark stays, and no later sync pauses it again. Raises Superseded as `decide` does."""
    declared = schedule.plan.declared
    if declared is None:
        raise ValueError(f"schedule {schedule.id} is not declared in code")
    if declared.generation > generation:
        raise Superseded(declared.app, generation)
    marked = replace(declared, generation=generation, removed=generation)
    plan = replace(schedule.plan, declared=marked)
    if schedule.status is ScheduleStatus.PAUSED or not may_fire(schedule, now):
        return _rewritten(schedule, plan, now)
    return pause(wake_policy, replace(schedule, plan=plan), now, _note(generation))


def detach(schedule: Schedule, now: Millis) -> Changed:
    """Makes an ordinary schedule of it. Its version, and so its tasks, stay."""
    return _rewritten(schedule, replace(schedule.plan, declared=None), now)


def paused_by_sync(schedule: Schedule) -> bool:
    """Whether a sync has paused it, and no person has paused or resumed it since."""
    declared = schedule.plan.declared
    if declared is None or declared.removed is None:
        return False
    return schedule.status is ScheduleStatus.PAUSED and schedule.note == _note(declared.removed)


def may_fire(schedule: Schedule, now: Millis) -> bool:
    """Whether it may fire again. A schedule is FINISHED as soon as its last run is a task."""
    finished = schedule.status is ScheduleStatus.FINISHED
    return not finished or next(upcoming(schedule, now), None) is not None


def _note(generation: int) -> str:
    return f"no longer in the code since generation {generation}"


def _rewritten(schedule: Schedule, plan: Plan, now: Millis) -> Changed:
    return Changed(
        schedule=replace(schedule, plan=plan, revision=schedule.revision + 1, updated_at=now)
    )
