"""The target `sql` on one machine: one statement in one transaction, on SQLite or PostgreSQL.

Each attempt opens a connection of its own. A crash before the commit leaves nothing; after a lost
answer to the commit the statement runs again, with the same `:task_id`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from duetime.core.codec import to_json
from duetime.core.errors import Stopped
from duetime.core.json_values import NotJson, to_json_value
from duetime.core.results import DEPTH_LIMIT
from duetime.core.sql_parameters import bound_values
from duetime.core.task import Task
from duetime.core.value import value
from duetime.executor.run_control import RunControl
from duetime.executor.targets import TargetFailed
from duetime.executor.targets.services import bad_payload

MAX_ROWS = 100
MAX_ROWS_SIZE = 48 * 1024  # bytes of JSON


@value(frozen=True, kw_only=True, slots=True)
class Statement:
    text: str
    values: Mapping[str, Any]
    timeout: float  # seconds


@value(frozen=True, kw_only=True, slots=True)
class Outcome:
    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]
    changed: int  # -1 if the database does not say


class Database(Protocol):
    def run(self, statement: Statement, stopping_with: Callable[..., Any]) -> dict[str, Any]:
        """Run one statement in a transaction and return its result. Raises TargetFailed.
        `stopping_with(stop)` is a context in which another thread may call `stop`."""
        ...


class SqlTarget:
    def __init__(self, databases: Mapping[str, Database]) -> None:
        self._databases = databases

    def __call__(self, task: Task, control: RunControl) -> Any:
        name = task.spec.target["database"]
        database = self._databases.get(name)
        if database is None:
            # Not permanent: a runner may be started again with it.
            raise TargetFailed("UnknownDatabase", f"no database is configured as {name!r} here")
        try:
            return database.run(statement_of(task), control.interrupt.stopping_with)
        except TargetFailed:
            if control.interrupt.triggered:
                raise Stopped from None
            raise


def statement_of(task: Task) -> Statement:
    text, payload = task.spec.target["statement"], task.spec.payload
    if not isinstance(payload, dict | None):
        raise bad_payload("must be an object, with a value for each parameter")
    try:
        values = bound_values(text, payload, task.id, task.attempt)
    except KeyError as error:
        raise bad_payload(f"{error.args[0]} is required: the statement names it") from None
    return Statement(text=text, values=values, timeout=task.spec.timeout)


def result_of(outcome: Outcome) -> dict[str, Any]:
    """Returns the count of changed rows, or as many of the returned rows as fit."""
    if not outcome.columns:
        return {"rows_changed": max(outcome.changed, 0)}
    rows: list[dict[str, Any]] = []
    size = 0
    for row in outcome.rows:
        shown = {name: _shown(cell) for name, cell in zip(outcome.columns, row, strict=True)}
        size += len(to_json(shown).encode())
        if len(rows) == MAX_ROWS or size > MAX_ROWS_SIZE:
            return {"rows": rows, "rows_left_out": True}
        rows.append(shown)
    return {"rows": rows}


def _shown(cell: Any) -> Any:
    """Returns a cell in JSON's types: binary as hex, a type without a JSON form as text."""
    if isinstance(cell, bytes | memoryview):
        return bytes(cell).hex()
    try:
        return to_json_value(cell, levels=DEPTH_LIMIT - 3)  # the result around it adds three
    except NotJson:
        return str(cell)
