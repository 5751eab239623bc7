"""How long a workflow run may take to go on. Without this, a hole that a watch heals would not be
noticed."""

from collections.abc import Callable, Iterator

from duetime.core.lifecycle import TO_START, Status
from duetime.core.suspension import WaitsFor
from duetime.core.times import DAY, MINUTE, SECOND, Millis
from duetime.core.workflows.run import Run
from tests.simulation.run_history import RunHistory

Blame = Callable[[str, str], object]

LOOK_EVERY: Millis = 5 * SECOND
GOES_ON_WITHIN: Millis = 20 * SECOND  # in a calm world
HEALED_WITHIN: Millis = 10 * MINUTE  # after the faults
HEALED_AFTER_A_DAY: Millis = 30 * MINUTE  # without ticks, when all work is overdue


class Lateness:
    def __init__(self, history: RunHistory, blame: Blame) -> None:
        self._history = history
        self._blame = blame
        self._open: set[str] = set()  # runs in which something may be left to do
        self._since: dict[tuple[str, str], Millis] = {}  # what is left, and the run or task
        self._stopped = False

    def begin(self) -> None:
        self._history.engine.after(LOOK_EVERY, self._look)

    def stop(self) -> None:
        self._stopped = True

    def touch(self, run_id: str) -> None:
        self._open.add(run_id)

    def _look(self) -> None:
        if self._stopped:
            return
        self._history.engine.after(LOOK_EVERY, self._look)
        found: set[tuple[str, str]] = set()
        for run_id in sorted(self._open):
            run = self._history.rows[run_id]
            left = list(self._left(run))
            found.update(left)
            if run.status.over and run.wake is None and not left:
                self._open.discard(run_id)
        now = self._history.engine.now
        self._since = {key: self._since.get(key, now) for key in sorted(found)}
        for (what, about), since in self._since.items():
            if self._is_late(since):
                self._blame(f"{what} for {(now - since) // SECOND} s", about)

    def _is_late(self, since: Millis) -> bool:
        now, over_at = self._history.engine.now, self._history.faults.over_at
        if over_at is None:
            return False
        if self._history.is_calm(since):
            return now - since > GOES_ON_WITHIN
        long = self._history.faults.lasts > DAY
        return now - max(since, over_at) > (HEALED_AFTER_A_DAY if long else HEALED_WITHIN)

    def _left(self, run: Run) -> Iterator[tuple[str, str]]:
        """Returns what is left to do in a run."""
        for position, state in enumerate(run.states):
            task = self._history.task(run, position)
            if task is None:
                if state == "p" and not run.status.over:
                    yield "a step is under way, and has no task", run.id
                continue
            if task.has_follow_up:
                yield "a step has ended, and its follow-up is not done", task.id
            if state == "p" and task.status.finished:
                yield "a step has ended, and its run does not know", task.id
            stops = self._history.must_not_start(run, position)
            if stops and task.status in (*TO_START, Status.WAITING):
                yield "a step of a cancelled run is left", task.id
            if stops and task.status is Status.RUNNING and not task.cancel_requested:
                yield "a step of a cancelled run goes on", task.id
            waits = task.suspended if task.status is Status.WAITING else None
            missing = waits is not None and waits.id not in self._history.rows
            if missing and waits is not None and waits.kind is WaitsFor.RUN:
                yield "a task waits for a run that does not exist", task.id
        if run.status.over and self._history.parent(run) is not None:
            yield "a run is over, and its task waits", run.id
