"""What the API asks of runs: create, cancel, retry."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from duetime.core.change import Applied, Refused, Unknown
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.steps.revive import revivable, revive
from duetime.core.task import Task
from duetime.core.value import value
from duetime.core.wakes import WakeKind
from duetime.core.workflows.advance import positions, start_run
from duetime.core.workflows.codec import encode_definition
from duetime.core.workflows.decide import NO_OUTPUTS, Outputs
from duetime.core.workflows.definition import Definition
from duetime.core.workflows.maps import items_to_retry, retry_map
from duetime.core.workflows.reconcile import task_id_at
from duetime.core.workflows.references import outputs_in_pattern
from duetime.core.workflows.retry import RetryPlan, RetryRefused, retry_run, steps_to_retry
from duetime.core.workflows.run import Run, RunSpec, StepState
from duetime.core.workflows.stop import cancel_run
from duetime.engine.enqueue import try_enqueue
from duetime.engine.idempotency import IdempotencyKey, reserve_ids
from duetime.engine.refusal import CONTENTION, Refusal
from duetime.engine.workflows.definitions import definitions_of, run_store
from duetime.engine.workflows.outputs import step_outputs
from duetime.engine.workflows.progress import after_write, moment_of, reconcile

if TYPE_CHECKING:
    from duetime.engine.quotas import QuotaGate

WRITE_TRIES = 5


@value(frozen=True, kw_only=True, slots=True)
class CreatedRun:
    run: Run
    replayed: bool  # the idempotency key names a run that was there before


def create_run(
    ports: Ports, definition: Definition, spec: RunSpec, quotas: "QuotaGate | None" = None
) -> CreatedRun | Refusal:
    """Stores a run and creates the tasks of its first steps. The definition is stored before the
    run that names it. The run is durable before its tasks: if the process dies in between, the
    watch of the run creates them. Raises Unavailable if the store does not answer.

    A run counts as one submission, whatever the number of its steps. A repeated request gets its
    run also over the quota."""
    moment = moment_of(ports)
    (run_id,) = reserve_ids(ports, [_key(spec)], moment.at)
    if isinstance(run_id, Refusal):
        return run_id
    store = run_store(ports)
    if quotas and (refused := quotas.refusal(spec.namespace, "run")):
        found = store.get([run_id]).get(run_id) if spec.idempotency_key else None
        return CreatedRun(run=found, replayed=True) if found else refused
    run = start_run(definition, run_id, spec, moment=moment)
    _keep_definition(ports, definition, run)
    (answer,) = store.put([run])
    match answer:
        case Applied(stored):
            after_write(ports, definition, None, stored)
            return CreatedRun(run=stored, replayed=False)
        case Refused(Run() as stored):
            return CreatedRun(run=stored, replayed=True)
        case Unknown(reason):
            raise Unavailable(reason)
    raise Unavailable("the run was removed meanwhile")


def cancel_stored(ports: Ports, run: Run) -> Run | None:
    """Cancels a run; a second call also cancels its `finally` steps. Returns the run as it is
    stored, or None if it is over. Raises Unavailable if the store does not answer."""
    current: Run | None = run
    for _ in range(WRITE_TRIES):
        if current is None or current.status.over:
            return None
        definition = definitions_of(ports, [current])[current.spec.digest]
        after = cancel_run(definition, current, moment=moment_of(ports))
        if after is None:
            return current
        (answer,) = run_store(ports).put([after])
        match answer:
            case Applied(stored):
                after_write(ports, definition, current, stored)
                return stored
            case Refused(stored):
                current = stored
            case Unknown(reason):
                raise Unavailable(reason)
    raise Unavailable(CONTENTION)


def retry_stored(ports: Ports, run: Run, steps: Sequence[str] | None = None) -> Run | RetryRefused:
    """Runs the steps of a failed run again, and everything that depends on them. What succeeded
    before or beside them is kept.

    The dead tasks are revived before the row is written: a reader that sees a step under way in the
    new attempt of the run never sees its old death. If it is cut off in between, the revived tasks
    run by their own watches, and a repeated retry goes on from there."""
    current: Run | None = run
    revived: list[Task] = []
    for _ in range(WRITE_TRIES):
        if current is None:
            return RetryRefused(reason="the run was removed")
        definition = definitions_of(ports, [current]).get(current.spec.digest)
        if definition is None:
            return RetryRefused(reason="the definition of the run is no longer kept")
        plan = _plan(definition, current, steps)
        if isinstance(plan, RetryRefused):
            return plan
        if lost := _lost_result(ports, definition, current, plan):
            return RetryRefused(reason=f"the result of step {lost} is no longer kept")
        statuses = _revive(ports, definition, current, plan.revive, revived)
        after = _retried(ports, definition, current, statuses, steps)
        if isinstance(after, RetryRefused):
            return after
        _keep_definition(ports, definition, after)
        (answer,) = run_store(ports).put([after])
        match answer:
            case Applied(stored):
                after_write(ports, definition, current, stored)
                try_enqueue(ports, [task for task in revived if _is_near(task)])
                reconcile(ports, [stored])
                return stored
            case Refused(stored):
                current = stored
            case Unknown(reason):
                raise Unavailable(reason)
    raise Unavailable(CONTENTION)


def _keep_definition(ports: Ports, definition: Definition, run: Run) -> None:
    """Stores the definition of a run that has its own; that of a workflow is stored for good."""
    if run.spec.workflow is None:
        text = encode_definition(definition)
        run_store(ports).put_definition(run.spec.digest, text, run.timeout_at)


def _lost_result(ports: Ports, definition: Definition, run: Run, plan: RetryPlan) -> str | None:
    """Returns a step that has succeeded, and whose task was removed after its retention. A FAILED
    run is kept for longer; a step that is run again would find nothing where it refers to that one.
    The items of a map are asked when they are read."""
    if run.spec.map:
        return None
    kept = [n for n in positions(run.states, StepState.SUCCEEDED) if n not in plan.steps]
    ids = {task_id_at(definition, run, position): position for position in kept}
    lost = ids.keys() - ports.store.get(list(ids)).keys() if ids else set()
    return definition.steps[min(ids[task_id] for task_id in lost)].name if lost else None


def _plan(
    definition: Definition, run: Run, steps: Sequence[str] | None
) -> RetryPlan | RetryRefused:
    return items_to_retry(run) if run.spec.map else steps_to_retry(definition, run, steps)


def _retried(
    ports: Ports,
    definition: Definition,
    run: Run,
    revived: Mapping[int, Status],
    steps: Sequence[str] | None,
) -> Run | RetryRefused:
    moment = moment_of(ports)
    if run.spec.map:
        return retry_map(run, revived, moment=moment)
    outputs = _outputs(ports, definition, run)
    return retry_run(definition, run, revived, moment=moment, named=steps, outputs=outputs)


def _outputs(ports: Ports, definition: Definition, run: Run) -> Outputs:
    """Returns the outputs of every step that a condition asks for."""
    names = {name for step in definition.steps for name in outputs_in_pattern(step.when)}
    return step_outputs(ports, definition, run, names) if names else NO_OUTPUTS


def _revive(
    ports: Ports, definition: Definition, run: Run, positions: Sequence[int], revived: list[Task]
) -> dict[int, Status]:
    """Revives the dead tasks of steps, without sending them. Returns the status of each task now;
    a task that has succeeded meanwhile is not run again. Adds the tasks to `revived` that this
    process has to send: one that another process has revived is sent by that process."""
    ids = {task_id_at(definition, run, position): position for position in positions}
    tasks = ports.store.get(list(ids)) if ids else {}
    now = ports.clock.now()
    dead = [task for task in tasks.values() if revivable(task)]
    changes = [revive(ports.wake_policy, task, now=now, draw=ports.chance.draw()) for task in dead]
    for answer in ports.store.apply(changes) if changes else []:
        if isinstance(answer, Unknown):
            raise Unavailable(answer.reason)
        if answer.stored is not None:
            tasks[answer.stored.id] = answer.stored
        if isinstance(answer, Applied):
            revived.append(answer.stored)
    return {ids[task_id]: task.status for task_id, task in tasks.items()}


def _is_near(task: Task) -> bool:
    return task.wake is not None and task.wake.kind is WakeKind.WATCH


def _key(spec: RunSpec) -> IdempotencyKey | None:
    if spec.idempotency_key is None:
        return None
    return IdempotencyKey(
        text=spec.idempotency_key,
        namespace=f"{spec.namespace}/runs",  # a task may have the same key
        body_hash=spec.body_hash or "",
        item="run",
    )
