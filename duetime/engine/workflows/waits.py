"""Tasks that wait for a run: a nested workflow, or the items of a map.

The task is suspended first, and then its run is created, so the run cannot end before the task
waits. The end of the run resumes the task, and then the wake of the run is removed. Each of these
may be cut off: the watch of the task creates a run that is missing and asks a run that is over,
and a run that has ended keeps its wake until its end is reported.
"""

from collections.abc import Sequence
from typing import Any

from duetime.core.change import Applied, Change, Unknown
from duetime.core.errors import PermanentError
from duetime.core.large_texts import pack_object, reference_to
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.results import encode_result, is_large
from duetime.core.steps.cancel import cancel
from duetime.core.steps.suspend import (
    expire_wait,
    resume_with_cancellation,
    resume_with_failure,
    resume_with_success,
    watch_again,
)
from duetime.core.suspension import Suspension, WaitsFor
from duetime.core.task import Task, TaskError
from duetime.core.workflows.run import MAX_RUN_ATTEMPTS, Run, RunStatus, waited_run_id
from duetime.core.workflows.watches import reported
from duetime.engine.enqueue import enqueue
from duetime.engine.workflows.definitions import run_store
from duetime.engine.workflows.progress import after_write
from duetime.engine.workflows.steps import STOPPED
from duetime.engine.workflows.waited_runs import WaitedRun, begin, cancelled, run_result


def wait_for_run(ports: Ports, task: Task) -> Suspension | Any:
    """Returns the suspension of a task whose target is a workflow or a map; if its run is over
    already, the result. Raises PermanentError if the run cannot begin."""
    run_id = waited_run_id(task.id, task.created_at)
    run = run_store(ports).get([run_id]).get(run_id)
    if run is None:
        begun = begin(ports, task)
        if begun.run.status is RunStatus.SUCCEEDED:  # a map without items
            return run_result(ports, begun.run)
        return Suspension(kind=WaitsFor.RUN, id=run_id, run_attempt=1)
    if run.status is RunStatus.SUCCEEDED:
        return run_result(ports, run)
    attempt = run.attempt + 1 if run.status is RunStatus.FAILED else run.attempt
    if attempt > MAX_RUN_ATTEMPTS:  # cannot be retried, so its end would never come
        raise PermanentError(f"the run {run_id} has failed {MAX_RUN_ATTEMPTS} times")
    return Suspension(kind=WaitsFor.RUN, id=run_id, run_attempt=attempt)


def start_waited_runs(ports: Ports, tasks: Sequence[Task]) -> None:
    """Creates the runs that suspended tasks wait for, or retries those that had failed. If this is
    cut off, the watch of the task does it."""
    for task in tasks:
        waits = task.suspended
        if task.cancel_requested:
            _cancel_waiting(ports, task)
        elif task.status is Status.WAITING and waits and waits.kind is WaitsFor.RUN:
            _start(ports, task, waits)


def watch_waiting(ports: Ports, tasks: Sequence[Task]) -> None:
    """Checks tasks that wait, at their watch."""
    now = ports.clock.now()
    for task in tasks:
        waits = task.suspended
        if waits is None:
            continue
        if task.cancel_requested:
            _cancel_waiting(ports, task)
        elif waits.until is not None and waits.until <= now:
            ports.store.apply([expire_wait(task, now=now)])
        elif waits.kind is not WaitsFor.RUN or not _start(ports, task, waits):
            ports.store.apply([watch_again(ports.wake_policy, task, now=now)])


def report_end(ports: Ports, run: Run) -> None:
    """Resumes the task that waits for a run that is over, and removes the wake of the run. A task
    that waits for something else, or not at all, needs no report."""
    parent_id = run.spec.parent_task_id
    task = ports.store.get([parent_id]).get(parent_id) if parent_id else None
    if task is not None and _waits_for(task, run) and not _resume(ports, task, run):
        return
    if run.wake is not None:
        done = reported(run, now=ports.clock.now())
        run_store(ports).put([done])  # if refused, the run was retried, and reports again


