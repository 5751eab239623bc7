"""The previous run of a schedule, for the template fields and the context of the next one."""

from dataclasses import replace
from typing import Any

from duetime.core.occurrence import Occurrence
from duetime.core.ports import Ports
from duetime.core.results import decode_result
from duetime.core.schedules.ledger import LedgerRow, just_after
from duetime.core.task import Task
from duetime.core.times import from_datetime, rfc3339, to_datetime
from duetime.handlers.context import Previous

FIRST_PAGE, NEXT_PAGES = 10, 100  # ledger entries per read
MAX_ENTRIES = 1_000  # a long run may have kept hundreds of later runs from starting


def previous_run(ports: Ports, occurrence: Occurrence) -> Previous | None:
    """Returns the run with the latest earlier fire time that has run and ended. A skipped
    occurrence does not count."""
    below = just_after(occurrence.scheduled_for - 1)
    entries_read = 0
    while entries_read < MAX_ENTRIES:
        limit = NEXT_PAGES if entries_read else FIRST_PAGE
        page = ports.schedules.ledger(occurrence.schedule_id, below, limit)
        ids = [e.task_id for e in page.entries if isinstance(e, LedgerRow) and e.task_id]
        tasks = ports.store.get(ids) if ids else {}
        ran = (tasks[i] for i in ids if i in tasks and _ran(tasks[i]))
        if (found := next(ran, None)) is not None:
            return _previous(found)
        if not page.more or not page.entries:
            break
        below = page.entries[-1].key
        entries_read += limit
    return None


def filled_in(task: Task, previous: Previous | None) -> Task:
    """Returns the task with the template fields of the previous run filled in."""
    from duetime.core.schedules.occurrence_spec import filled

    names: dict[str, Any] = {
        "previous.result": previous.result if previous else None,
        "previous.status": previous.status if previous else None,
        "previous.task_id": previous.task_id if previous else None,
        "previous.scheduled_for": _moment(previous),
    }
    return replace(task, spec=replace(task.spec, **filled(task.spec, names, last=True)))


def _ran(task: Task) -> bool:
    return task.status.finished and task.attempt > 0


def _previous(task: Task) -> Previous:
    occurrence = task.spec.occurrence
    return Previous(
        task_id=task.id,
        status=task.status.value,
        result=decode_result(task.result).value,
        scheduled_for=to_datetime(occurrence.scheduled_for if occurrence else task.spec.run_at),
    )


def _moment(previous: Previous | None) -> str | None:
    return rfc3339(from_datetime(previous.scheduled_for)) if previous else None
