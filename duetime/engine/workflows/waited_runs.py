"""The runs that tasks start and wait for: a nested workflow, or the items of a map. They are made
here and not stored; see duetime.engine.workflows.waits for that."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from duetime.core.errors import PermanentError
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.task import WORKFLOW, Task
from duetime.core.value import value
from duetime.core.workflows.advance import start_run
from duetime.core.workflows.codec import definition_of, digest_of, encode_definition
from duetime.core.workflows.definition import MAP, MAX_NESTING, Definition
from duetime.core.workflows.maps import map_result, start_map
from duetime.core.workflows.run import MapWindow, Run, RunSpec, RunStatus, waited_run_id
from duetime.engine.workflows.definitions import definitions_by_digest, definitions_of, run_store
from duetime.engine.workflows.inputs import StepSource, filled_step, map_items, source_of
from duetime.engine.workflows.named import NamedDefinition, find_definition
from duetime.engine.workflows.outputs import result_value, step_tasks
from duetime.engine.workflows.progress import moment_of


@value(frozen=True, kw_only=True, slots=True)
class WaitedRun:
    """A run that a task waits for, as it begins."""

    definition: Definition
    run: Run


def begin(ports: Ports, task: Task) -> WaitedRun:
    """Returns the run of a task, not stored yet. Raises PermanentError if it cannot begin, or if
    the target of the task starts no run."""
    step = task.spec.step
    source = source_of(ports, task) if step else None
    target = source.target if source else task.spec.target
    if target["type"] == MAP and source is not None:
        return _begin_map(ports, task, source)
    if target["type"] != WORKFLOW:
        raise PermanentError(f"task {task.id} starts no run")
    if source is not None:
        target, _ = filled_step(ports, source)
    depth = source.run.spec.depth + 1 if source else 0
    if depth > MAX_NESTING:
        raise PermanentError(f"workflows are nested more than {MAX_NESTING} levels deep")
    found = _found(ports, task.spec.namespace, target)
    definition = definitions_by_digest(ports, [found.digest]).get(found.digest)
    if definition is None:
        raise PermanentError("the definition of the workflow is gone")
    moment = moment_of(ports)
    spec = RunSpec(
        namespace=task.spec.namespace,
        digest=found.digest,
        run_at=moment.at,
        timeout=definition.timeout,
        input=target.get("input"),
        workflow=found.name,
        version=found.version,
        tags=definition.tags,
        priority=definition.priority,
        fail_fast=definition.fail_fast,
        parent_task_id=task.id,
        depth=depth,
        trace=task.spec.trace,
    )
    run_id = waited_run_id(task.id, task.created_at)
    run = start_run(definition, run_id, spec, moment=moment)
    return WaitedRun(definition=definition, run=run)


def cancelled(run: Run, ports: Ports) -> Run:
    """Returns the run as one that was cancelled before it began."""
    now = ports.clock.now()
    states = run.states.replace("p", "f").replace("w", "f")
    return replace(
        run, status=RunStatus.CANCELLED, states=states, wake=None, finished_at=now, updated_at=now
    )


def run_result(ports: Ports, run: Run) -> Any:
    """Returns the result of a run that has succeeded: that of its last step, if exactly one
    ordinary step is needed by no other. The result of a map says how many items succeeded."""
    if run.spec.map is not None:
        return map_result(run)
    definition = definitions_of(ports, [run])[run.spec.digest]
    needed = {need for step in definition.steps for need in step.needs}
    leaves = [step.name for step in definition.steps if not step.last and step.name not in needed]
    if len(leaves) != 1:
        return None
    task = step_tasks(ports, definition, run, leaves).get(leaves[0])
    return result_value(ports, task) if task and task.status is Status.SUCCEEDED else None


def _begin_map(ports: Ports, task: Task, source: StepSource) -> WaitedRun:
    over = source.step.map
    if over is None:
        raise ValueError(f"step {source.step.name} is not a map")
    items = map_items(ports, source)
    moment = moment_of(ports)
    spec = RunSpec(
        namespace=task.spec.namespace,
        digest=source.run.spec.digest,
        run_at=moment.at,
        timeout=source.run.spec.timeout,
        input=items,
        priority=task.spec.priority,
        parent_task_id=task.id,
        depth=source.run.spec.depth,
        trace=task.spec.trace,
        map=MapWindow(
            run_id=source.run.id,
            step=source.step.name,
            max_concurrency=over.max_concurrency,
            tolerated_failures=over.tolerated_failures,
        ),
    )
    run_id = waited_run_id(task.id, task.created_at)
    run = start_map(run_id, spec, moment=moment)
    return WaitedRun(definition=source.definition, run=run)


def _found(ports: Ports, namespace: str, target: Mapping[str, Any]) -> NamedDefinition:
    """Returns the definition that a target names. An inline one has no name, and is stored here."""
    store = run_store(ports)
    if "definition" not in target:
        return find_definition(store, namespace, target[WORKFLOW])
    definition = definition_of(target["definition"])
    text = encode_definition(definition)
    store.put_definition(digest_of(text), text, ports.clock.now() + definition.timeout)
    return NamedDefinition(name=None, version=None, digest=digest_of(text))
