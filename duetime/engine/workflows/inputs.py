"""What a step does: its target and payload, with the references to earlier steps filled in.

The task of a step stores only which step it is. Its target and payload come from the definition of
its run, and are filled in when an attempt starts. The result of a success never changes, so every
attempt gets the same values.
"""

from collections.abc import Collection, Mapping
from typing import Any

from duetime.core.ports import Ports
from duetime.core.step_ref import StepRef
from duetime.core.task import Task
from duetime.core.value import value
from duetime.core.workflows.decide import outcome
from duetime.core.workflows.definition import MAP, Definition, WorkflowStep
from duetime.core.workflows.keys import fill_keys, key_templates
from duetime.core.workflows.references import fill_in, needed_results, needed_steps, resolve_items
from duetime.core.workflows.run import Run, RunStatus, StepState
from duetime.engine.workflows.definitions import definitions_of, run_store
from duetime.engine.workflows.outputs import StepLost, step_outputs

NO_CALLBACK: Mapping[str, Any] = {}


@value(frozen=True, kw_only=True, slots=True)
class StepSource:
    """Where the task of a step comes from. Of an item of a map, `run` is the run that has the map
    as a step, and `map_run` the run of the map."""

    ref: StepRef
    run: Run
    definition: Definition
    step: WorkflowStep
    map_run: Run | None = None

    @property
    def is_map(self) -> bool:
        """Whether the task is the map itself, and not one of its items."""
        return self.step.map is not None and self.map_run is None

    @property
    def target(self) -> Mapping[str, Any]:
        return {"type": MAP} if self.is_map else self.step.target

    @property
    def payload(self) -> Any:
        return None if self.is_map else self.step.payload


def step_sources(ports: Ports, refs: Mapping[str, StepRef]) -> dict[str, StepSource]:
    """Returns the sources of tasks of steps, by the id of the task. A task whose run or definition
    is missing is left out."""
    runs = run_store(ports).get(list({ref.run_id for ref in refs.values()}))
    return sources_in(ports, refs, runs, definitions_of(ports, runs.values()))


def sources_in(
    ports: Ports,
    refs: Mapping[str, StepRef],
    runs: Mapping[str, Run],
    definitions: Mapping[str, Definition],
) -> dict[str, StepSource]:
    """Returns the sources of tasks whose runs have been read. An item of a map also needs the run
    that has the map as a step, which is read here; both have the same definition."""
    above = {run.spec.map.run_id for run in runs.values() if run.spec.map} - runs.keys()
    known = {**runs, **run_store(ports).get(list(above))} if above else runs
    sources = {
        task_id: _source(ref, known, definitions)
        for task_id, ref in refs.items()
        if ref.run_id in runs
    }
    return {task_id: source for task_id, source in sources.items() if source is not None}


def source_of(ports: Ports, task: Task) -> StepSource:
    """Raises StepLost if there is none."""
    if task.spec.step is None:
        raise ValueError(f"task {task.id} is not a step")
    found = step_sources(ports, {task.id: task.spec.step}).get(task.id)
    if found is None:
        raise StepLost(f"the run {task.spec.step.run_id} or its definition is gone")
    return found


def filled_step(
    ports: Ports, source: StepSource, callback: Mapping[str, Any] = NO_CALLBACK
) -> tuple[Mapping[str, Any], Any]:
    """Returns target and payload of a step as its attempt gets them. `callback` has `url` and
    `token`, if the step waits for a callback."""
    target, payload, keys = source.target, source.payload, key_templates(source.step)
    own = {name: part for name, part in target.items() if name != "definition"}  # has its own names
    names = names_for(ports, source, [own, payload, [*keys.values()]], callback)
    if keys:
        fill_keys(source.step, names)  # raises if the task could not get its keys
    return fill_in(target, payload, names)


def map_items(ports: Ports, source: StepSource) -> list[Any] | int:
    """Returns the items of a map, or their number. Raises PermanentError if there are too many, or
    if the reference leads to something else."""
    if source.step.map is None:
        raise ValueError(f"step {source.step.name} is not a map")
    items = source.step.map.items
    return resolve_items(items, names_for(ports, source, items, NO_CALLBACK))


def names_for(
    ports: Ports, source: StepSource, template: Any, callback: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the values that a template refers to; only the steps that it names are read."""
    run, steps = source.run, needed_steps(template)
    collected = needed_results(template)
    names: dict[str, Any] = {
        "input": run.spec.input,
        "run": {"id": run.id, "status": _run_status(source).value},
        "callback": callback,
        "steps": _outputs(ports, source, steps, collected) if steps else {},
    }
    if source.map_run is not None and source.ref.index is not None:
        items, index = source.map_run.spec.input, source.ref.index
        names |= {"index": index, "item": items[index] if isinstance(items, list) else index}
    return names


def _outputs(
    ports: Ports, source: StepSource, steps: Collection[str], collected: Collection[str]
) -> Mapping[str, Any]:
    """Raises StepLost if a result is gone. A dead step may be redriven long after the others have
    succeeded, and their tasks are not kept for ever."""
    definition, run = source.definition, source.run
    outputs = step_outputs(ports, definition, run, steps, collected)
    for name, output in outputs.items():
        succeeded = run.states[definition.position[name]] == StepState.SUCCEEDED
        if succeeded and output["task_id"] is None:
            raise StepLost(f"the result of step {name} is no longer kept")
    return outputs


def _run_status(source: StepSource) -> RunStatus:
    """Returns the status as a step sees it: a `finally` step sees how the run is about to end."""
    return outcome(source.definition, source.run) if source.step.last else source.run.status


def _source(
    ref: StepRef, runs: Mapping[str, Run], definitions: Mapping[str, Definition]
) -> StepSource | None:
    own = runs[ref.run_id]
    map_run = own if own.spec.map else None
    run = runs.get(own.spec.map.run_id) if own.spec.map else own
    definition = definitions.get(own.spec.digest)
    if run is None or definition is None or ref.step not in definition.position:
        return None
    step = definition.step(ref.step)
    return StepSource(ref=ref, run=run, definition=definition, step=step, map_run=map_run)
