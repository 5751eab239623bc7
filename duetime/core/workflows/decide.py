"""Which steps of a run start or are skipped, and when the run is over.

A step is decided once in a run attempt, when all its needs have ended: so the order of the ends
does not change what runs.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from duetime.core.value import replace
from duetime.core.workflows.definition import Definition, RunIf, WorkflowStep
from duetime.core.workflows.run import (
    FAILED,
    LIVE,
    STATUSES,
    Run,
    RunError,
    RunStatus,
    StepState,
    StopReason,
    step_task_id,
)
from duetime.core.workflows.watches import Moment, ended

Outputs = Mapping[str, Mapping[str, Any]]  # of each step: result, status, error, task_id
NO_OUTPUTS: Final[Outputs] = {}

FAILED_NEED = FAILED | {StepState.UPSTREAM}
CANCELS = (StopReason.CANCEL, StopReason.CANCEL_ALL)


def decided(definition: Definition, run: Run, moment: Moment, outputs: Outputs = NO_OUTPUTS) -> Run:
    """Returns the run after every step whose needs have ended is decided; over, if none is left."""
    states = list(run.states)
    for position in definition.order:  # each step after its needs, so one pass is enough
        if states[position] == StepState.BLOCKED and _needs_ended(definition, states, position):
            states[position] = _decision(definition, run, states, position, outputs)
    run = replace(run, states="".join(states))
    return run if LIVE & set(run.states) else _over(definition, run, moment)


def outcome(definition: Definition, run: Run) -> RunStatus:
    """Returns the status with which the run ends if no more step fails: what `finally` steps see
    as `run.status`."""
    if run.status is RunStatus.CANCELLING:
        return RunStatus.CANCELLED if run.stop in CANCELS else RunStatus.FAILED
    failed = any(fails_run(definition, n, state) for n, state in enumerate(run.states))
    return RunStatus.FAILED if failed else RunStatus.SUCCEEDED


def fails_run(definition: Definition, position: int, state: str) -> bool:
    return state in FAILED and not definition.steps[position].allow_failure


def rule_met(step: WorkflowStep, needs: Sequence[str]) -> bool:
    """Whether the states of its ended needs let a step run."""
    if step.last or step.run_if is RunIf.ALL_FINISHED:
        return True
    if step.run_if is RunIf.ANY_FAILED:
        return any(state in FAILED_NEED for state in needs)
    if step.run_if is RunIf.NONE_FAILED:
        return not any(state in FAILED_NEED for state in needs) and (not needs or "s" in needs)
    return all(state == StepState.SUCCEEDED for state in needs)


def _needs_ended(definition: Definition, states: Sequence[str], position: int) -> bool:
    return not any(states[need] in LIVE for need in definition.needs[position])


def _decision(
    definition: Definition,
    run: Run,
    states: Sequence[str],
    position: int,
    outputs: Outputs,
) -> StepState:
    step = definition.steps[position]
    if _is_stopped(run, step):
        return StepState.STOPPED
    needs = [states[need] for need in definition.needs[position]]
    if not rule_met(step, needs):
        failed = any(state in FAILED_NEED for state in needs)
        return StepState.UPSTREAM if failed else StepState.CONDITION
    if step.when is None:
        return StepState.UNDER_WAY
    from duetime.core.patterns import matches  # most runs have no condition

    seen = _seen(definition, run, states, outputs)
    return StepState.UNDER_WAY if matches(step.when, seen) else StepState.CONDITION


def _is_stopped(run: Run, step: WorkflowStep) -> bool:
    if run.status is not RunStatus.CANCELLING:
        return False
    return not step.last or run.stop is StopReason.CANCEL_ALL


def _seen(
    definition: Definition, run: Run, states: Sequence[str], outputs: Outputs
) -> dict[str, Any]:
    """Returns what a `when` is matched against. The statuses come from the row itself: the task of
    a dead step may have been revived since, or cancelled."""
    steps = {
        step.name: {**outputs.get(step.name, {}), "status": STATUSES[StepState(state)]}
        for step, state in zip(definition.steps, states, strict=True)
    }
    return {"input": run.spec.input, "steps": steps}


def _over(definition: Definition, run: Run, moment: Moment) -> Run:
    status = outcome(definition, run)
    error = run.error
    if status is RunStatus.SUCCEEDED:
        error = None
    elif status is RunStatus.FAILED and error is None:
        error = _any_failure(definition, run)
    return ended(replace(run, error=error), status, moment)


def _any_failure(definition: Definition, run: Run) -> RunError | None:
    """Returns the failure of a run whose first failure was taken back, but not another one."""
    for position, state in enumerate(run.states):
        if fails_run(definition, position, state):
            name = definition.steps[position].name
            task_id = step_task_id(run, name, position)
            return RunError(step=name, task_id=task_id, type="StepFailed", message="a step failed")
    return None
