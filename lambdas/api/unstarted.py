"""Occurrences that have not started, when their schedule is changed, paused or deleted.

They would not start anyway: see lambdas.executor.gate. This ends them at once, so that nobody has
to wait for their time to see it.
"""

from collections.abc import Sequence

from lambdas.core.lifecycle import Status
from lambdas.core.ports import Ports
from lambdas.core.schedules.ledger import Expected, LedgerRow
from lambdas.core.schedules.overlap import stale
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.steps.cancel import cancel_unstarted
from lambdas.core.task import Task
from lambdas.core.times import DAY

MOST = 1_000  # of the newest entries of the ledger


def unstarted(ports: Ports, schedule: Schedule) -> list[Task]:
    """Those in the ledger and in the line. Both are gone once a schedule is deleted. The scanner
    finds the rest: triggered runs have no ledger row, and enter the line only when they are due."""
    now = ports.clock.now()
    page = ports.schedules.ledger(schedule.id, None, MOST)
    ids = [
        entry.task_id
        for entry in page.entries
        if isinstance(entry, LedgerRow) and entry.outcome is Expected.FIRED and entry.task_id
        if entry.fire_time > now - DAY
    ]
    found = ports.store.get(list(dict.fromkeys([*ids, *schedule.waiting])))
    return [task for task in found.values() if _waits(task)]


def cancel_stale(ports: Ports, tasks: Sequence[Task], standing: Schedule | None) -> int:
    """`standing` is the schedule as it is now, None once it is deleted. Returns how many of these
    occurrences of it are to start no more."""
    now = ports.clock.now()
    changes = [
        cancel_unstarted(task, now=now, reason=reason)
        for task in tasks
        if task.spec.occurrence and (reason := stale(standing, task.spec.occurrence)) is not None
    ]
    if changes:
        ports.store.apply(changes)
    return len(changes)


def _waits(task: Task) -> bool:
    return task.status in (Status.PENDING, Status.ENQUEUED) and task.attempt == 0
