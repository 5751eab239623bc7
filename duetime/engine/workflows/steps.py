"""The tasks of steps: created under ids that follow from the run, so that only one of several
writers creates each."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from duetime.core.change import Answer, Applied, Unknown
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.step_ref import StepRef
from duetime.core.steps.submit import submit
from duetime.core.task import Spec, Task
from duetime.core.times import Millis, seconds
from duetime.core.value import value
from duetime.core.workflows.definition import STEP, Definition, WorkflowStep
from duetime.core.workflows.keys import StepKeys
from duetime.core.workflows.run import Run, RunStatus, step_task_id
from duetime.engine.ordered import put_in_order
from duetime.engine.submission import enqueue_due
from duetime.engine.workflows.step_keys import keys_of_steps

log = logging.getLogger(__name__)

STOPPED = "workflow"  # the reason of a task that is cancelled with its run
LEAN_TARGET = {"type": STEP}


@value(frozen=True, kw_only=True, slots=True)
class ReadySteps:
    """The steps of a run whose tasks are to be created, by position."""

    definition: Definition
    run: Run
    positions: Sequence[int]


def create_steps(ports: Ports, ready: Sequence[ReadySteps]) -> set[str]:
    """Creates the tasks of steps that are under way, those of all runs together, and sends what is
    due. A task that exists was created by another role, which has sent it, or its watch does.
    Returns the ids of the runs of which a task may be missing, since the store has not answered."""
    now = ports.clock.now()
    tasks = [task for steps in ready for task in _tasks(ports, steps, now)]
    if not tasks:
        return set()
    answers = _put(ports, tasks)
    _log_unknown(tasks, answers)
    created = [t for t, answer in zip(tasks, answers, strict=True) if isinstance(answer, Applied)]
    enqueue_due(ports, created)
    pairs = zip(tasks, answers, strict=True)
    unknown = [task.spec.step for task, answer in pairs if isinstance(answer, Unknown)]
    return {ref.run_id for ref in unknown if ref}


def _tasks(ports: Ports, steps: ReadySteps, now: Millis) -> list[Task]:
    definition, run = steps.definition, steps.run
    keys = keys_of_steps(ports, definition, run, steps.positions)
    return [step_task(ports, definition, run, p, now, keys.get(p)) for p in steps.positions]


def put_placeholders(
    ports: Ports, definition: Definition, run: Run, positions: Sequence[int]
) -> None:
    """Creates tasks that are CANCELLED from the start, so that a writer that was delayed since
    before the cancellation cannot create them any more."""
    now = ports.clock.now()
    tasks = [step_task(ports, definition, run, position, now) for position in positions]
    placeholders = [
        replace(task, status=Status.CANCELLED, wake=None, cancel_requested=True, reason=STOPPED)
        for task in tasks
    ]
    _log_unknown(placeholders, ports.store.put(placeholders))


def step_task(
    ports: Ports,
    definition: Definition,
    run: Run,
    position: int,
    now: Millis,
    keys: StepKeys | None = None,
) -> Task:
    """Without `keys` the task waits under none: it is one that does not start."""
    window = run.spec.map
    step = definition.step(window.step) if window else definition.steps[position]
    index = position if window else None
    return submit(
        ports.wake_policy,
        step_task_id(run, step.name, position, index),
        _spec(run, step, index, now, keys or StepKeys()),
        now=now,
        draw=ports.chance.draw(),
    )


def _spec(run: Run, step: WorkflowStep, index: int | None, now: Millis, keys: StepKeys) -> Spec:
    return Spec(
        target=LEAN_TARGET,
        step=StepRef(run_id=run.id, step=step.name, index=index, run_timeout=run.spec.timeout),
        run_at=now if index is not None else _run_at(run, step, now),
        namespace=run.spec.namespace,
        priority=step.priority or run.spec.priority,
        tags=step.tags,
        trace=run.spec.trace,
        **_own_fields(step, index, keys),
    )


def _own_fields(step: WorkflowStep, index: int | None, keys: StepKeys) -> dict[str, Any]:
    """The task of a map itself only waits for its items: limits and retries are theirs."""
    if step.map is not None and index is None:
        return {}
    return {
        "pool": step.pool,
        "timeout": step.timeout,
        "retry": step.retry,
        "limits": keys.limits,
        "ordering_key": keys.ordering_key,
    }


def _run_at(run: Run, step: WorkflowStep, now: Millis) -> Millis:
    """A run that is cancelled before its start does not wait for it to clean up."""
    start = now if run.status is RunStatus.CANCELLING else max(run.spec.run_at, now)
    return max(start + seconds(step.delay), step.until or 0)


def _put(ports: Ports, tasks: Sequence[Task]) -> list[Answer]:
    if any(task.spec.ordering_key is not None for task in tasks):
        return put_in_order(ports, tasks, lambda: ports.store.put(tasks))
    return ports.store.put(tasks)


def _log_unknown(tasks: Sequence[Task], answers: Sequence[Answer]) -> None:
    """Logs what was not answered. A follow-up that stays creates what is missing, or the watch of
    the run."""
    for task, answer in zip(tasks, answers, strict=True):
        if isinstance(answer, Unknown):
            run_id = task.spec.step.run_id if task.spec.step else None
            fields = {"step": "follow_up", "task_id": task.id, "run_id": run_id}
            log.warning("step not created: %s", answer.reason, extra=fields)
