"""debts: what must follow from the end of a run is done. Shared by the relay, which hears of the
end at once, and the scanner, which comes upon the watch of a task that still owes.

Paying twice changes nothing: see lambdas.core.schedules.ended.
"""

from collections.abc import Sequence

from lambdas.core.lifecycle import Status
from lambdas.core.ports import Ports
from lambdas.core.schedules.ended import ended
from lambdas.core.schedules.ports import Differs, Stands
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.steps.settle import settle
from lambdas.core.task import Task
from lambdas.core.times import Millis
from lambdas.enqueue import enqueue
from lambdas.materialise import TRIES, materialise
from lambdas.passing import note_passed


def pay(ports: Ports, tasks: Sequence[Task]) -> int:
    """Returns how many have paid. One that cannot pay now keeps its watch."""
    paid = [task for task in tasks if task.owes and _pay(ports, task)]
    ports.store.apply([settle(task) for task in paid])
    return len(paid)


def pay_named(ports: Ports, task_ids: Sequence[str]) -> int:
    return pay(ports, list(ports.store.get(task_ids).values()))


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
            return _follow(ports, schedule, now)
        (answer,) = ports.schedules.put([note_passed(ports, schedule, changed, now)])
        match answer:
            case Stands(after):
                return _follow(ports, after, now)
            case Differs(None):
                return True
            case Differs(Schedule() as standing):
                schedule = standing
            case _:
                break
    return False


def _follow(ports: Ports, schedule: Schedule, now: Millis) -> bool:
    """Wake the run that waits, and put the next one if it is near."""
    if schedule.waiting is not None:
        _wake(ports, schedule)
    if schedule.wake is not None and schedule.wake.at <= now:
        materialise(ports, [schedule], now=now)
    return True


def _wake(ports: Ports, schedule: Schedule) -> None:
    """Its turn has come if the run before it is over; when it starts, it looks again itself."""
    named = [task_id for task_id in (schedule.active, schedule.waiting) if task_id]
    tasks = ports.store.get(named)
    active, waiting = tasks.get(schedule.active or ""), tasks.get(schedule.waiting or "")
    if waiting is None or (active is not None and not active.status.finished):
        return
    if waiting.status in (Status.ENQUEUED, Status.PENDING) and waiting.attempt == 0:
        enqueue(ports, [waiting])
