"""The results of the items of a map, page by page, for the handler of a later step.

`{{steps.m.results}}` inserts them all at once, up to 256 KiB. A handler that reads them by pages
has no such limit.
"""

from typing import Any

from duetime.core.errors import PermanentError
from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.core.workflows.graph import Graph
from duetime.core.workflows.run import waited_run_id
from duetime.engine.workflows.definitions import run_store
from duetime.engine.workflows.inputs import StepSource, source_of
from duetime.engine.workflows.outputs import item_results, step_tasks

PAGE = 100  # items


class NoSuchMap(PermanentError):
    """A step asks for the results of a map that does not run before it."""


def results_page(ports: Ports, task: Task, name: str, start: int) -> list[Any]:
    """Returns the results of the next items of a map, None for each that failed; an empty list at
    the end. `task` is that of a later step. Raises NoSuchMap."""
    if task.spec.step is None:
        raise NoSuchMap(f"task {task.id} is not a step of a workflow")
    source = source_of(ports, task)
    _check(source, name)
    map_task = step_tasks(ports, source.definition, source.run, [name]).get(name)
    if map_task is None:  # skipped
        return []
    run_id = waited_run_id(map_task.id, map_task.created_at)
    run = run_store(ports).get([run_id]).get(run_id)
    return [] if run is None else item_results(ports, run, start, start + PAGE)


def _check(source: StepSource, name: str) -> None:
    graph = Graph(steps=source.definition.steps)
    if name not in source.definition.position or source.definition.step(name).map is None:
        raise NoSuchMap(f"the workflow has no map {name!r}")
    if not graph.is_upstream(name, source.definition.position[source.step.name]):
        raise NoSuchMap(f"the map {name!r} does not run before this step; name it in needs")
