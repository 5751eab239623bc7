"""JSON of runs, their steps and the items of their maps."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from duetime.core.errors import BadResult
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.results import SIZE_LIMIT, encode_result
from duetime.core.task import WORKFLOW, Task
from duetime.core.task_json import NOT_SHOWN, error_json, moment_json, reason_of
from duetime.core.times import SECOND, rfc3339
from duetime.core.workflows.definition import Definition, WorkflowStep
from duetime.core.workflows.run import (
    BLOCKED,
    SKIPPED,
    STATUSES,
    Run,
    RunStatus,
    StepState,
    waited_run_id,
)
from duetime.engine.workflows.definitions import run_store
from duetime.engine.workflows.outputs import skip_reason, step_tasks
from duetime.engine.workflows.waited_runs import run_result

TOO_LARGE = f"over {SIZE_LIMIT // 1024} KiB: read the task of the last step"


def run_json(run: Run) -> dict[str, Any]:
    """Returns a run without its steps. A map is the only run without a result of its own: that is
    counted from its items."""
    spec = run.spec
    return {
        "id": run.id,
        "status": run.status.value,
        "workflow": spec.workflow,
        "version": spec.version,
        "digest": spec.digest,
        "name": spec.name,
        "namespace": spec.namespace,
        "input": spec.input,
        "priority": spec.priority.value,
        "tags": spec.tags,
        "fail_fast": spec.fail_fast,
        "run_at": rfc3339(spec.run_at),
        "timeout": spec.timeout / SECOND,
        "timeout_at": rfc3339(run.timeout_at),
        "idempotency_key": spec.idempotency_key,
        "attempt": run.attempt,
        "stop_reason": run.stop.value if run.stop else None,
        "created_at": rfc3339(run.created_at),
        "updated_at": rfc3339(run.updated_at),
        "finished_at": moment_json(run.finished_at),
        "error": asdict(run.error) if run.error else None,
        "counts": dict(Counter(STATUSES[_shown(run, state)] for state in run.states)),
        "parent_task_id": spec.parent_task_id,
        "map": {"run_id": spec.map.run_id, "step": spec.map.step} if spec.map else None,
    }


def run_view(ports: Ports, definition: Definition, run: Run) -> dict[str, Any]:
    """Returns a run with its steps. The run of a map has items instead."""
    steps = [] if run.spec.map else _steps(ports, definition, run)
    result, note = _result(ports, run)
    return {
        **run_json(run),
        "result": result,
        "steps": steps,
        NOT_SHOWN: {"result": note} if note else None,
    }


def _shown(run: Run, state: str) -> StepState:
    """Items of a map that never started are skipped once the map is over."""
    never = state == StepState.BLOCKED and run.status.over
    return StepState.STOPPED if never else StepState(state)


def item_json(run: Run, index: int, task: Task | None) -> dict[str, Any]:
    """Returns an item of a map."""
    status, reason = _status(_shown(run, run.states[index]), task)
    error = error_json(task) if task else None
    return {"index": index, "status": status, "reason": reason, **_progress(task), "error": error}


def _steps(ports: Ports, definition: Definition, run: Run) -> list[dict[str, Any]]:
    names = [step.name for step in definition.steps]
    tasks = step_tasks(ports, definition, run, names)
    started = _started_runs(ports, definition.steps, tasks)
    return [
        _step_json(step, run.states[position], tasks.get(step.name), started.get(step.name))
        for position, step in enumerate(definition.steps)
    ]


def _step_json(
    step: WorkflowStep, state: str, task: Task | None, run_id: str | None
) -> dict[str, Any]:
    status, reason = _status(state, task)
    return {
        "name": step.name,
        "status": status,
        "reason": reason,
        "needs": step.needs,
        "finally": step.last,
        "run_id": run_id,
        **_progress(task),
        "error": error_json(task) if task else None,
    }


def _status(state: str, task: Task | None) -> tuple[str, str | None]:
    if task is not None:
        return task.status.value, reason_of(task)
    if reason := skip_reason(state):
        return SKIPPED, reason
    if state == StepState.BLOCKED:
        return BLOCKED, None
    return Status.PENDING.value, None  # its task is about to be created


def _progress(task: Task | None) -> dict[str, Any]:
    current = task.current if task else None
    return {
        "task_id": task.id if task else None,
        "attempt": task.attempt if task else 0,
        "started_at": moment_json(current.started_at if current else None),
        "finished_at": moment_json(task.finished_at if task else None),
    }


def _started_runs(
    ports: Ports, steps: Iterable[WorkflowStep], tasks: dict[str, Task]
) -> dict[str, str]:
    """Returns the runs that steps have started, nested ones and those of maps, by step."""
    ids = {
        step.name: waited_run_id(task.id, task.created_at)
        for step in steps
        if step.map is not None or step.target.get("type") == WORKFLOW
        if (task := tasks.get(step.name)) is not None and task.attempt > 0
    }
    existing = run_store(ports).exist(list(ids.values())) if ids else set()
    return {name: run_id for name, run_id in ids.items() if run_id in existing}


def _result(ports: Ports, run: Run) -> tuple[Any, str | None]:
    """Returns the result, and why it is not shown."""
    if run.status is not RunStatus.SUCCEEDED:
        return None, None
    result = run_result(ports, run)
    try:
        encode_result(result)
    except BadResult:
        return None, TOO_LARGE
    return result, None
