"""debts: what must follow from the end of a run is done. Shared by the relay, which hears of the
end at once, and the scanner, which comes upon the watch of a task that still owes.

Paying twice changes nothing: see lambdas.core.schedules.ended. The end of a run that owes nothing
may still let another one go on, if one has come to wait for it since. The relay looks, and if it
does not hear of the end, the one that waits looks again by itself.
"""

from collections.abc import Sequence

from lambdas.core.events import StatusChange
from lambdas.core.lifecycle import Status
from lambdas.core.ports import Ports
from lambdas.core.schedules.ended import ended, waits_for
from lambdas.core.schedules.ports import Differs, Stands
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.steps.settle import settle
from lambdas.core.task import Task
from lambdas.core.times import Millis
from lambdas.enqueue import enqueue
from lambdas.materialise import TRIES, materialise
from lambdas.passing import note_passed


def follow_up(ports: Ports, changes: Sequence[StatusChange]) -> None:
    """Do what follows from the ends among these changes."""
    asked = {c.schedule_id for c in changes if c.schedule_id and not c.owes}
    schedules = ports.schedules.get(list(asked)) if asked else {}
    ids = [
        change.task_id
        for change in changes
        if change.owes
        or ((named := schedules.get(change.schedule_id or "")) and waits_for(named, change.task_id))
    ]
    if ids:
        pay_named(ports, ids)


def pay(ports: Ports, tasks: Sequence[Task]) -> int:
    """Returns how many have paid. One that cannot pay now keeps its watch."""
    paid = [task for task in tasks if task.status.finished and _pay(ports, task)]
    owing = [settle(task) for task in paid if task.owes]
    if owing:
        ports.store.apply(owing)
    return len(paid)


def pay_named(ports: Ports, task_ids: Sequence[str]) -> int:
    return pay(ports, list(ports.store.get(task_ids).values()))


def follow(ports: Ports, schedule: Schedule, now: Millis) -> None:
    """Wake the run whose turn it is, and put the next one if it is near."""
    if schedule.waiting:
        _wake_next(ports, schedule)
    if schedule.wake is not None and schedule.wake.at <= now:
        materialise(ports, [schedule], now=now)


def _pay(ports: Ports, task: Task) -> bool:
    occurrence = task.spec.occurrence
    if occurrence is None:
        return True
    schedule = ports.schedules.get([occurrence.schedule_id]).get(occurrence.schedule_id)
    if schedule is None:  # of one that only cannot be read, the debt stays until it can be
        return not ports.schedules.exist([occurrence.schedule_id])
    for _ in range(TRIES):
        now = ports.clock.now()
        changed = ended(ports.rules, schedule, task, now)
        if changed is None:
            follow(ports, schedule, now)
            return True
        (answer,) = ports.schedules.put([note_passed(ports, schedule, changed, now)])
        match answer:
            case Stands(after):
                follow(ports, after, now)
                return True
            case Differs(None):
                return True
            case Differs(Schedule() as standing):
                schedule = standing
            case _:
                break
    return False


def _wake_next(ports: Ports, schedule: Schedule) -> None:
    """The first in line goes on if the run before it is over; when it starts, it looks itself."""
    named = [task_id for task_id in (schedule.active, *schedule.waiting) if task_id]
    tasks = ports.store.get(named)
    active = tasks.get(schedule.active or "")
    if active is not None and not active.status.finished:
        return
    waiting = [task for i in schedule.waiting if (task := tasks.get(i)) and _waits(task)]
    if waiting:
        enqueue(ports, waiting[:1])


def _waits(task: Task) -> bool:
    return task.status in (Status.ENQUEUED, Status.PENDING) and task.attempt == 0
