"""Removal: finished tasks are archived, if there is an archive, and then leave the store.

A remover that dies in between leaves a record of a task that is still stored. The task is archived
again when it is removed; a reader of the archive shows it once. The order is never reversed, so no
task is gone before its record is durable.
"""

import logging
from collections.abc import Sequence

from duetime.core.archive import archive_line, in_batches
from duetime.core.change import Answer
from duetime.core.errors import Corrupt
from duetime.core.large_texts import large_texts_of
from duetime.core.ports import Ports
from duetime.core.retention import DEFINITION_EXTRA
from duetime.core.steps.remove import Removal
from duetime.core.task import Task
from duetime.core.times import Millis

log = logging.getLogger(__name__)


def remove_tasks(ports: Ports, tasks: Sequence[Task]) -> list[Answer]:
    """Removes finished tasks. Returns one answer for each: see duetime.core.steps.remove."""
    removals = [Removal(task) for task in tasks]
    if not removals:
        return []
    if ports.archive is not None:
        for lines in in_batches(_line(ports, task) for task in tasks):
            ports.archive.write(lines)
    return ports.store.remove(removals)


def remove_runs(ports: Ports, before: Millis, limit: int) -> int:
    """Removes runs that ended before a time; returns how many. Their tasks and definitions leave by
    themselves, and later: see duetime.core.retention."""
    if ports.runs is None:
        return 0
    ports.runs.remove_definitions(before - DEFINITION_EXTRA)
    ended = ports.runs.ended(before, limit)
    if ended:
        ports.runs.remove(ended)
    return len(ended)


def _line(ports: Ports, task: Task) -> str:
    """An earlier attempt gets a row of its own when the next one starts."""
    attempts = ports.store.attempts(task.id) if task.attempt > 1 else ()
    return archive_line(task, attempts, _large_texts(ports, task))


def _large_texts(ports: Ports, task: Task) -> dict[str, str]:
    """A task whose object is lost leaves all the same; its record says what it had."""
    try:
        return large_texts_of(ports.objects, task)
    except Corrupt as error:
        fields = {"step": "archive", "task_id": task.id, "reason": str(error)}
        log.error("task archived without its objects", extra=fields)
        return {}
