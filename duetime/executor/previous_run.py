"""The run before this one: what an occurrence of a schedule may ask for when it starts."""

from dataclasses import replace
from typing import Any

from lambdas.core.occurrence import Occurrence
from lambdas.core.ports import Ports
from lambdas.core.results import decode_result
from lambdas.core.schedules.ledger import LedgerRow, just_after
from lambdas.core.task import Task
from lambdas.core.times import from_datetime, rfc3339, to_datetime
from lambdas.executor.context import Previous

FEW, MANY = 10, 100  # entries of the ledger that are read at first, and then
LOOK_BACK = 1_000  # entries in all: a long run may have kept hundreds from starting


def previous_run(ports: Ports, occurrence: Occurrence) -> Previous | None:
    """The latest that ran and is over, by its fire time. One that was skipped is none."""
    below = just_after(occurrence.scheduled_for - 1)
    looked_at = 0
    while looked_at < LOOK_BACK:
        few = MANY if looked_at else FEW
        page = ports.schedules.ledger(occurrence.schedule_id, below, few)
        ids = [e.task_id for e in page.entries if isinstance(e, LedgerRow) and e.task_id]
        tasks = ports.store.get(ids) if ids else {}
        ran = (tasks[i] for i in ids if i in tasks and _ran(tasks[i]))
        if (found := next(ran, None)) is not None:
            return _told(found)
        if not page.more or not page.entries:
            break
        below = page.entries[-1].key
        looked_at += few
    return None


def filled_in(task: Task, previous: Previous | None) -> Task:
    """With the names that only the start could fill in."""
    from lambdas.core.schedules.occurrences import filled

    names: dict[str, Any] = {
        "previous.result": previous.result if previous else None,
        "previous.status": previous.status if previous else None,
        "previous.task_id": previous.task_id if previous else None,
        "previous.scheduled_for": _moment(previous),
    }
    return replace(task, spec=replace(task.spec, **filled(task.spec, names, last=True)))


def _ran(task: Task) -> bool:
    return task.status.finished and task.attempt > 0


def _told(task: Task) -> Previous:
    occurrence = task.spec.occurrence
    return Previous(
        task_id=task.id,
        status=task.status.value,
        result=decode_result(task.result).value,
        scheduled_for=to_datetime(occurrence.scheduled_for if occurrence else task.spec.run_at),
    )


def _moment(previous: Previous | None) -> str | None:
    return rfc3339(from_datetime(previous.scheduled_for)) if previous else None
