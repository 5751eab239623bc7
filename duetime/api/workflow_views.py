"""JSON of workflows and their definitions. A definition is shown as it may be put again."""

from typing import Any

from duetime.core.masking import masked
from duetime.core.task import WORKFLOW
from duetime.core.task_json import limits_json, retry_json
from duetime.core.times import SECOND, rfc3339
from duetime.core.workflows.codec import definition_of
from duetime.core.workflows.definition import PASS, Definition, MapOver, Workflow, WorkflowStep


def workflow_json(workflow: Workflow, definition: Definition | None) -> dict[str, Any]:
    """Returns a workflow without its steps."""
    shown = {
        "name": workflow.name,
        "namespace": workflow.namespace,
        "version": workflow.version,
        "digest": workflow.digest,
        "created_at": rfc3339(workflow.created_at),
        "updated_at": rfc3339(workflow.updated_at),
    }
    return shown | (_settings(definition) if definition else {})


def definition_view(definition: Definition) -> dict[str, Any]:
    return {**_settings(definition), "steps": [step_view(step) for step in definition.steps]}


def step_view(step: WorkflowStep) -> dict[str, Any]:
    return {
        "name": step.name,
        **_kind(step),
        "payload": step.payload,
        "retry": retry_json(step.retry),
        "timeout": step.timeout,
        "priority": step.priority.value if step.priority else None,
        "pool": step.pool,
        "limits": limits_json(step.limits),
        "ordering_key": step.ordering_key,
        "tags": step.tags,
        "needs": step.needs,
        "run_if": step.run_if.value,
        "when": step.when,
        "allow_failure": step.allow_failure,
        "delay": 0.0 if _waits(step) else step.delay,
        "map": _map(step.map) if step.map else None,
        "callback": None if step.callback is None else {"timeout": step.callback},
        "finally": step.last,
    }


def _settings(definition: Definition) -> dict[str, Any]:
    return {
        "fail_fast": definition.fail_fast,
        "timeout": definition.timeout / SECOND,
        "priority": definition.priority.value,
        "tags": definition.tags,
    }


def _waits(step: WorkflowStep) -> bool:
    return step.target.get("type") == PASS


def _kind(step: WorkflowStep) -> dict[str, Any]:
    """Returns what the step does, in the field in which it was submitted."""
    target, shown = step.target, dict.fromkeys(("target", "workflow", "input", "wait"))
    if _waits(step):
        until = step.until
        wait = {"seconds": step.delay} if until is None else {"until": rfc3339(until)}
        return {**shown, "wait": wait}
    if target.get("type") != WORKFLOW:
        return {**shown, "target": masked(target)}
    inline = target.get("definition")
    nested = target[WORKFLOW] if inline is None else definition_view(definition_of(inline))
    return {**shown, "workflow": nested, "input": target.get("input")}


def _map(over: MapOver) -> dict[str, Any]:
    return {
        "items": over.items,
        "max_concurrency": over.max_concurrency,
        "tolerated_failures": over.tolerated_failures,
    }
