"""How a run goes on: the ends of its steps are recorded, and the next steps are created.

Three roles record an end: the executor after it has recorded the outcome, the relay, and the
scanner at the watch of the ended task. The row of the run is replaced under its revision, so of two
writers one reads again. Recording an end twice changes nothing.

The order of reads and writes matters:
- The row is read before the tasks. A reader of a retried row then sees the revived task, and never
  records an old death in a new attempt of the run.
- The row is written before the tasks of the next steps, so no task exists that its run does not
  know; they are created before the caller removes the watches of the ended tasks.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from duetime.core.change import Applied, Refused, Unknown
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.step_ref import StepRef
from duetime.core.steps.cancel import cancel, request_cancel
from duetime.core.steps.follow_up import follow_up_done
from duetime.core.steps.long_run import lacks_dead_letter
from duetime.core.task import Task
from duetime.core.value import value
from duetime.core.wakes import Wake
from duetime.core.workflows.advance import End, advance, end_of, needs_outputs, ready
from duetime.core.workflows.decide import NO_OUTPUTS
from duetime.core.workflows.definition import Definition
from duetime.core.workflows.maps import advance_map
from duetime.core.workflows.reconcile import positions_to_read, reconcile_actions, task_id_at
from duetime.core.workflows.run import Run, RunStatus, StepState
from duetime.core.workflows.stop import time_out
from duetime.core.workflows.watches import Moment, move_watch
from duetime.engine.workflows.definitions import definitions_of, run_store
from duetime.engine.workflows.outputs import step_outputs
from duetime.engine.workflows.steps import (
    STOPPED,
    ReadySteps,
    create_steps,
    put_placeholders,
)

log = logging.getLogger(__name__)

WRITE_TRIES = 5  # each lost to another writer of the row
RECONCILE_ROUNDS = 3  # what a round creates or cancels, the next one records


@value(frozen=True, kw_only=True, slots=True)
class _Group:
    """The ended tasks of one run, and the run as it was read."""

    run: Run
    definition: Definition
    tasks: list[Task]


def record_ends(ports: Ports, tasks: Sequence[Task]) -> list[Task]:
    """Records the ends of tasks of steps in their runs, and creates the tasks of the next steps.
    Returns the tasks, as they were read here, whose ends are recorded; the others keep their
    watch."""
    left = {task.id: task for task in tasks}
    done: list[Task] = []
    for _ in range(WRITE_TRIES):
        if not left:
            break
        groups, settled = _read(ports, list(left.values()))
        done += settled
        lost = _write(ports, groups, done)
        left = {task.id: task for group in lost for task in group.tasks}
    return done


def reconcile(ports: Ports, runs: Sequence[Run], *, watch: bool = False) -> bool:
    """Compares runs with the tasks of their steps, and repairs the difference. With `watch`, also
    moves the wake of a run that is not over: that is the scanner's call. Returns whether every task
    that was missing exists now, as far as the runs were those that are stored."""
    left, created = list(runs), True
    for number in range(RECONCILE_ROUNDS):
        if not left:
            break
        last = number + 1 == RECONCILE_ROUNDS
        definitions = definitions_of(ports, left)
        repaired = [
            _repair(ports, definitions[run.spec.digest], run, watch, last)
            for run in left
            if run.spec.digest in definitions
        ]
        left = [again for again, _ in repaired if again is not None]
        created = created and all(complete for _, complete in repaired)
    return created


def watch_runs(ports: Ports, wakes: Sequence[Wake]) -> list[Wake]:
    """Reconciles the runs whose wakes have come due. Returns the wakes of runs that exist, but
    cannot be read here."""
    found = {wake.task_id: wake for wake in wakes}
    store = run_store(ports)
    runs = store.get(list(found))
    reconcile(ports, [run for i, run in runs.items() if run.wake == found[i]], watch=True)
    missing = [run_id for run_id in found if run_id not in runs]
    return [found[run_id] for run_id in (store.exist(missing) if missing else ())]


def after_write(ports: Ports, definition: Definition, before: Run | None, after: Run) -> bool:
    """Does what follows from a new row: creates the steps that became ready, stops the steps of a
    run that is being cancelled, and reports the end of a run to the task that waits for it. Returns
    whether the tasks of the steps exist: otherwise the follow-up that wrote the row stays."""
    return after.id not in _after_writes(ports, [(definition, before, after)])


def _after_writes(ports: Ports, written: Sequence[tuple[Definition, Run | None, Run]]) -> set[str]:
    """Returns the ids of the runs of which the task of a step may be missing."""
    missing = create_steps(
        ports,
        [
            ReadySteps(definition=definition, run=after, positions=ready(before, after))
            for definition, before, after in written
        ],
    )
    for _, before, after in written:
        if _stops_now(before, after):
            missing |= set() if reconcile(ports, [after]) else {after.id}
        if after.status.over and after.spec.parent_task_id is not None:
            from duetime.engine.workflows.waits import report_end

            report_end(ports, after)
    return missing


def _stops_now(before: Run | None, after: Run) -> bool:
    changed = before is None or before.stop is not after.stop
    return after.status is RunStatus.CANCELLING and changed


def _read(ports: Ports, tasks: Sequence[Task]) -> tuple[list[_Group], list[Task]]:
    """Reads the runs, and then the tasks again. Returns the tasks by run, and those for which
    nothing is left to do since their run is gone."""
    store = run_store(ports)
    ids = list({task.spec.step.run_id for task in tasks if task.spec.step})
    runs = store.get(ids)
    fresh = ports.store.get([task.id for task in tasks])
    definitions = definitions_of(ports, runs.values())
    by_run: dict[str, list[Task]] = defaultdict(list)
    for task in fresh.values():
        if task.status.finished and task.spec.step:
            by_run[task.spec.step.run_id].append(task)
    missing = [run_id for run_id in by_run if run_id not in runs]
    unreadable = store.exist(missing) if missing else set()
    gone = [task for i in missing if i not in unreadable for task in by_run[i]]
    groups = [
        _Group(run=run, definition=definitions[run.spec.digest], tasks=by_run[run_id])
        for run_id, run in runs.items()
        if run_id in by_run and run.spec.digest in definitions
    ]
    return groups, gone


def _write(ports: Ports, groups: Sequence[_Group], done: list[Task]) -> list[_Group]:
    """Writes the rows in which something is to be recorded. Returns the groups whose row another
    writer has changed meanwhile."""
    changed: list[tuple[_Group, Run]] = []
    for group in groups:
        after = _advanced(ports, group.definition, group.run, _ends_of(group))
        if after is None:  # recorded before, perhaps by a process that was cut off after the row
            if reconcile(ports, [group.run]):
                done += group.tasks
        else:
            changed.append((group, after))
    answers = run_store(ports).put([after for _, after in changed]) if changed else []
    lost: list[_Group] = []
    applied: list[tuple[_Group, Run]] = []
    for (group, _), answer in zip(changed, answers, strict=True):
        match answer:
            case Applied(after):
                applied.append((group, after))
            case Refused():
                lost.append(group)
            case Unknown(reason):
                fields = {"step": "follow_up", "run_id": group.run.id}
                log.warning("run not written: %s", reason, extra=fields)
    missing = _after_writes(ports, [(group.definition, group.run, run) for group, run in applied])
    for group, run in applied:
        complete = not _has_recorded_ends(group) or reconcile(ports, [run])
        if complete and run.id not in missing:
            done += group.tasks
    return lost


def _has_recorded_ends(group: _Group) -> bool:
    """Whether the row had some of the ends before, or the death of a step that has succeeded since:
    the process that wrote it may have been cut off before it created the next steps."""
    found = (position_of(group.definition, group.run, task.spec.step) for task in group.tasks)
    return any(group.run.states[p] != StepState.UNDER_WAY for p in found if p is not None)


def _advanced(ports: Ports, definition: Definition, run: Run, ends: Sequence[End]) -> Run | None:
    if not ends:
        return None
    moment = moment_of(ports)
    if run.spec.map is not None:
        return advance_map(run, ends, moment=moment)
    names = needs_outputs(definition, run, ends, moment=moment)
    outputs = step_outputs(ports, definition, run, names) if names else NO_OUTPUTS
    return advance(definition, run, ends, moment=moment, outputs=outputs)


def moment_of(ports: Ports) -> Moment:
    return Moment(wake_policy=ports.wake_policy, at=ports.clock.now(), draw=ports.chance.draw())


def _repair(
    ports: Ports, definition: Definition, run: Run, watch: bool, last: bool
) -> tuple[Run | None, bool]:
    """Makes one round. Returns the run as it is stored now if another round is needed, and whether
    the tasks exist that this one had to create."""
    if run.status.over:
        if run.spec.parent_task_id is not None and run.wake is not None:
            from duetime.engine.workflows.waits import report_end

            report_end(ports, run)
        return None, True
    moment = moment_of(ports)
    tasks = _tasks_under_way(ports, definition, run)
    actions = reconcile_actions(definition, run, tasks)
    ready_steps = ReadySteps(definition=definition, run=run, positions=actions.creates)
    created = not create_steps(ports, [ready_steps])
    if actions.placeholders:
        put_placeholders(ports, definition, run, actions.placeholders)
    ended = {end.position: tasks[end.position] for end in actions.ends}
    ended |= _cancel(ports, {p: tasks[p] for p in actions.cancels})
    ended = _without_runs(ports, ended)
    ends = [end for p, task in ended.items() if (end := end_of(p, task))]
    after = _advanced(ports, definition, run, ends)
    if after is None:
        after = time_out(definition, run, moment=moment)
    moves = after is None and watch and run.wake is not None and run.wake.at <= moment.at
    if moves and (last or not actions.placeholders):
        after = move_watch(run, moment=moment)
    if after is None:
        return run if actions.placeholders and not last else None, created
    (answer,) = run_store(ports).put([after])
    if not isinstance(answer, Applied):  # another writer is at work on the same run
        return None, created and not isinstance(answer, Unknown)
    complete = after_write(ports, definition, run, after)
    if complete:
        _clear_follow_ups(ports, ended.values())
    return None if moves else after, created and complete


def _tasks_under_way(ports: Ports, definition: Definition, run: Run) -> dict[int, Task]:
    """Reads the tasks of the steps that are under way; of a run that is being cancelled also those
    of dead steps, which may have been revived."""
    ids = {task_id_at(definition, run, p): p for p in positions_to_read(run)}
    found = ports.store.get(list(ids)) if ids else {}
    return {ids[task_id]: task for task_id, task in found.items()}


def _cancel(ports: Ports, tasks: Mapping[int, Task]) -> dict[int, Task]:
    """Cancels tasks, or asks their holders to stop. Returns those that have ended."""
    now = ports.clock.now()
    changes = [
        request_cancel(task.id, now=now, reason=STOPPED)
        if task.status is Status.RUNNING
        else cancel(task, now=now, reason=STOPPED)
        for task in tasks.values()
    ]
    answers = ports.store.apply(changes) if changes else []
    return {
        position: answer.stored
        for position, answer in zip(tasks, answers, strict=True)
        if isinstance(answer, Applied) and answer.stored.status.finished
    }


def _without_runs(ports: Ports, ended: Mapping[int, Task]) -> dict[int, Task]:
    """Cancels the nested runs and maps that only these tasks waited for, before the ends of the
    tasks are recorded. Leaves out a task whose run could not be cancelled: it keeps its watch."""
    from duetime.engine.workflows.followups import leaves_no_run

    return {p: task for p, task in ended.items() if leaves_no_run(ports, task)}


def _clear_follow_ups(ports: Ports, tasks: Iterable[Task]) -> None:
    """A dead task that is still to get its dead letter keeps its watch, which sends it."""
    changes = [
        follow_up_done(task) for task in tasks if task.has_follow_up and not lacks_dead_letter(task)
    ]
    if changes:
        ports.store.apply(changes)


def _ends_of(group: _Group) -> list[End]:
    """Returns the ends that the run still knows; `advance` leaves out those of older tasks."""
    definition, run = group.definition, group.run
    found = ((position_of(definition, run, task.spec.step), task) for task in group.tasks)
    return [end for p, task in found if p is not None and (end := end_of(p, task)) is not None]


def position_of(definition: Definition, run: Run, ref: StepRef | None) -> int | None:
    if ref is None:
        return None
    position = ref.index if run.spec.map else definition.position.get(ref.step)
    return position if position is not None and position < len(run.states) else None
