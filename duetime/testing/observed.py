"""What a test reads and asserts about its world."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast

from duetime.client.client import Client
from duetime.client.types import Task
from duetime.core.task_json import task_json
from duetime.core.times import SECOND
from duetime.handlers import registry
from duetime.handlers.defaults import to_seconds
from duetime.handlers.handler import Delay, Handler
from duetime.handlers.submission import Submission
from duetime.testing.clock import moment
from duetime.testing.records import (
    AttemptRecord,
    LedgerEntry,
    TaskRecord,
    attempt_record,
    ledger_entry,
    task_record,
)
from duetime.testing.roles import Roles

AnyHandler = Handler[..., Any] | str  # a handler, its name, or the URL of an `http` task
MOST_SHOWN = 10


class Observed:
    """The part of a `World` that reads: it changes nothing."""

    client: Client
    _roles: Roles

    def submitted(self, handler: AnyHandler | None = None) -> list[TaskRecord]:
        """Returns the tasks that were submitted, the first one first: all of them, or those of a
        handler. Runs of schedules are not among them."""
        found = self._records(self._roles.created, self._name(handler))
        return [task for task in found if task.scheduled_for is None]

    def runs(self, handler: AnyHandler | None = None) -> list[TaskRecord]:
        """Returns the tasks whose first attempt has begun, in the order in which they began."""
        return self._records(self._roles.started, self._name(handler))

    def attempts(self, task: Submission[Any] | TaskRecord | str) -> list[AttemptRecord]:
        """Returns the attempts of a task, the first one first."""
        task_id = task if isinstance(task, str) else task.id
        return [attempt_record(attempt) for attempt in self.client.attempts(task_id)]

    def ledger(self, schedule: str, *, namespace: str = "default") -> list[LedgerEntry]:
        """Returns what became of every fire time of a schedule, the earliest first. `schedule` is
        its name or its id."""
        known = list(self.client.schedules.list(namespace=namespace))
        found = [s["id"] for s in known if schedule in (s["id"], s["name"])]
        if len(found) != 1:
            names = ", ".join(sorted(s["name"] or s["id"] for s in known)) or "none"
            count = "no schedule has" if not found else f"{len(found)} schedules have"
            raise LookupError(f"{count} the name or id {schedule!r}; there are: {names}")
        return [ledger_entry(row) for row in self.client.schedules.ledger(found[0])][::-1]

    def assert_submitted(
        self,
        handler: AnyHandler,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        due_in: Delay | None = None,
        due_at: datetime | str | None = None,
        within: Delay = 0,
        count: int | None = None,
        **parameters: Any,
    ) -> TaskRecord:
        """Asserts that a task of a handler was submitted, and returns the latest that matches.

        Args:
            values: Values in its payload, like `parameters`: for names that are taken here.
            due_in: How long after its submission it is due.
            due_at: When it is due.
            within: By how much the due time may differ.
            count: How many tasks match; at least one if it is left out.
            parameters: Values in its payload, which may have others besides."""
        if count == 0:
            raise ValueError("count: use assert_not_submitted for none")
        parameters = {**(values or {}), **parameters}
        matching = self._matching(handler, due_in, due_at, within, parameters)
        if not matching or count not in (None, len(matching)):
            wanted = "a task" if count is None else f"{count} tasks"
            raise AssertionError(
                f"{wanted} of {self._name(handler)}{_asked(due_in, due_at, parameters)} expected,"
                f" {len(matching)} found. {self._shown(handler)}"
            )
        return matching[-1]

    def assert_not_submitted(
        self,
        handler: AnyHandler,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        due_in: Delay | None = None,
        due_at: datetime | str | None = None,
        within: Delay = 0,
        **parameters: Any,
    ) -> None:
        """Asserts that no task was submitted that `assert_submitted` would find."""
        parameters = {**(values or {}), **parameters}
        if matching := self._matching(handler, due_in, due_at, within, parameters):
            raise AssertionError(
                f"no task of {self._name(handler)}{_asked(due_in, due_at, parameters)} expected,"
                f" {len(matching)} found. {self._shown(handler)}"
            )

    def _matching(
        self,
        handler: AnyHandler,
        due_in: Delay | None,
        due_at: datetime | str | None,
        within: Delay,
        parameters: dict[str, Any],
    ) -> list[TaskRecord]:
        span = to_seconds(within)
        known = handler if isinstance(handler, Handler) else registry.find(handler)
        found = self.submitted(handler)
        if due_in is not None:
            delay = to_seconds(due_in)
            found = [t for t in found if abs(_delay(t) - delay) <= span]
        if due_at is not None:
            at = moment(due_at) / SECOND
            found = [t for t in found if abs(t.run_at.timestamp() - at) <= span]
        return [task for task in found if _has(task.payload, parameters, known)]

    def _shown(self, handler: AnyHandler) -> str:
        """Describes what was submitted, for the message of a failed assertion."""
        of_handler = self.submitted(handler)
        if not of_handler:
            others = sorted({name for name in self._roles.created.values() if name})
            return f"No task of it was submitted; there are tasks of: {', '.join(others) or 'none'}"
        lines = [f"\n  due in {_delay(task):g} s: {task.payload}" for task in of_handler]
        more = len(lines) - MOST_SHOWN
        rest = [f"\n  and {more} more"] if more > 0 else []
        return "Submitted:" + "".join(lines[:MOST_SHOWN] + rest)

    def _records(self, ids: Iterable[str], name: str | None) -> list[TaskRecord]:
        created = self._roles.created
        wanted = [i for i in ids if name is None or created.get(i) == name]
        tasks = self._roles.store.get(wanted)
        return [self._record(cast(Task, task_json(tasks[i]))) for i in wanted if i in tasks]

    def _record(self, task: Task) -> TaskRecord:
        """Reads what is too large for an answer by itself."""
        left_out = task["not_shown"] or {}
        payload = self.client.payload(task["id"]) if "payload" in left_out else task["payload"]
        result = self.client.result(task["id"]) if "result" in left_out else task["result"]
        return task_record(task, payload, result)

    def _name(self, handler: AnyHandler | None) -> str | None:
        """Raises LookupError for a name that is not of a handler: nothing would ever match it."""
        if handler is None:
            return None
        if isinstance(handler, Handler):
            return handler.name
        of_another_target = "://" in handler or " " in handler  # a URL, or such as `sqs orders`
        if not of_another_target and registry.find(handler) is None:
            raise LookupError(f"no handler is registered as {handler!r}; is its module imported?")
        return handler


def _delay(task: TaskRecord) -> float:
    return (task.run_at - task.submitted_at).total_seconds()


def _has(payload: Any, parameters: dict[str, Any], handler: Handler[..., Any] | None) -> bool:
    if not parameters:
        return True
    if handler is not None:
        return handler.matches(payload, parameters)
    return isinstance(payload, dict) and parameters.items() <= payload.items()


def _asked(due_in: Delay | None, due_at: datetime | str | None, parameters: dict[str, Any]) -> str:
    parts = [f"{name}={value!r}" for name, value in parameters.items()]
    parts += [] if due_in is None else [f"due in {due_in}"]
    parts += [] if due_at is None else [f"due at {due_at}"]
    return f" with {', '.join(parts)}" if parts else ""
