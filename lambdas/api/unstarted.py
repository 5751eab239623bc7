"""Occurrences that have not started, when their schedule is changed, paused or deleted.

They would not start anyway: see lambdas.executor.gate. This ends them at once, so that nobody has
to wait for their time to see it.
"""

from lambdas.core.lifecycle import Status
from lambdas.core.ports import Ports
from lambdas.core.schedules.ledger import Expected, LedgerRow
from lambdas.core.schedules.overlap import stale
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.steps.cancel import cancel_unstarted
from lambdas.core.task import Task
from lambdas.core.times import DAY

MOST = 1_000  # of the newest entries of the ledger


def cancel_stale(ports: Ports, schedule_id: str, standing: Schedule | None) -> int:
    """`standing` is the schedule as it is now, None once it is deleted. Returns how many of its
    occurrences were cancelled."""
    now = ports.clock.now()
    page = ports.schedules.ledger(schedule_id, None, MOST)
    ids = [
        entry.task_id
        for entry in page.entries
        if isinstance(entry, LedgerRow) and entry.outcome is Expected.FIRED and entry.task_id
        if entry.fire_time > now - DAY
    ]
    changes = [
        cancel_unstarted(task, now=now, reason=reason)
        for task in ports.store.get(ids).values()
        if (reason := _why(task, standing)) is not None
    ]
    ports.store.apply(changes)
    return len(changes)


def _why(task: Task, standing: Schedule | None) -> str | None:
    waits = task.status in (Status.PENDING, Status.ENQUEUED) and task.attempt == 0
    if not waits or task.spec.occurrence is None:
        return None
    return stale(standing, task.spec.occurrence)
