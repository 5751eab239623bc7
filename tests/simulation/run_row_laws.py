"""What must hold of every write of a workflow run: laws 1, 4 to 7, 9 and 10 of runs."""

from collections.abc import Callable
from dataclasses import replace

from duetime.core.lifecycle import Status
from duetime.core.times import Millis
from duetime.core.workflows.run import Run, RunStatus
from tests.simulation.engine import Process
from tests.simulation.run_conditions import decisions
from tests.simulation.run_history import ENDED, RunHistory

Blame = Callable[[str, str], object]

ARROWS = frozenset(["wp", "wx", "wu", "wf", "ps", "pd", "pc"])
STATUSES = {
    "RUNNING": {"RUNNING", "CANCELLING", "SUCCEEDED", "FAILED"},
    "CANCELLING": {"CANCELLING", "CANCELLED", "FAILED"},
    "FAILED": {"FAILED"},
    "SUCCEEDED": {"SUCCEEDED"},
    "CANCELLED": {"CANCELLED"},
}
ENDS = {
    "s": {Status.SUCCEEDED},
    "c": {Status.CANCELLED, Status.EXPIRED},
}
CANCELS = ("cancel", "cancel_all")
RETRIES = "retry"  # the role of a client that retries a run


class RowLaws:
    def __init__(self, history: RunHistory, blame: Blame) -> None:
        self._history = history
        self._blame = blame
        self._recorded_deaths: dict[str, Millis] = {}  # by task: when it died

    def written(self, process: Process, before: Run | None, after: Run) -> None:
        """Checks a write; the history has the row before it."""
        if _is_placeholder(after):
            return
        if before is None:
            self._check_new(after)
        else:
            self._check_step(before, after)
            if after.attempt > before.attempt:
                self._check_taken_back(process, before, after)
        self._check_decisions(before, after)
        self._check_wake(before, after)
        if after.spec.map:
            self._check_map(after)
        if after.status.over and (before is None or not before.status.over):
            self._check_end(after)

    def _check_new(self, run: Run) -> None:
        """The task that waits for a run is suspended before the run begins."""
        if run.revision != 1 or run.attempt != 1:
            self._blame(f"began with revision {run.revision}", run.id)
        task = self._history.tasks.get(run.spec.parent_task_id or "")
        if task is not None and task.status is not Status.WAITING and not task.status.finished:
            self._blame(f"began, and the task that waits for it is {task.status}", run.id)

    def _check_step(self, before: Run, after: Run) -> None:
        """Law 1."""
        if after.revision != before.revision + 1:
            self._blame(f"revision {after.revision} after {before.revision}", after.id)
        if not 0 <= after.attempt - before.attempt <= max(1, _late_successes(before, after)):
            self._blame(f"attempt {after.attempt} after {before.attempt}", after.id)
        if after.attempt == before.attempt:
            if after.status not in STATUSES[before.status]:
                self._blame(f"{before.status} became {after.status}", after.id)
            for position, (old, new) in enumerate(zip(before.states, after.states, strict=True)):
                if old != new:
                    self._check_arrow(before, after, position, old + new)
        elif before.status.final:
            self._blame(f"was {before.status}, and has a new attempt", after.id)

    def _check_arrow(self, before: Run, after: Run, position: int, arrow: str) -> None:
        if before.status.over:
            self._blame(f"{arrow} in a run that is {before.status}", after.id)
        elif arrow[0] == "p" and arrow[1] in "sdc":
            self._check_recorded(after, position, arrow[1])
        elif arrow not in ARROWS:
            self._blame(f"a step went {arrow}", after.id)

    def _check_recorded(self, run: Run, position: int, state: str) -> None:
        """Law 5: the end that is recorded is that of the task, and a death is one of this attempt
        of the run, not one that was taken back."""
        task = self._history.task(run, position)
        if task is None:
            self._blame(f"an end of step {position} was recorded, and it has no task", run.id)
        elif state != "d":
            if task.status not in ENDS[state]:
                self._blame(f"step {position} is {state}, and its task {task.status}", run.id)
        elif task.id not in self._history.died_at:
            self._blame(f"step {position} is d, and its task never was", run.id)
        elif self._recorded_deaths.get(task.id) == self._history.died_at[task.id]:
            self._blame(f"a death of {task.id} was recorded that was taken back", run.id)
        else:
            self._recorded_deaths[task.id] = self._history.died_at[task.id]

    def _check_taken_back(self, process: Process, before: Run, after: Run) -> None:
        """Laws 4 and 10: what a new attempt of a run takes back."""
        pairs = list(enumerate(zip(before.states, after.states, strict=True)))
        failed = {n for n, (old, _) in pairs if old in "dcf"}
        again = self._history.downstream(before, failed)
        again |= {n for n, _ in pairs if self._history.is_last(before, n)}
        for position, (old, new) in pairs:
            if old == "s" and new != "s" and position not in again:
                self._blame(f"step {position} has succeeded, and is run again", after.id)
            same = self._history.task_id(before, position) == self._history.task_id(after, position)
            if old in "sc" and new == "p" and same:
                self._blame(f"step {position} runs again under the same id", after.id)
        if not self._is_retry(process, before):
            self._check_late_success(before, after)
        elif left := [n for n, (old, new) in pairs if old == new == "f"]:
            self._blame(f"the retry left step {left[0]} stopped", after.id)

    def _is_retry(self, process: Process, run: Run) -> bool:
        """Whether a client retries the run, or a task that waits for its next attempt."""
        task = self._history.tasks.get(run.spec.parent_task_id or "")
        waits = task.suspended if task is not None else None
        return process.name.startswith(RETRIES) or (
            waits is not None and waits.run_attempt > run.attempt
        )

    def _check_late_success(self, before: Run, after: Run) -> None:
        late = {n for n, state in enumerate(before.states) if state == "d" != after.states[n]}
        if any(self._history.has_reacted(before, position) for position in late):
            self._blame(f"a late success resumed {before.states} with stop {before.stop}", after.id)

    def _check_decisions(self, before: Run | None, after: Run) -> None:
        """Law 3, at the time of the decision: all needs have ended, and rule and condition say what
        becomes of the step."""
        if after.spec.map:
            return
        for position, state in enumerate(after.states):
            old = "w" if before is None else before.states[position]
            if state != "w" and (state == old or state in "sdc"):
                continue
            ended = all(after.states[n] in ENDED for n in self._history.needs(after, position))
            if state == "w" and ended:
                self._blame(f"step {position} waits, and all its needs have ended", after.id)
            elif state != "w" and not ended:
                self._blame(f"step {position} was decided before its needs ended", after.id)
            elif state != "w" and state not in decisions(self._history, after, position):
                self._blame(f"step {position} must not be {state} in {after.states}", after.id)

    def _check_wake(self, before: Run | None, after: Run) -> None:
        """Laws 5 and 6: a run that is not over has a wake, and keeps it until its end is known to
        the task that waits for it."""
        if not after.status.over and after.wake is None:
            self._blame(f"is {after.status}, and has no wake", after.id)
        if after.status.over and after.spec.parent_task_id is None and after.wake is not None:
            self._blame("is over, and has a wake", after.id)
        if after.status.over and after.wake is None and self._history.parent(after) is not None:
            self._blame("has no wake, and its end was not reported", after.id)

    def _check_map(self, run: Run) -> None:
        """Law 7: the window is kept, and no item waits while there is room."""
        window = run.spec.map
        if window is None:
            return
        failed = sum(state in "dc" for state in run.states)
        live = run.states.count("p")
        if live > window.max_concurrency:
            self._blame(f"{live} items in a window of {window.max_concurrency}", run.id)
        goes_on = run.status is RunStatus.RUNNING and failed <= window.tolerated_failures
        if goes_on and "w" in run.states and live < window.max_concurrency:
            self._blame("an item waits, and its map has room", run.id)
        if run.status is RunStatus.SUCCEEDED and set(run.states) - set("sdc"):
            self._blame(f"a map succeeded with items in {run.states}", run.id)

    def _check_end(self, run: Run) -> None:
        """Laws 4 and 9: a run ends as its steps have, and every `finally` step is decided."""
        if "p" in run.states or ("w" in run.states and not run.spec.map):
            self._blame(f"is over, and its steps are {run.states}", run.id)
        if run.status is not self._outcome(run):
            self._blame(f"is {run.status} with {run.states} and stop {run.stop}", run.id)
        for position, state in enumerate(run.states):
            skipped = state == "f" and str(run.stop) == "cancel_all"
            if self._history.is_last(run, position) and state not in "sdc" and not skipped:
                self._blame(f"ended without its finally step {position}", run.id)
            unstopped = replace(run, stop=None)
            if state in "xu" and state not in decisions(self._history, unstopped, position):
                self._blame(f"ended with step {position} of {run.states} skipped", run.id)

    def _outcome(self, run: Run) -> RunStatus:
        if run.stop is not None:
            return RunStatus.CANCELLED if run.stop in CANCELS else RunStatus.FAILED
        window = run.spec.map
        if window is not None:
            failed = sum(state in "dc" for state in run.states) > window.tolerated_failures
        else:
            steps = self._history.definition(run).steps
            pairs = zip(steps, run.states, strict=True)
            failed = any(state in "dc" and not step.allow_failure for step, state in pairs)
        return RunStatus.FAILED if failed else RunStatus.SUCCEEDED


def _late_successes(before: Run, after: Run) -> int:
    """Each of them is an attempt of the run, also if one write records several."""
    pairs = zip(before.states, after.states, strict=True)
    return sum(old == "d" and new == "s" for old, new in pairs)


def _is_placeholder(run: Run) -> bool:
    """Whether it was created as CANCELLED, since the task that waits for it was cancelled."""
    return run.status is RunStatus.CANCELLED and run.revision == 1
