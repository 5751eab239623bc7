"""What runs again: the retry of a failed run, and the late success of a dead step.

Both take back steps that were decided with knowledge of a failure, and decide them again in a new
run attempt. What came before the failure, or beside it, is kept.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from duetime.core.lifecycle import Status
from duetime.core.value import value
from duetime.core.workflows.decide import NO_OUTPUTS, Outputs, decided
from duetime.core.workflows.definition import Definition
from duetime.core.workflows.run import (
    ENDED,
    FAILED,
    GENERATIONS,
    MAX_RUN_ATTEMPTS,
    STARTED,
    Run,
    RunError,
    RunStatus,
    StepState,
)
from duetime.core.workflows.watches import Moment, watched, written

COMPENSATED = "compensated"
STOPPED = "stopped"
TAKEN_BACK = FAILED | {StepState.STOPPED}


@value(frozen=True, kw_only=True, slots=True)
class RetryPlan:
    """`steps` are decided again; the tasks of `revive` are revived before the row is written."""

    steps: frozenset[int]
    revive: tuple[int, ...]


@value(frozen=True, kw_only=True, slots=True)
class RetryRefused:
    reason: str


def steps_to_retry(
    definition: Definition, run: Run, named: Iterable[str] | None = None
) -> RetryPlan | RetryRefused:
    """Returns what a retry of the whole run, or of named steps, takes back. Steps that were
    stopped are always taken back: what stopped them is over."""
    if refused := refusal(run):
        return refused
    if unknown := [name for name in named or () if name not in definition.position]:
        return RetryRefused(reason=f"the run has no step {unknown[0]}")
    chosen = None if named is None else {definition.position[name] for name in named}
    if chosen and (kept := [n for n in chosen if run.states[n] not in TAKEN_BACK]):
        return RetryRefused(reason=f"the step {definition.steps[min(kept)].name} has not failed")
    steps = _taken_back(definition, run, chosen)
    dead = (n for n in sorted(steps) if run.states[n] == StepState.DEAD)
    first = (n for n in dead if steps.isdisjoint(_upstream(definition, n)))
    return RetryPlan(steps=frozenset(steps), revive=tuple(first))


def refusal(run: Run) -> RetryRefused | None:
    if run.status is not RunStatus.FAILED:
        return RetryRefused(reason=f"the run is {run.status}, not FAILED")
    if run.attempt >= MAX_RUN_ATTEMPTS:
        return RetryRefused(reason=f"the run has had {MAX_RUN_ATTEMPTS} attempts")
    return None


def retry_run(
    definition: Definition,
    run: Run,
    revived: Mapping[int, Status],
    *,
    moment: Moment,
    named: Iterable[str] | None = None,
    outputs: Outputs = NO_OUTPUTS,
) -> Run | RetryRefused:
    """Returns the run in its next attempt. `revived` has the statuses of the tasks of the plan's
    `revive`, read after they were revived: a reader that sees `p` must not see the old death."""
    plan = steps_to_retry(definition, run, named)
    if isinstance(plan, RetryRefused):
        return plan
    taken = take_back(run, plan, revived, moment, names=[step.name for step in definition.steps])
    return written(decided(definition, taken, moment, outputs), moment)


def take_back(
    run: Run, plan: RetryPlan, revived: Mapping[int, Status], moment: Moment, names: list[str]
) -> Run:
    """Returns the run in its next attempt, before its steps are decided. It waits for `timeout`
    once more. `names` are those of the steps, to see whose failure is taken back."""
    states, generations = list(run.states), list(run.generations or "1" * len(run.states))
    for position in plan.steps:
        state = _state_after(position, plan, revived)
        if state == StepState.BLOCKED and states[position] in ENDED:
            generations[position] = GENERATIONS[run.attempt + 1]
        states[position] = state
    taken = {names[n] for n in plan.steps} if names else {run.error and run.error.step}
    kept = run.error if run.error and run.error.step and run.error.step not in taken else None
    changed = replace(run, states="".join(states), generations="".join(generations), error=kept)
    return _reopened(changed, moment)


def late_success(definition: Definition, run: Run, position: int, moment: Moment) -> Run | None:
    """Returns the run after a dead step has succeeded, before its dependents are decided; None if
    there is nothing to record. It resumes only a run in which nothing has reacted to the failure:
    otherwise steps would run after those that have cleaned up."""
    after = _downstream(definition, {position})
    if any(run.states[n] in STARTED for n in after):
        return refused_late(run, COMPENSATED)
    if definition.steps[position].last:  # has started, as have the other `finally` steps
        return refused_late(run, COMPENSATED)
    if run.stop or StepState.STOPPED in run.states:
        return refused_late(run, STOPPED)
    name = definition.steps[position].name
    return resumed(run, position, after, moment, name)


def resumed(
    run: Run, position: int, after: Iterable[int], moment: Moment, name: str | None
) -> Run | None:
    if run.attempt >= MAX_RUN_ATTEMPTS:
        return None
    states = list(run.states)
    states[position] = StepState.SUCCEEDED
    for n in after:
        states[n] = StepState.BLOCKED
    kept = run.error if run.error and run.error.step != name else None
    changed = replace(run, states="".join(states), error=kept)
    if run.status is RunStatus.RUNNING:
        return replace(changed, attempt=run.attempt + 1)
    return _reopened(changed, moment)


def _reopened(run: Run, moment: Moment) -> Run:
    opened = replace(
        run,
        status=RunStatus.RUNNING,
        attempt=run.attempt + 1,
        stop=None,
        finished_at=None,
        timeout_at=moment.at + run.spec.timeout,
    )
    return watched(opened, moment)


def refused_late(run: Run, reason: str) -> Run | None:
    error: RunError | None = run.error
    if error is None or error.reason is not None:
        return None
    return replace(run, error=replace(error, reason=reason))


def _state_after(position: int, plan: RetryPlan, revived: Mapping[int, Status]) -> StepState:
    if position not in plan.revive:
        return StepState.BLOCKED
    status = revived.get(position)
    if status is Status.SUCCEEDED:
        return StepState.SUCCEEDED
    if status in (Status.CANCELLED, Status.EXPIRED):
        return StepState.BLOCKED
    return StepState.UNDER_WAY  # if it died again, reconcile records that


def _taken_back(definition: Definition, run: Run, chosen: set[int] | None) -> set[int]:
    failed = {n for n, state in enumerate(run.states) if state in TAKEN_BACK}
    stopped = {n for n in failed if run.states[n] == StepState.STOPPED}
    steps = failed if chosen is None else chosen | stopped
    last = {n for n, step in enumerate(definition.steps) if step.last}
    return steps | last | _downstream(definition, steps)


def _downstream(definition: Definition, steps: set[int]) -> set[int]:
    """Returns every step that needs one of them, directly or not: `finally` steps, too."""
    found = set(steps)
    for position in definition.order:
        if not found.isdisjoint(definition.needs[position]):
            found.add(position)
    return found - steps


def _upstream(definition: Definition, position: int) -> set[int]:
    found: set[int] = set()
    pending = list(definition.needs[position])
    while pending:
        if (need := pending.pop()) not in found:
            found.add(need)
            pending += definition.needs[need]
    return found
