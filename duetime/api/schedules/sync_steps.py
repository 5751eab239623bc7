"""The steps of a sync: what it does to each schedule, and what else to know about it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from duetime.api.schedules.declarations import Declaration
from duetime.core.schedules import declarations
from duetime.core.schedules.declarations import Action
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.times import Millis
from duetime.core.value import value

STAYS_PAUSED = "paused, and stays paused"

Name = tuple[str, str]  # namespace, name
Names = Mapping[Name, str]  # → id


@value(frozen=True, slots=True)
class Step:
    """What a sync does to one schedule."""

    action: Action
    id: str
    name: str
    handler: str
    namespace: str
    source: str
    declaration: Declaration | None = None  # None: it is not in the code any more
    note: str | None = None

    @property
    def full_name(self) -> Name:
        return self.namespace, self.name


def plan_json(plan: Sequence[Step], same: Names) -> list[dict[str, Any]]:
    """`same` has the ids of schedules that requests made, by names that are declared too."""
    named: dict[Name, list[Step]] = {}
    for step in plan:
        if step.declaration:
            named.setdefault(step.full_name, []).append(step)
    return [_step_json(step, named, same) for step in plan]


def is_current(schedule: Schedule, app: str) -> bool:
    """Whether it is the app's, and was in its code at the sync before."""
    declared = schedule.plan.declared
    return declared is not None and declared.app == app and declared.removed is None


def declaration_note(action: Action, stored: Schedule | None) -> str | None:
    if action is Action.DETACHED:
        return "detached: delete it, and the next sync creates it from the code"
    paused = stored is not None and stored.status is ScheduleStatus.PAUSED
    if paused and stored and not declarations.paused_by_sync(stored):
        return STAYS_PAUSED
    return None


def removal_note(schedule: Schedule, app: str, now: Millis) -> str | None:
    """Returns None if this sync pauses the schedule, which is not in the code any more."""
    if schedule.status is ScheduleStatus.PAUSED:
        by_sync = declarations.paused_by_sync(schedule)
        return "paused by an earlier sync" if by_sync else STAYS_PAUSED
    if not declarations.may_fire(schedule, now):
        return "finished"
    return None if is_current(schedule, app) else "resumed by hand, and stays active"


def _shared_name(step: Step, named: Mapping[Name, list[Step]], same: Names) -> Iterator[str]:
    """Yields what else has the name of a declared schedule: it is then found by its id only."""
    if step.declaration is None:
        return
    for other in named[step.full_name]:
        if other is not step:
            yield f"handler {other.handler} has a schedule of the same name at {other.source}"
    twin = same.get(step.full_name, step.id)
    if twin != step.id:
        yield f"schedule {twin} has the same name and is not from code"


def _step_json(step: Step, named: Mapping[Name, list[Step]], same: Names) -> dict[str, Any]:
    notes = [step.note, *_shared_name(step, named, same)]
    return {
        "action": step.action.value,
        "id": step.id,
        "name": step.name,
        "handler": step.handler,
        "namespace": step.namespace,
        "source": step.source,
        "note": "; ".join(note for note in notes if note) or None,
    }
