"""What must always hold of the leases of HTTP workers. That only their holder renews and records is
checked with all others: see monitor.py."""

from collections.abc import Callable
from typing import Any

from duetime.core.change import Change
from duetime.core.lifecycle import Status, Step
from duetime.core.steps.lease import RETURN_TIME, held_by_worker
from duetime.core.task import Task
from duetime.core.times import CLOCK_SKEW, MINUTE, Millis
from duetime.core.worker_calls import ANSWERS_KEPT
from tests.simulation.engine import Engine, Process

TICK: Millis = MINUTE


class WorkerInvariants:
    """`blame` gets each violation, and the id of its task."""

    def __init__(
        self, engine: Engine, blame: Callable[[str, str], None], tasks: dict[str, Task]
    ) -> None:
        self._engine = engine
        self._blame = blame
        self._tasks = tasks
        self._restarts = 0
        self._asks: dict[Process, tuple[object, ...]] = {}
        self._first: dict[tuple[object, ...], tuple[Process, Millis]] = {}
        self._granted: dict[tuple[object, ...], set[str]] = {}  # the holders of a call's leases

    # the runner

    def restarted(self, runner: Process) -> None:
        """A lease that is not renewed from now on ends within its rest, its grace and a tick."""
        self._restarts += 1
        for task in self._tasks.values():
            if task.status is Status.RUNNING and held_by_worker(task):
                left = (task.lease_until or 0) - runner.clock.now()
                most = max(left, RETURN_TIME) + CLOCK_SKEW + TICK
                check = self._check_ended(task, self._restarts)
                self._engine.after(most, check)

    def asks(self, process: Process, worker: str, request: str) -> None:
        """The process answers a call for leases with this name."""
        self._asks[process] = (self._restarts, worker, request)

    def lied(self, what: str, task_id: str, answer: Any) -> None:
        """Checks the answer to a call about a lease that its sender does not hold."""
        if answer.get("status", 200) == 200:
            self._blame(f"a lie was believed: {what}", task_id)

    # the table

    def leased(self, process: Process, after: Task) -> None:
        asked = self._asks.get(process)
        if asked is None:
            return
        first, at = self._first.setdefault(asked, (process, self._engine.now))
        self._granted.setdefault(asked, set()).add(str(after.holder))
        if first is not process and self._engine.now - at <= ANSWERS_KEPT:
            self._blame("a repeated call for leases has leased more", after.id)

    def ended(self, process: Process, before: Task) -> None:
        """An attempt that the call ends itself, since it cannot be prepared, is no lease of its
        worker: a call that is sent again may lease another one."""
        asked = self._asks.get(process)
        if asked is None:
            return
        granted = self._granted.get(asked, set())
        granted.discard(str(before.holder))
        if not granted:
            self._first.pop(asked, None)

    def held(self, change: Change, before: Task, after: Task) -> None:
        """A restart of the runner ends the leases of its own executors only."""
        moved = change.step is not Step.RENEW and before.lease_until != after.lease_until
        if moved and held_by_worker(before):
            self._blame("the lease of a worker was cut short", after.id)

    def _check_ended(self, before: Task, restarts: int) -> Callable[[], None]:
        def check() -> None:
            task = self._tasks[before.id]
            same = (task.holder, task.lease_until) == (before.holder, before.lease_until)
            if task.status is Status.RUNNING and same and restarts == self._restarts:
                self._blame("a lease goes on that was not renewed after a restart", task.id)

        return check
