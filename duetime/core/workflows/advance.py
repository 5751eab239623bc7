"""advance: what the ends of steps change in their run.

Every function returns the row to write, under the revision it was read with. A writer that loses
that race reads again and decides again, so no end counts twice and none is lost.
"""

import re
from collections.abc import Iterable

from duetime.core.lifecycle import Status
from duetime.core.task import Task, TaskError
from duetime.core.value import replace, value
from duetime.core.workflows.decide import NO_OUTPUTS, Outputs, decided, fails_run, rule_met
from duetime.core.workflows.definition import Definition
from duetime.core.workflows.references import outputs_in_pattern
from duetime.core.workflows.retry import late_success
from duetime.core.workflows.run import (
    ENDED,
    LIVE,
    Run,
    RunError,
    RunSpec,
    RunStatus,
    StepState,
    StopReason,
    step_task_id,
)
from duetime.core.workflows.watches import STOP_WATCH, Moment, watched, written

END_STATES = {
    Status.SUCCEEDED: StepState.SUCCEEDED,
    Status.DEAD: StepState.DEAD,
    Status.CANCELLED: StepState.CANCELLED,
    Status.EXPIRED: StepState.CANCELLED,
}
EXPIRED = TaskError(type="Expired", message="the step expired before it was done")


@value(frozen=True, kw_only=True, slots=True)
class End:
    """How the task of a step, or of an item of a map, has ended."""

    position: int
    state: StepState  # SUCCEEDED, DEAD or CANCELLED
    task_id: str
    attempt: int = 0  # of the task
    error_type: str | None = None
    error_message: str | None = None


def end_of(position: int, task: Task) -> End | None:
    """Returns how a task has ended; None while it is live."""
    if not task.status.finished:
        return None
    error = EXPIRED if task.status is Status.EXPIRED else _last_error(task)
    return End(
        position=position,
        state=END_STATES[task.status],
        task_id=task.id,
        attempt=task.attempt,
        error_type=error.type if error else None,
        error_message=error.message if error else None,
    )


def _last_error(task: Task) -> TaskError | None:
    failure = task.last_failure
    return failure.error if failure else None


def new_run(run_id: str, spec: RunSpec, length: int, moment: Moment) -> Run:
    """Returns a run of which nothing is decided."""
    run = Run(
        id=run_id,
        spec=spec,
        status=RunStatus.RUNNING,
        states=StepState.BLOCKED * length,
        revision=1,
        created_at=moment.at,
        updated_at=moment.at,
        timeout_at=spec.run_at + spec.timeout,
    )
    return watched(run, moment)


def start_run(definition: Definition, run_id: str, spec: RunSpec, *, moment: Moment) -> Run:
    """Returns a new run whose first steps are decided. If all of them are skipped, it is over."""
    return decided(definition, new_run(run_id, spec, len(definition.steps), moment), moment)


def advance(
    definition: Definition,
    run: Run,
    ends: Iterable[End],
    *,
    moment: Moment,
    outputs: Outputs = NO_OUTPUTS,
) -> Run | None:
    """Returns the run after these ends, or None if there was nothing to record. `outputs` must
    have those of the steps that `needs_outputs` names. A run whose timeout has passed, and which
    these ends do not complete, is stopped here: its watch may come a minute later."""
    recorded = _recorded(definition, run, ends, moment)
    if recorded is None:
        return None
    if recorded.status.over:  # a late success that did not resume it
        return written(recorded, moment)
    after = decided(definition, recorded, moment, outputs)
    if after.status is RunStatus.RUNNING and moment.at >= after.timeout_at:
        after = decided(definition, timed_out(recorded, moment), moment)
    return written(after, moment)


def needs_outputs(
    definition: Definition, run: Run, ends: Iterable[End], *, moment: Moment
) -> set[str]:
    """Returns the steps whose results a `when` asks for that these ends may decide. It names a few
    too many: whether a step is skipped may depend on another `when`."""
    if not definition.has_conditions:
        return set()
    run = _recorded(definition, run, ends, moment) or run
    asked: set[str] = set()
    skippable: set[int] = set()
    for position in definition.order:
        step = definition.steps[position]
        if run.states[position] != StepState.BLOCKED:
            continue
        needs = definition.needs[position]
        blocking = {run.states[n] for n in needs if n not in skippable} & LIVE
        # A cancellation decides all blocked steps, and then the `finally` steps.
        if blocking and (not step.last or StepState.UNDER_WAY in blocking):
            continue
        asked |= outputs_in_pattern(step.when)
        if step.when is not None or not rule_met(step, [run.states[n] for n in needs]):
            skippable.add(position)
    steps = zip(definition.steps, run.states, strict=True)
    return asked & {step.name for step, state in steps if state in ENDED}


def ready(before: Run | None, after: Run) -> list[int]:
    """Returns the positions that came under way: their tasks are to be created."""
    found = positions(after.states, "p")
    if before is None:
        return found
    return [n for n in found if before.states[n] != "p"]


def positions(states: str, wanted: str) -> list[int]:
    return [found.start() for found in re.finditer(f"[{wanted}]", states)]


def stopped(run: Run, reason: StopReason, moment: Moment) -> Run:
    """Returns the run as it is CANCELLING. Its watch comes soon: its live steps must not go on."""
    stopping = replace(run, status=RunStatus.CANCELLING, stop=reason)
    return watched(stopping, moment, after=STOP_WATCH)


def timed_out(run: Run, moment: Moment) -> Run:
    """Returns a run as it is CANCELLING since its timeout has passed. An earlier error is kept."""
    error = RunError(step=None, task_id=None, type="TimedOut", message="the run timed out")
    return stopped(replace(run, error=run.error or error), StopReason.TIMEOUT, moment)


def failure_of(step: str, end: End) -> RunError:
    cancelled = end.state is StepState.CANCELLED
    message = "was cancelled" if cancelled else "did not succeed"
    return RunError(
        step=step,
        task_id=end.task_id,
        type=end.error_type or ("Cancelled" if cancelled else "StepFailed"),
        message=end.error_message or f"the task of the step {message}",
    )


def _recorded(definition: Definition, run: Run, ends: Iterable[End], moment: Moment) -> Run | None:
    """Returns the run with the ends that count, before anything is decided."""
    if run.status.final:
        return None
    after = run
    for end in sorted(ends, key=lambda end: end.position):
        name = definition.steps[end.position].name
        if end.task_id == step_task_id(after, name, end.position):
            after = _with_end(definition, after, end, moment)
    return None if after is run else after


def _with_end(definition: Definition, run: Run, end: End, moment: Moment) -> Run:
    state = run.states[end.position]
    if state == StepState.DEAD and end.state is StepState.SUCCEEDED:
        return late_success(definition, run, end.position, moment) or run
    if state != StepState.UNDER_WAY:
        return run
    states = run.states[: end.position] + end.state + run.states[end.position + 1 :]
    run = replace(run, states=states)
    if not fails_run(definition, end.position, end.state):
        return run
    return _failed(definition, run, end, moment)


def _failed(definition: Definition, run: Run, end: End, moment: Moment) -> Run:
    step = definition.steps[end.position]
    cancelled_by_run = run.status is RunStatus.CANCELLING and end.state is StepState.CANCELLED
    if run.error is None and not cancelled_by_run:
        run = replace(run, error=failure_of(step.name, end))
    if run.spec.fail_fast and run.status is RunStatus.RUNNING and not step.last:
        return stopped(run, StopReason.FAIL_FAST, moment)
    return run
