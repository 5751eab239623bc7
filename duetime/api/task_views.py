"""JSON of one task, as the answers about it show it."""

from typing import Any

from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.core.task_json import task_json


def task_view(ports: Ports, task: Task) -> dict[str, Any]:
    """Returns the JSON of a task. What a step does, its run knows."""
    if task.spec.step is None:
        return task_json(task)
    from duetime.api.step_views import step_task_json  # most tasks are not in a run

    return step_task_json(ports, task)
