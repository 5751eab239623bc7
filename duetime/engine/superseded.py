"""Superseded fire times: what a schedule leaves behind when it is changed, paused or resumed.

Used by the API, and by a follow-up that pauses a schedule.
"""

from collections.abc import Sequence
from dataclasses import replace

from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.schedules.changes import Changed
from duetime.core.schedules.ledger import LedgerOutcome, LedgerRow
from duetime.core.schedules.lookahead_pass import task_id_of
from duetime.core.schedules.misfires import unrecorded_fire_times
from duetime.core.schedules.overlap import stale_reason
from duetime.core.schedules.schedule import Schedule
from duetime.core.steps.cancel import cancel_unstarted
from duetime.core.task import Task
from duetime.core.times import DAY, Millis


def record_superseded(ports: Ports, before: Schedule, changed: Changed, now: Millis) -> Schedule:
    """Writes the ledger entries of a change, and returns the schedule to store.

    A fire time that the change leaves behind may be a task nevertheless, and may even have run: the
    role that put it was cut off before it wrote the schedule and the ledger. Such a fire time is
    recorded as fired, and counted if it has started."""
    ledger_entries = changed.ledger_entries
    new_version = changed.schedule.version != before.version
    ids = (
        {task_id_of(before, at): at for at in unrecorded_fire_times(before, now)}
        if new_version
        else {}
    )
    for row in ledger_entries:
        if isinstance(row, LedgerRow) and row.task_id:  # already recorded and counted
            ids.pop(row.task_id, None)
    there = ports.store.get(list(ids)) if ids else {}
    fired = [
        LedgerRow(
            schedule_id=before.id,
            fire_time=ids[task_id],
            version=before.version,
            outcome=LedgerOutcome.FIRED,
            task_id=task_id,
        )
        for task_id in there
    ]
    if ledger_entries or fired:
        ports.schedules.write_ledger([*ledger_entries, *fired], now)
    ran = sum(task.attempt > 0 for task in there.values())
    return replace(changed.schedule, runs=changed.schedule.runs + ran)


MAX_LEDGER_ENTRIES = 1_000  # the newest


def unstarted_runs(ports: Ports, schedule: Schedule) -> list[Task]:
    """Returns the runs of the ledger, and the waiting runs, that have not started. The caller needs
    them before it deletes the schedule, which removes both lists. The scanner finds the other
    runs: a triggered run has no ledger row, and waits only once it is due."""
    now = ports.clock.now()
    page = ports.schedules.ledger(schedule.id, None, MAX_LEDGER_ENTRIES)
    ids = [
        entry.task_id
        for entry in page.entries
        if isinstance(entry, LedgerRow) and entry.outcome is LedgerOutcome.FIRED and entry.task_id
        if entry.fire_time > now - DAY
    ]
    found = ports.store.get(list(dict.fromkeys([*ids, *schedule.waiting])))
    return [task for task in found.values() if _is_unstarted(task)]


def cancel_stale(ports: Ports, tasks: Sequence[Task], stored: Schedule | None) -> int:
    """Cancels those of the occurrences that may not start any more. `stored` is the current
    schedule, None if it is deleted. Returns how many are stale."""
    now = ports.clock.now()
    changes = [
        cancel_unstarted(task, now=now, reason=reason)
        for task in tasks
        if task.spec.occurrence
        and (reason := stale_reason(stored, task.spec.occurrence)) is not None
    ]
    if changes:
        ports.store.apply(changes)
    return len(changes)


def _is_unstarted(task: Task) -> bool:
    return task.status in (Status.PENDING, Status.ENQUEUED) and task.attempt == 0