def cancel_waited_run(ports: Ports, task: Task) -> bool:
    """Cancels the run of a task that was cancelled while it waited, or before its run was created:
    then a cancelled run is created in its place. Returns whether it is done."""
    from duetime.engine.workflows.requests import cancel_stored

    store, run_id = run_store(ports), waited_run_id(task.id, task.created_at)
    run = store.get([run_id]).get(run_id)
    if run is None and task.attempt > 0:
        begun = _try_to_begin(ports, task)
        if begun is None:
            return True
        (answer,) = store.put([cancelled(begun.run, ports)])
        if isinstance(answer, Unknown):
            return False
        run = None if isinstance(answer, Applied) else answer.stored
    if run is None or run.status.over:
        return True
    return cancel_stored(ports, run) is not None


def _start(ports: Ports, task: Task, waits: Suspension) -> bool:
    """Creates, retries or reports the run that a task waits for. Returns whether the watch of the
    task stays where it is: the task was resumed, or the store has not answered, and the next tick
    asks again."""
    from duetime.engine.workflows.requests import retry_stored

    store = run_store(ports)
    run = store.get([waits.id]).get(waits.id)
    if run is None and waits.id in store.exist([waits.id]):
        return False  # unreadable here
    if run is None:
        return _create(ports, task)
    if run.status is RunStatus.FAILED and run.attempt < waits.run_attempt:
        retry_stored(ports, run)
        return False
    if run.status.over:
        report_end(ports, run)
        return True
    return False


def _create(ports: Ports, task: Task) -> bool:
    try:
        begun = begin(ports, task)
    except PermanentError as error:
        _fail(ports, task, TaskError(type=type(error).__name__, message=str(error)))
        return True
    (answer,) = run_store(ports).put([begun.run])
    if isinstance(answer, Applied):
        after_write(ports, begun.definition, None, answer.stored)
    return isinstance(answer, Unknown)


def _try_to_begin(ports: Ports, task: Task) -> WaitedRun | None:
    try:
        return begin(ports, task)
    except PermanentError:
        return None


def _cancel_waiting(ports: Ports, task: Task) -> None:
    """Ends a task that was asked to stop during the attempt in which it was suspended."""
    (answer,) = ports.store.apply([cancel(task, now=ports.clock.now(), reason=task.reason)])
    if isinstance(answer, Applied):
        from duetime.engine.followups import run_follow_ups

        run_follow_ups(ports, [answer.stored])


def _waits_for(task: Task, run: Run) -> bool:
    waits = task.suspended
    return (
        task.status is Status.WAITING
        and waits is not None
        and waits.id == run.id
        and waits.run_attempt <= run.attempt
    )


def _resume(ports: Ports, task: Task, run: Run) -> bool:
    """Returns whether the store has answered."""
    now = ports.clock.now()
    if run.status is RunStatus.FAILED:
        return _fail(ports, task, _error_of(run))
    change: Change
    if run.status is RunStatus.SUCCEEDED:
        result = _stored_result(ports, task, run_result(ports, run))
        change = resume_with_success(task, result=result, now=now)
    else:
        change = resume_with_cancellation(task, reason=STOPPED, now=now)
    (answer,) = ports.store.apply([change])
    if isinstance(answer, Applied):
        from duetime.engine.followups import run_follow_ups

        run_follow_ups(ports, [answer.stored])
    return not isinstance(answer, Unknown)


def _stored_result(ports: Ports, task: Task, result: Any) -> str | None:
    """Returns the text of a result as the task stores it; a large one becomes an object."""
    text = encode_result(result, large=ports.objects is not None)
    if text is None or ports.objects is None or not is_large(text):
        return text
    reference = reference_to(text)
    ports.objects.put(task.id, reference.name, pack_object(text))
    return str(reference)


def _fail(ports: Ports, task: Task, error: TaskError) -> bool:
    now, draw = ports.clock.now(), ports.chance.draw()
    change = resume_with_failure(ports.wake_policy, task, error, now=now, draw=draw)
    (answer,) = ports.store.apply([change])
    if isinstance(answer, Applied):
        enqueue(ports, [answer.stored])
    return not isinstance(answer, Unknown)


def _error_of(run: Run) -> TaskError:
    error = run.error
    if error is None:
        return TaskError(type="RunFailed", message=f"the run {run.id} failed")
    where = f"step {error.step}: " if error.step else ""
    return TaskError(type=error.type, message=f"{where}{error.message}")
