"""The rules of steps, written a second time: the functions in the code are under test."""

from collections.abc import Sequence
from typing import Any

from duetime.core.codec import from_json
from duetime.core.lifecycle import Status
from duetime.core.workflows.definition import WorkflowStep
from duetime.core.workflows.run import Run
from tests.simulation.run_history import RunHistory

FAILED_NEED = frozenset("dcu")
NAMES = {"s": "SUCCEEDED", "d": "DEAD", "c": "CANCELLED", "x": "SKIPPED", "u": "SKIPPED"}


def decisions(history: RunHistory, run: Run, position: int) -> str:
    """Returns the states that a step may get once its needs are in the states of this row. There is
    more than one if a condition asks for the result of a dead step, which may succeed meanwhile."""
    step = history.definition(run).steps[position]
    if run.stop is not None and (not step.last or str(run.stop) == "cancel_all"):
        return "f"
    needs = [run.states[need] for need in history.needs(run, position)]
    if not step.last and not rule_holds(step, needs):
        return "u" if any(state in FAILED_NEED for state in needs) else "x"
    holds = condition_holds(history, run, step)
    return "px" if holds is None else "p" if holds else "x"


def rule_holds(step: WorkflowStep, needs: Sequence[str]) -> bool:
    failed = any(state in FAILED_NEED for state in needs)
    match str(step.run_if):
        case "all_finished":
            return True
        case "any_failed":
            return failed
        case "none_failed":
            return not failed and (not needs or "s" in needs)
    return all(state == "s" for state in needs)


def condition_holds(history: RunHistory, run: Run, step: WorkflowStep) -> bool | None:
    """Evaluates the conditions that the workload draws: on the input, on the status of a step, and
    on the field `pick` of its result."""
    when = step.when or {}
    if "input" in when and run.spec.input["flag"] not in when["input"]["flag"]:
        return False
    for name, wanted in when.get("steps", {}).items():
        position = history.definition(run).position[name]
        if "status" in wanted and NAMES[run.states[position]] not in wanted["status"]:
            return False
        if "result" in wanted and run.states[position] == "d":
            return None
        if "result" in wanted and _pick(history, run, position) not in wanted["result"]["pick"]:
            return False
    return True


def result_of(history: RunHistory, run: Run, position: int) -> Any:
    task = history.task(run, position) if run.states[position] in "psdc" else None
    succeeded = task is not None and task.status is Status.SUCCEEDED and task.result is not None
    return from_json(task.result) if succeeded and task else None


def _pick(history: RunHistory, run: Run, position: int) -> Any:
    result = result_of(history, run, position)
    return result.get("pick") if isinstance(result, dict) else None
