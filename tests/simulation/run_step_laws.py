"""What must hold of the tasks of steps: laws 2, 3, 5, 8 and 9 of runs."""

from collections.abc import Callable
from typing import Any

from duetime.core.change import Change
from duetime.core.lifecycle import Status, Step
from duetime.core.steps.follow_up import RELAY_GRACE
from duetime.core.suspension import WaitsFor
from duetime.core.task import Task
from duetime.core.times import MINUTE, Millis
from duetime.core.wakes import WakeKind
from duetime.core.workflows.run import Run, RunStatus, waited_run_id
from tests.simulation.engine import Process
from tests.simulation.run_conditions import decisions, result_of
from tests.simulation.run_history import ENDED, RunHistory

Blame = Callable[[str, str], object]

STOPPED_WITHIN: Millis = MINUTE  # after a cancellation, in a calm world
REPORTS = {
    Status.SUCCEEDED: RunStatus.SUCCEEDED,
    Status.CANCELLED: RunStatus.CANCELLED,
    Status.RETRYING: RunStatus.FAILED,
}


class StepLaws:
    def __init__(self, history: RunHistory, blame: Blame) -> None:
        self._history = history
        self._blame = blame
        self.callbacks: dict[str, tuple[str, int]] = {}  # a client's process → task and attempt

    def stored(self, task: Task) -> None:
        """Law 2: a task comes into being after its row said so, and not in a run that is over."""
        if task.spec.step is None:
            return
        place = self._history.place(task)
        if task.id not in self._history.named:
            self._blame("was created, and its run does not know it", task.id)
        elif place is not None and place[0].status.final and task.status is not Status.CANCELLED:
            self._blame(f"was created in a run that is {place[0].status}", task.id)

    def changed(self, process: Process, change: Change, before: Task, after: Task) -> None:
        is_step, starts = after.spec.step is not None, before.status is not after.status
        if is_step and starts and change.step is Step.LEASE:
            self._check_start(process, before, after)
        if is_step and after.status.finished:
            self._check_follow_up(change, before, after)
        if change.step is Step.RESUME and before.suspended is not None:
            self._check_report(process, before, after)

    def _check_follow_up(self, change: Change, before: Task, after: Task) -> None:
        """A task that ends keeps a watch that comes soon, until its run knows of the end and the
        tasks of the next steps exist."""
        wake, now = after.wake, self._history.engine.now
        if not before.status.finished:
            latest = now + RELAY_GRACE + 2 * self._history.faults.skew
            if wake is None or wake.kind is not WakeKind.WATCH or wake.at > latest:
                self._blame(f"has ended, and its follow-up is left to {wake}", after.id)
        place = self._history.place(after)
        if change.step is not Step.FOLLOW_UP or wake is not None or place is None:
            return
        run, position = place
        late = run.states[position] == "d" and after.status is Status.SUCCEEDED
        if late and not run.status.final and not self._history.has_reacted(run, position):
            self._blame("its follow-up is done, and its run does not know of the success", after.id)
        if run.status.over:
            return
        if run.states[position] == "p":
            self._blame("its follow-up is done, and its run does not know", after.id)
        for other, state in enumerate(run.states):
            needs = self._history.needs(run, other)
            if state != "p" or position not in needs or self._history.task(run, other):
                continue
            left = [self._history.task(run, need) for need in needs]
            if not any(task is not None and task.has_follow_up for task in left):
                self._blame(f"its follow-up is done, and step {other} has no task", after.id)

    def _check_start(self, process: Process, before: Task, after: Task) -> None:
        self._check_gate(process, after)
        place = self._history.place(after)
        if place is None:
            return
        run, position = place
        if before.attempt == 0:
            self._check_needs(run, position, after)
        self._check_stopped(run, position, after)
        if self._history.is_last(run, position):
            self._history.clean_ups.add((run.id, run.attempt))
        elif run.states[position] == "p" and (run.id, run.attempt) in self._history.clean_ups:
            self._blame("started after a finally step of its run", after.id)

    def _check_gate(self, process: Process, task: Task) -> None:
        """Law 2: the gate has read the run, and the run lets the step start."""
        ref = task.spec.step
        run = self._history.reads.get((process, ref.run_id)) if ref else None
        if run is None:
            self._blame("started, and its executor has not read its run", task.id)
            return
        position = self._position(run, task)
        if position is None:
            self._blame("started, although its run has given it up", task.id)
            return
        redriven = run.status is RunStatus.FAILED and run.states[position] == "d"
        finally_step = run.status is RunStatus.CANCELLING
        if finally_step and not self._history.must_not_start(run, position):
            return
        if run.status is not RunStatus.RUNNING and not redriven:
            self._blame(f"started in a run that was {run.status} at the gate", task.id)

    def _position(self, run: Run, task: Task) -> int | None:
        found = self._history.named.get(task.id)
        if found is None or self._history.task_id(run, found[1]) != task.id:
            return None
        return found[1]

    def _check_needs(self, run: Run, position: int, task: Task) -> None:
        """Law 3, at the first lease."""
        if run.states[position] != "p" or run.spec.map:
            return
        if any(run.states[n] not in ENDED for n in self._history.needs(run, position)):
            self._blame("started before its needs had ended", task.id)
        elif run.stop is None and "p" not in decisions(self._history, run, position):
            self._blame("started, and its rule or condition does not hold", task.id)

    def _check_stopped(self, run: Run, position: int, task: Task) -> None:
        """Law 9: in a calm world nothing starts later than a minute after a cancellation."""
        since = self._history.stopped_at.get(run.id)
        if since is None or not self._history.must_not_start(run, position):
            return
        late = self._history.engine.now - since > STOPPED_WITHIN
        if late and self._history.is_calm(since):
            self._blame("started after its run was cancelled", task.id)

    def _check_report(self, process: Process, before: Task, after: Task) -> None:
        """Law 5: a task that waits is given the outcome of the run attempt that it waits for, or of
        a later one."""
        waits = before.suspended
        if waits is None:
            return
        if waits.kind is WaitsFor.CALLBACK:
            asked = self.callbacks.get(process.name)
            if asked is not None and asked != (before.id, before.attempt):
                self._blame("was ended by a callback of an earlier attempt", after.id)
            return
        run = self._history.rows.get(waits.id)
        if run is None:
            if after.status is not Status.RETRYING:
                self._blame("was reported the end of a run that does not exist", after.id)
            return
        wanted = REPORTS.get(after.status)
        if not any(
            attempt >= waits.run_attempt and status is wanted
            for attempt, status in self._history.outcomes[run.id]
        ):
            self._blame(f"was resumed as {after.status}, which its run never was", after.id)

    # the handlers

    def given(self, task: Task, payload: Any) -> None:
        """Law 8: a step is given what its upstream steps last succeeded with."""
        place = self._history.place(task)
        if place is None or not isinstance(payload, dict):
            return
        run, position = place
        window = run.spec.map
        if window is not None:
            items = run.spec.input
            item = items[position] if isinstance(items, list) else position
            if payload.get("item") != item:
                self._blame(f"was given {payload.get('item')} instead of {item}", task.id)
            run = self._history.rows[window.run_id]
        position_of = self._history.definition(run).position
        for name, value in payload["given"].items():
            self._check_given(task, value, result_of(self._history, run, position_of[name]))
        for name, value in payload.get("collected", {}).items():
            self._check_given(task, value, self._items_of(run, position_of[name]))

    def _check_given(self, task: Task, value: Any, expected: Any) -> None:
        if value != expected:
            self._blame(f"was given {value} instead of {expected}", task.id)

    def _items_of(self, run: Run, position: int) -> Any:
        """Returns the results of the items of a map, in order; None for one that failed."""
        task = self._history.task(run, position) if run.states[position] in "psdc" else None
        if task is None:
            return None
        items = self._history.rows.get(waited_run_id(task.id, task.created_at))
        if items is None:
            return []
        return [result_of(self._history, items, n) for n in range(len(items.states))]
