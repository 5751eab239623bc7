"""What the steps of a run have returned, as references and conditions read it."""

from collections.abc import Iterable, Mapping
from typing import Any

from duetime.core.codec import from_json, to_json
from duetime.core.errors import PermanentError
from duetime.core.large_texts import read_object, reference_in
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.core.workflows.definition import Definition
from duetime.core.workflows.references import MAX_FILLED, TooLarge
from duetime.core.workflows.run import (
    STARTED,
    STATUSES,
    Run,
    StepState,
    step_task_id,
    waited_run_id,
)
from duetime.engine.workflows.definitions import run_store

_SKIPPED = {
    StepState.CONDITION: "condition",
    StepState.UPSTREAM: "upstream",
    StepState.STOPPED: "stopped",
}

ITEMS_AT_ONCE = 500
TOO_MANY_RESULTS = (
    f"the results of the items are more than {MAX_FILLED:,} bytes together: read them with "
    "ctx.results in a handler"
)


class StepLost(PermanentError):
    """The run of a step, its definition, or what it needs of an earlier step, is gone."""


def skip_reason(state: str) -> str | None:
    return _SKIPPED.get(StepState(state))


def step_tasks(
    ports: Ports, definition: Definition, run: Run, names: Iterable[str]
) -> dict[str, Task]:
    """Returns the tasks of steps by the name of the step; a step without a task is left out."""
    ids = {}
    for name in names:
        position = definition.position.get(name)
        if position is not None and run.states[position] in STARTED:
            ids[name] = step_task_id(run, name, position)
    tasks = ports.store.get(list(ids.values())) if ids else {}
    return {name: tasks[task_id] for name, task_id in ids.items() if task_id in tasks}


def step_outputs(
    ports: Ports,
    definition: Definition,
    run: Run,
    names: Iterable[str],
    with_results: Iterable[str] = (),
) -> dict[str, dict[str, Any]]:
    """Returns result, status, error and task_id of each step; of the maps in `with_results` also
    the results of their items, in order, None for an item that failed."""
    wanted = list(names)
    tasks = step_tasks(ports, definition, run, wanted)
    collected = set(with_results)
    outputs: dict[str, dict[str, Any]] = {}
    for name in wanted:
        task = tasks.get(name)
        outputs[name] = _output(ports, definition, run, name, task)
        if name in collected and task is not None:
            outputs[name]["results"] = all_results(ports, task)
    return outputs


def item_tasks(ports: Ports, run: Run, start: int, end: int) -> list[Task | None]:
    """Returns the tasks of the items of a map from `start` to `end`; None where there is none."""
    if run.spec.map is None:
        raise ValueError(f"run {run.id} is not the run of a map")
    step = run.spec.map.step
    ids = [
        step_task_id(run, step, index, index) for index in range(start, min(end, len(run.states)))
    ]
    tasks = ports.store.get(ids)
    return [tasks.get(task_id) for task_id in ids]


def all_results(ports: Ports, task: Task) -> list[Any]:
    """Returns the results of the items of a map, whose task this is. Raises TooLarge as soon as
    they are more than a step may insert: 10,000 large ones would fill the memory."""
    run_id = waited_run_id(task.id, task.created_at)
    run = run_store(ports).get([run_id]).get(run_id)
    results: list[Any] = []
    size = 0
    for start in range(0, len(run.states) if run else 0, ITEMS_AT_ONCE):
        page = item_results(ports, run, start, start + ITEMS_AT_ONCE) if run else []
        results += page
        size += len(to_json(page).encode(errors="surrogatepass"))
        if size > MAX_FILLED:
            raise TooLarge(TOO_MANY_RESULTS)
    return results


def item_results(ports: Ports, run: Run, start: int, end: int) -> list[Any]:
    """Returns the results of the items of a map from `start` to `end`; None for a failed one.
    Raises StepLost if one was removed after its retention."""
    items = item_tasks(ports, run, start, end)
    for index, item in enumerate(items, start):
        if item is None and run.states[index] == StepState.SUCCEEDED:
            raise StepLost(f"the result of item {index} is no longer kept")
    return [
        result_value(ports, item) if item and item.status is Status.SUCCEEDED else None
        for item in items
    ]


def result_value(ports: Ports, task: Task) -> Any:
    """Returns the result of a task, also a large one."""
    text = task.result
    if text is None:
        return None
    reference = reference_in(text)
    if reference is not None and ports.objects is not None:
        text = read_object(ports.objects, task.id, reference, "result")
    return from_json(text)


def _output(
    ports: Ports, definition: Definition, run: Run, name: str, task: Task | None
) -> dict[str, Any]:
    if task is None:
        status = STATUSES[StepState(run.states[definition.position[name]])]
        return {"status": status, "result": None, "error": None, "task_id": None}
    done = task.status is Status.SUCCEEDED
    return {
        "status": task.status.value,
        "result": result_value(ports, task) if done else None,
        "error": _error(task),
        "task_id": task.id,
    }


def _error(task: Task) -> Mapping[str, str] | None:
    failed = task.last_failure
    if failed is None or failed.error is None:
        return None
    return {"type": failed.error.type, "message": failed.error.message}
