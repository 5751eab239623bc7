"""What must always hold of tasks that are changed: a run sees the latest version that was accepted
before it started, and starts no earlier than that version says."""

from collections.abc import Callable
from typing import Any

from duetime.api.http import Response
from duetime.core.change import Change
from duetime.core.lifecycle import Step
from duetime.core.task import Spec, Task
from duetime.core.times import Millis
from duetime.core.wakes import WakeKind
from tests.simulation.engine import Process

SEEN_BY_A_RUN = ("payload", "priority", "timeout")
SENT_TO_A_WORKER = ("target", "run_at", "payload", "timeout", "name", "namespace", "parent_id")
SENT_TO_A_WORKER += ("tags", "priority")


class VersionInvariants:
    """`blame` gets each violation, and the id of its task."""

    def __init__(self, blame: Callable[[str, str], None]) -> None:
        self._blame = blame
        self._asked: dict[tuple[str, int], dict[str, Any]] = {}
        self._accepted: dict[str, int] = {}
        self._due_at: dict[str, Millis] = {}  # that the last change wrote
        self._started: dict[tuple[str, str], Spec] = {}

    # the clients

    def asked(self, task_id: str, version: int, fields: dict[str, Any]) -> None:
        self._asked[task_id, version] = fields

    def answered(self, task_id: str, answer: Response, version: int | None = None) -> None:
        if answer.status not in (200, 409, 422, 503):
            self._blame(f"a change was answered with {answer.status}", task_id)
        if answer.status == 200 and version is not None:
            self._accepted[task_id] = version

    # the table

    def changed(self, change: Change, before: Task, after: Task) -> None:
        if change.step is not Step.DEFER:
            return
        self._due_at[after.id] = after.due_at
        wake, lane = after.wake, after.lane
        placed = wake is not None and (
            wake.at == after.due_at if wake.kind is WakeKind.DISPATCH else wake.at > after.due_at
        )
        if not placed or wake.lane is not lane:
            self._blame(f"changed, and its wake is {wake}", after.id)
        if after.attempt >= after.budget:
            self._blame(f"changed, and no attempt is left of {after.budget}", after.id)
        if _uncounted(after) != _uncounted(before):
            self._blame("changed, and other attempts count", after.id)

    def leased(self, process: Process, after: Task) -> None:
        version = _version(after)
        if version < self._accepted.get(after.id, 0):
            self._blame(f"started version {version} after a newer one was accepted", after.id)
        due_at = self._due_at.get(after.id)
        if due_at is not None and process.clock.now() < due_at:
            self._blame(f"started {due_at - process.clock.now()} ms before its new time", after.id)
        self._started[after.id, str(after.holder)] = after.spec

    # the handlers

    def began(self, task: Task) -> None:
        if task.spec != self._started[task.id, str(task.holder)]:
            self._blame("a run does not see the version that it started", task.id)
        self._see(task)

    def sent(self, task: Task) -> None:
        """Checks a run of an HTTP worker, which gets what a handler needs of its task."""
        started = self._started[task.id, str(task.holder)]
        for name in SENT_TO_A_WORKER:
            if getattr(task.spec, name) != getattr(started, name):
                self._blame(f"a worker gets another {name} than it has leased", task.id)
        self._see(task)

    def _see(self, task: Task) -> None:
        fields = self._asked.get((task.id, _version(task)), {})
        for name in SEEN_BY_A_RUN:
            if name in fields and getattr(task.spec, name) != fields[name]:
                self._blame(f"a run sees another {name} than its version has", task.id)


def _version(task: Task) -> int:
    return int(task.spec.tags.get("version", 0))


def _uncounted(task: Task) -> int:
    """Returns how many attempts do not count: snoozed, or before a revival."""
    return task.budget - task.spec.retry.max_attempts
