"""What must always hold of workflow runs, as the store sees their rows and the tasks of their
steps. The laws are in run_row_laws, run_step_laws and run_lateness."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

from duetime.core.change import Change
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status
from duetime.core.task import Task
from duetime.core.workflows.run import Run
from tests.simulation.engine import Engine, Process
from tests.simulation.faults import Faults
from tests.simulation.run_history import RunHistory
from tests.simulation.run_lateness import Lateness
from tests.simulation.run_row_laws import RowLaws
from tests.simulation.run_step_laws import StepLaws

STATES = {"s": Status.SUCCEEDED, "d": Status.DEAD}


class RunInvariants:
    """`blame` gets each violation, and the id of its run or task."""

    def __init__(
        self,
        engine: Engine,
        faults: Faults,
        blame: Callable[[str, str], object],
        tasks: dict[str, Task],
    ) -> None:
        self._blame = blame
        self.history = RunHistory(engine, faults, tasks)
        self.rows = RowLaws(self.history, self._fail)
        self.steps = StepLaws(self.history, self._fail)
        self.lateness = Lateness(self.history, self._fail)
        self.retried: set[str] = set()  # runs that a client retries
        self.log = FollowUpLog(self)
        self._on = True

    def stop(self) -> None:
        """Ends the checks: from now on tasks are removed."""
        self._on = False
        self.lateness.stop()

    # the table

    def defined(self, digest: str, text: str) -> None:
        self.history.define(digest, text)

    def read(self, process: Process, runs: Mapping[str, Run]) -> None:
        for run in runs.values():
            self.history.reads[process, run.id] = run

    def written(self, process: Process, before: Run | None, after: Run) -> None:
        wake = f"{after.wake.at}" if after.wake else "-"
        stop = f"stop={after.stop}" if after.stop else ""
        process.note(
            "run", after.id, after.status, after.states, f"attempt={after.attempt}", stop, wake
        )
        self.history.write(before, after)
        self.rows.written(process, before, after)
        self.lateness.touch(after.id)
        self.history.note_refusals(after)

    def stored(self, process: Process, task: Task) -> None:
        if task.spec.step is not None:
            process.note("step", task.id, task.spec.step.run_id, task.spec.step.step)
            self.steps.stored(task)

    def changed(self, process: Process, change: Change, before: Task, after: Task) -> None:
        self.history.task_changed(before, after)
        self.steps.changed(process, change, before, after)
        if after.spec.step is not None and after.spec.step.run_id in self.history.rows:
            self.lateness.touch(after.spec.step.run_id)
            self.history.note_refusals(self.history.rows[after.spec.step.run_id])

    def set_aside(self, run_id: str) -> None:
        self._fail("a healthy run was set aside", run_id)

    def may_be_revived(self, task: Task) -> bool:
        """Whether somebody retries the run of a task, or the task of a run above it."""
        ref = task.spec.step
        run = self.history.rows.get(ref.run_id) if ref else None
        if run is None:
            return False
        above = self.history.tasks.get(run.spec.parent_task_id or "")
        again = above is not None and bool(self.history.revived_at[above.id])
        return run.id in self.retried or again or (above is not None and self.may_be_revived(above))

    # the handlers

    def given(self, task: Task) -> None:
        if self._on:
            self.steps.given(task, task.spec.payload)

    # the end

    @property
    def over(self) -> bool:
        """Whether every run is over and reported, and every follow-up is done."""
        return all(run.status.over and run.wake is None for run in self.history.rows.values())

    def unfinished(self) -> str | None:
        runs = self.history.rows.values()
        return next((run.id for run in runs if not run.status.over or run.wake is not None), None)

    def check(self) -> None:
        """Laws 4 and 6, once everything is at rest."""
        for run in self.history.rows.values():
            if not run.status.over or run.wake is not None:
                self._fail(f"is {run.status} at the end, with a wake at {run.wake}", run.id)
            for position, state in enumerate(run.states):
                self._check_step(run, position, state)

    def _check_step(self, run: Run, position: int, state: str) -> None:
        task = self.history.task(run, position)
        if task is None:
            if state in "sdc":
                self._fail(f"step {position} is {state}, and has no task", run.id)
            return
        if task.has_follow_up:
            self._fail("its follow-up is not done", task.id)
        if state == "s" and task.status is not Status.SUCCEEDED:
            self._fail(f"its step has succeeded, and it is {task.status}", task.id)
        if state == "c" and task.status not in (Status.CANCELLED, Status.EXPIRED):
            self._fail(f"its step was cancelled, and it is {task.status}", task.id)
        if state == "d" and task.status is Status.SUCCEEDED and task.id not in self.history.refused:
            self._fail("has succeeded, and its run does not know", task.id)
        if state in "wxuf" and task.status is not Status.CANCELLED:
            self._fail(f"its step is {state}, and it is {task.status}", task.id)

    def _fail(self, what: str, about: str) -> None:
        if self._on:
            self._blame(what, about)


class FollowUpLog:
    """Replaces the logger of the executor, which goes on after a follow-up that has failed. Only a
    store that does not answer is a reason to fail."""

    def __init__(self, invariants: RunInvariants) -> None:
        self._invariants = invariants

    def exception(self, message: str, *arguments: object, **more: Any) -> None:
        error = sys.exc_info()[1]
        if message == "follow-up failed" and not isinstance(error, Unavailable):
            about = more["extra"]["task_ids"][0]
            self._invariants._fail(f"the follow-up raised {error!r}", about)

    def warning(self, *message: object, **more: object) -> None:
        """Faults are expected."""

    info = error = debug = warning
