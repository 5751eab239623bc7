"""overlap: whether an occurrence may start, now that its time has come.

Decided at the start and not when it is put, so that what counts is what really goes on. A schedule
whose runs must not overlap names the run that goes on, and at most one that waits for its end.
"""

from dataclasses import replace

from lambdas.core.occurrence import Occurrence, OverlapPolicy
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus
from lambdas.core.task import Task
from lambdas.core.values import value

DELETED, CHANGED, PAUSED, OVERLAP = "deleted", "changed", "paused", "overlap"


@value(frozen=True, kw_only=True, slots=True)
class Start:
    """It may start, once the schedule stands as it is here; None if there is nothing to write."""

    schedule: Schedule | None = None


@value(frozen=True, kw_only=True, slots=True)
class Skip:
    reason: str


@value(frozen=True, kw_only=True, slots=True)
class Wait:
    """It waits until the run that goes on is over. Then its delivery is sent again."""

    schedule: Schedule | None = None
    cancels: tuple[str, ...] = ()  # tasks that make room for it
    wakes: str | None = None  # a task that waited, and whose turn it is
    unheard: bool = False  # nobody will tell that the run is over: it has to look for itself


Decision = Start | Skip | Wait


def stale(schedule: Schedule | None, occurrence: Occurrence) -> str | None:
    """Why an occurrence that has not started may start no more."""
    if schedule is None:
        return DELETED
    if occurrence.version in (None, schedule.version):
        return None
    return PAUSED if schedule.status is ScheduleStatus.PAUSED else CHANGED


def decide(
    schedule: Schedule | None,
    occurrence: Occurrence,
    task_id: str,
    *,
    active: Task | None,
    waiting: Task | None,
) -> Decision:
    """`active` and `waiting` are the tasks that the schedule names, if they exist."""
    reason = stale(schedule, occurrence)
    if schedule is None or reason is not None:
        return Skip(reason=reason or DELETED)
    if occurrence.overlap is OverlapPolicy.ALLOW or schedule.active == task_id:
        return Start()  # the one that is named was let in before, or its turn has come
    runs = active if _other(active, task_id) else None
    waits = waiting if _other(waiting, task_id) else None
    if runs is not None:
        return _crowded(schedule, occurrence, task_id, runs, waits)
    if waits is not None and occurrence.overlap is OverlapPolicy.QUEUE:  # it came first
        return Wait(schedule=_named(schedule, waits.id, task_id), wakes=waits.id)
    return Start(schedule=_named(schedule, task_id, None if waits is None else waits.id))


def _crowded(
    schedule: Schedule, occurrence: Occurrence, task_id: str, runs: Task, waits: Task | None
) -> Decision:
    others = [task for task in (runs, waits) if task is not None]
    out: tuple[str, ...] = ()
    match occurrence.overlap:
        case OverlapPolicy.CANCEL if not any(_newer(task, occurrence) for task in others):
            out = tuple(task.id for task in others)
        case OverlapPolicy.QUEUE if waits is None:
            pass
        case _:
            return Skip(reason=OVERLAP)
    named = _named(schedule, runs.id, task_id)
    return Wait(schedule=named, cancels=out, unheard=not _owes(runs))


def _newer(task: Task, occurrence: Occurrence) -> bool:
    """A run that comes late must not cancel one that was to come after it."""
    other = task.spec.occurrence
    return other is not None and other.scheduled_for > occurrence.scheduled_for


def _owes(task: Task) -> bool:
    """Not if it was made when the schedule, or a backfill of it, let nobody wait."""
    return task.spec.occurrence is not None and task.spec.occurrence.owes


def _other(task: Task | None, task_id: str) -> bool:
    return task is not None and task.id != task_id and not task.status.finished


def _named(schedule: Schedule, active: str, waiting: str | None) -> Schedule | None:
    """None if the schedule names them already."""
    if (schedule.active, schedule.waiting) == (active, waiting):
        return None
    return replace(schedule, active=active, waiting=waiting, revision=schedule.revision + 1)
