"""Removal: finished tasks are archived, if there is an archive, and then leave the store.

A remover that dies in between leaves a record of a task that is still stored. The task is archived
again when it is removed; a reader of the archive shows it once. The order is never reversed, so no
task is gone before its record is durable.
"""

from collections.abc import Sequence

from duetime.core.archive import archive_line
from duetime.core.change import Answer
from duetime.core.ports import Ports
from duetime.core.steps.remove import Removal
from duetime.core.task import Task


def remove_tasks(ports: Ports, tasks: Sequence[Task]) -> list[Answer]:
    """Removes finished tasks. Returns one answer for each: see duetime.core.steps.remove."""
    removals = [Removal(task) for task in tasks]
    if not removals:
        return []
    if ports.archive is not None:
        ports.archive.write([_line(ports, task) for task in tasks])
    return ports.store.remove(removals)


def _line(ports: Ports, task: Task) -> str:
    """An earlier attempt gets a row of its own when the next one starts."""
    return archive_line(task, ports.store.attempts(task.id) if task.attempt > 1 else ())
