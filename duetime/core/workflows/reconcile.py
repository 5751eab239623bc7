"""Reconcile: the difference between a run and the tasks of its steps, and the gate before a lease.

The row is read before the tasks. A step of a cancelled run whose task is missing gets a task that
is created as CANCELLED: a process that was held up before it created the step's task is refused.
"""

from collections.abc import Mapping
from dataclasses import field

from duetime.core.task import Task
from duetime.core.value import value
from duetime.core.workflows.advance import End, end_of, positions
from duetime.core.workflows.definition import Definition
from duetime.core.workflows.run import Run, RunStatus, StepState, StopReason, step_task_id


@value(frozen=True, kw_only=True, slots=True)
class Repairs:
    """What brings the tasks of a run in line with its row, by position."""

    creates: list[int] = field(default_factory=list)
    placeholders: list[int] = field(default_factory=list)  # created as CANCELLED
    cancels: list[int] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)


def task_id_at(definition: Definition, run: Run, position: int) -> str:
    """Returns the id of the current task of a step, or of an item of a map."""
    if run.spec.map:
        return step_task_id(run, run.spec.map.step, position, position)
    return step_task_id(run, definition.steps[position].name, position)


def admits(definition: Definition, run: Run, position: int, task_id: str) -> bool:
    """Whether an attempt of this task may start. A task of an earlier generation may not."""
    if run.status.final or task_id != task_id_at(definition, run, position):
        return False
    return not _cancels(definition, run, position)


def positions_to_read(run: Run) -> list[int]:
    """Returns the positions whose tasks reconcile reads: those under way, and in a CANCELLING run
    the dead ones, which may have been revived before the run was cancelled."""
    return positions(run.states, "pd" if run.status is RunStatus.CANCELLING else "p")


def reconcile_actions(definition: Definition, run: Run, tasks: Mapping[int, Task]) -> Repairs:
    """Returns the repairs of a run. `tasks` has those at `positions_to_read`, read after the run;
    a missing one does not exist."""
    repairs = Repairs()
    if run.status.over:
        return repairs
    for position in positions_to_read(run):
        _repair(repairs, run, position, tasks.get(position), _cancels(definition, run, position))
    return repairs


def _repair(repairs: Repairs, run: Run, position: int, task: Task | None, cancels: bool) -> None:
    dead = run.states[position] == StepState.DEAD
    if task is None:
        if not dead:
            (repairs.placeholders if cancels else repairs.creates).append(position)
    elif (end := end_of(position, task)) is None:
        if cancels:
            repairs.cancels.append(position)
    elif not dead or end.state is StepState.SUCCEEDED:
        repairs.ends.append(end)


def _cancels(definition: Definition, run: Run, position: int) -> bool:
    """Whether the step must not start. `finally` steps run in a cancelled run, too."""
    if run.status is not RunStatus.CANCELLING:
        return False
    goes_on = run.spec.map is None and definition.steps[position].last
    return not goes_on or run.stop is StopReason.CANCEL_ALL
