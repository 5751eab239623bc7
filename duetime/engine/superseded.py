"""passing: what a schedule leaves behind, changed, paused or resumed, goes into its ledger.
Shared by the API, and by whoever pays a debt that pauses a schedule.
"""

from dataclasses import replace

from lambdas.core.ports import Ports
from lambdas.core.schedules.changes import Changed
from lambdas.core.schedules.ledger import Expected, LedgerRow
from lambdas.core.schedules.misfires import not_told
from lambdas.core.schedules.passes import own_id
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.times import Millis


def note_passed(ports: Ports, before: Schedule, changed: Changed, now: Millis) -> Schedule:
    """Fire times that passed by may be tasks nevertheless, and may even have run: whoever put them
    was cut off before the schedule and its ledger knew. They are told as what they are, and
    counted. Returns the schedule as it is to stand."""
    notes = changed.notes
    begun = changed.schedule.version != before.version
    ids = {own_id(before, at): at for at in not_told(before, now)} if begun else {}
    for row in notes:
        if isinstance(row, LedgerRow) and row.task_id:  # it is told, and counted
            ids.pop(row.task_id, None)
    there = ports.store.get(list(ids)) if ids else {}
    fired = [
        LedgerRow(
            schedule_id=before.id,
            fire_time=ids[task_id],
            version=before.version,
            outcome=Expected.FIRED,
            task_id=task_id,
        )
        for task_id in there
    ]
    if notes or fired:
        ports.schedules.note([*notes, *fired], now)
    ran = sum(task.attempt > 0 for task in there.values())
    return replace(changed.schedule, runs=changed.schedule.runs + ran)
