"""JSON of the task of a step: what it does comes from the definition of its run."""

from collections.abc import Mapping
from typing import Any

from duetime.api.workflow_views import definition_view
from duetime.core.masking import masked
from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.core.task_json import task_json
from duetime.core.workflows.codec import definition_of
from duetime.engine.workflows.inputs import step_sources


def step_task_json(ports: Ports, task: Task) -> dict[str, Any]:
    """Shows target and payload with their references, as the definition has them. A task whose run
    is gone is shown as it is stored."""
    step = task.spec.step
    source = step_sources(ports, {task.id: step}).get(task.id) if step else None
    if source is None:
        return task_json(task)
    return {**task_json(task), "target": _shown(source.target), "payload": source.payload}


def _shown(target: Mapping[str, Any]) -> dict[str, Any]:
    """The targets inside an inline workflow may hold secrets, too."""
    inline = target.get("definition")
    if inline is None:
        return masked(target)
    return {**target, "definition": definition_view(definition_of(inline))}
