"""Tasks as rows.

A step writes only the columns of the fields that it sets: each other column would cost time, and so
would each index that has it. Of the cold columns only the spec ever changes, by `defer`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from sqlite3 import Connection
from typing import Any, NamedTuple, overload

from duetime.core.codec import (
    decode_attempt,
    decode_progress,
    decode_promotion,
    decode_spec,
    decode_suspension,
    encode_attempt,
    encode_progress,
    encode_promotion,
    encode_spec,
    encode_suspension,
    from_json,
    to_json,
)
from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.lifecycle import Status
from duetime.core.packing import FAST, pack, unpack
from duetime.core.task import Spec, Task
from duetime.core.task_filter import handler_of, tag_texts
from duetime.core.times import DAY
from duetime.core.wakes import Wake, parse_wake

Row = tuple[Any, ...]

COLD = ("id", "namespace", "created_at", "schedule_id", "spec", "body_hash")
HOT = (
    "status",
    "token",
    "due_at",
    "wake_bucket",
    "wake_key",
    "updated_at",
    "budget",
    "attempt",
    "lease_until",
    "holder",
    "current",
    "sends",
    "previous",
    "cancel_requested",
    "skips",
    "progress",
    "reason",
    "promoted",
    "held",
    "grant_at",
    "suspended",
    "result",
)
COLUMNS = ", ".join(COLD + HOT)
SUMMARY_COLUMNS = ", ".join(COLD + HOT[:-1]) + ", NULL"  # without the result
# Written with the cold columns, for filters; never read.
FOUND_BY = ("day", "name", "target", "parent_id")
SPEC, RESULT = COLD.index("spec"), -1

# Longer texts get a row in `bodies`, so that a step rewrites a small row even if the payload is
# large.
INLINE_LIMIT = 2_048
UNLISTED = ""  # in the column `namespace` of a task that is in no list
IN_BODIES = ""  # the value of a column whose text is in `bodies`


class SpecTexts(NamedTuple):
    """The columns of a new task that come from its spec alone."""

    spec: str
    target: str


def spec_texts(spec: Spec) -> SpecTexts:
    return SpecTexts(encode_spec(spec), target_text(spec))


def new_row(connection: Connection, task: Task, texts: SpecTexts | None = None) -> Row:
    """`texts`: those of its spec, if they are known: that of many tasks may be the same."""
    encoded, target = texts or spec_texts(task.spec)
    spec = _inline_or_spill(connection, task.id, "spec", encoded)
    of = task.spec.occurrence
    schedule_id = of.schedule_id if of else None
    cold = (task.id, listed_namespace(task), task.created_at, schedule_id, spec, task.body_hash)
    hot = hot_row(connection, task)[1:]  # without the id, which is its first column
    return (*cold, *hot, task.created_at // DAY, task.spec.name, target, task.spec.parent_id)


def listed_namespace(task: Task) -> str:
    """Returns the namespace under which lists find a task. That of a step is in no list: its run
    shows it. The spec has its namespace."""
    return UNLISTED if task.spec.step else task.spec.namespace


def target_text(spec: Spec) -> str:
    """Returns the type of the target; of a Python target, `python:` and its handler."""
    handler = handler_of(spec)
    kind = str(spec.target.get("type"))
    return kind if handler is None else f"{kind}:{handler}"


def tag_rows(task: Task) -> list[Row]:
    if task.spec.step:
        return []
    day = task.created_at // DAY
    return [(task.spec.namespace, text, day, task.id) for text in sorted(tag_texts(task.spec))]


def delete_tags(connection: Connection, rows: Sequence[Row]) -> None:
    connection.executemany(
        "DELETE FROM tags WHERE namespace = ? AND tag = ? AND day = ? AND id = ?", rows
    )


def write_spec(connection: Connection, task: Task) -> str:
    """Replaces the spec of a stored task; returns its column. A spec that has become short leaves
    no text in `bodies`."""
    spec = _inline_or_spill(connection, task.id, "spec", encode_spec(task.spec))
    if spec != IN_BODIES:
        _delete_body(connection, task.id, "spec")
    connection.execute("UPDATE tasks SET spec = ? WHERE id = ?", (spec, task.id))
    return spec


def hot_row(connection: Connection, task: Task) -> Row:
    """Returns the id, then every hot column."""
    return changed_row(connection, task, HOT_FIELDS)


def columns_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the columns of some fields of a task that a step may set."""
    return tuple(column for name in names for column in _COLUMNS.get(name, (name,)))


def changed_row(connection: Connection, task: Task, names: tuple[str, ...]) -> Row:
    """Returns the id, then the columns of some fields."""
    return _row_maker(names)(connection, task)


# The fields of the hot columns, in their order.
HOT_FIELDS = tuple(
    {"wake_bucket": "wake", "grant_at": "grant"}.get(column, column)
    for column in HOT
    if column != "wake_key"
)
# The columns of a field, if they have other names.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "wake": ("wake_bucket", "wake_key"),
    "grant": ("grant_at",),
}
# What is stored of a field that is neither a number nor a short text.
_STORED: Mapping[str, str] = {
    "status": "task.status._value_",
    "wake": "*_wake_columns(task.wake)",
    "current": "encode_attempt(task.current) if task.current else None",
    "previous": "encode_attempt(task.previous) if task.previous else None",
    "cancel_requested": "int(task.cancel_requested)",
    "progress": "encode_progress(task.progress) if task.progress else None",
    "promoted": "encode_promotion(task.promoted) if task.promoted else None",
    "suspended": "encode_suspension(task.suspended) if task.suspended else None",
    "result": "_result_column(connection, task)",
}


@cache
def _row_maker(names: tuple[str, ...]) -> Callable[[Connection, Task], Row]:
    """Returns a function that makes the row of some fields. It is generated when it is first
    needed, as in duetime.core.value: three rows are made for every task."""
    parts = ", ".join(_STORED.get(name, f"task.{name}") for name in names)
    made: Callable[[Connection, Task], Row] = eval(
        f"lambda connection, task: (task.id, {parts},)",
        {
            "encode_attempt": encode_attempt,
            "encode_progress": encode_progress,
            "encode_promotion": encode_promotion,
            "encode_suspension": encode_suspension,
            "_result_column": _result_column,
            "_wake_columns": _wake_columns,
        },
    )
    return made


def _wake_columns(wake: Wake | None) -> tuple[str, str] | tuple[None, None]:
    return (wake.bucket, wake.key) if wake else (None, None)


def _result_column(connection: Connection, task: Task) -> str | None:
    return _inline_or_spill(connection, task.id, "result", task.result)


def read_task(connection: Connection, row: Row) -> Task:
    spec, result = row[SPEC], row[RESULT]
    if spec == IN_BODIES:
        spec = _body(connection, row[0], "spec")
    if result == IN_BODIES:
        result = _body(connection, row[0], "result")
    try:
        return _task(row, spec, result)
    except UNREADABLE as error:
        raise Corrupt(row[0], repr(error)) from error


def spilled(row: Row) -> bool:
    """Whether the spec is in `bodies`."""
    return bool(row[SPEC] == IN_BODIES)


def load(connection: Connection, task_ids: Sequence[str]) -> dict[str, Task]:
    return {row[0]: read_task(connection, row) for row in rows_of(connection, task_ids)}


def load_each(connection: Connection, task_ids: Sequence[str]) -> dict[str, Task | Corrupt]:
    return {row[0]: try_reading(connection, row) for row in rows_of(connection, task_ids)}


def load_listed(
    connection: Connection, task_ids: Sequence[str], columns: str
) -> dict[str, Task | Corrupt]:
    """Reads many tasks with one step of a statement. Python's sqlite3 gives up the GIL at every
    step, so with many readers a row for each task would take a hundred times as long."""
    [text] = connection.execute(
        f"SELECT json_group_array(json_array({columns})) FROM tasks"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (to_json(task_ids),),
    ).fetchone()
    return {row[0]: try_reading(connection, row) for row in from_json(text)}


def try_reading(connection: Connection, row: Row) -> Task | Corrupt:
    try:
        return read_task(connection, row)
    except Corrupt as error:
        return error


def rows_of(connection: Connection, task_ids: Sequence[str]) -> list[Row]:
    if not task_ids:
        return []
    return connection.execute(
        f"SELECT {COLUMNS} FROM tasks WHERE id IN (SELECT value FROM json_each(?))",
        (to_json(task_ids),),
    ).fetchall()


@overload
def _inline_or_spill(connection: Connection, task_id: str, part: str, text: str) -> str: ...
@overload
def _inline_or_spill(
    connection: Connection, task_id: str, part: str, text: str | None
) -> str | None: ...
def _inline_or_spill(
    connection: Connection, task_id: str, part: str, text: str | None
) -> str | None:
    if text is None or len(text) <= INLINE_LIMIT:
        return text
    row = (task_id, part, pack(text, FAST))
    connection.execute("INSERT OR REPLACE INTO bodies VALUES (?, ?, ?)", row)
    return IN_BODIES


def _delete_body(connection: Connection, task_id: str, part: str) -> None:
    connection.execute("DELETE FROM bodies WHERE task_id = ? AND part = ?", (task_id, part))


def _body(connection: Connection, task_id: str, part: str) -> str:
    row = connection.execute(
        "SELECT body FROM bodies WHERE task_id = ? AND part = ?", (task_id, part)
    ).fetchone()
    if row is None:
        raise Corrupt(task_id, f"its {part} is missing")
    try:
        return unpack(row[0])
    except ValueError as error:
        raise Corrupt(task_id, repr(error)) from error


def _task(row: Row, spec: str, result: str | None) -> Task:
    (
        task_id,
        _namespace,
        created_at,
        _schedule_id,
        _spec,
        body_hash,
        status,
        token,
        due_at,
        wake_bucket,
        wake_key,
        updated_at,
        budget,
        attempt,
        lease_until,
        holder,
        current,
        sends,
        previous,
        cancel_requested,
        skips,
        progress,
        reason,
        promoted,
        held,
        grant,
        suspended,
        _result,
    ) = row
    return Task(
        id=task_id,
        spec=decode_spec(spec),
        status=Status(status),
        token=token,
        due_at=due_at,
        wake=parse_wake(wake_bucket, wake_key) if wake_bucket else None,
        created_at=created_at,
        updated_at=updated_at,
        budget=budget,
        attempt=attempt,
        lease_until=lease_until,
        holder=holder,
        current=decode_attempt(current) if current else None,
        previous=decode_attempt(previous) if previous else None,
        cancel_requested=bool(cancel_requested),
        sends=sends,
        skips=skips,
        progress=decode_progress(progress) if progress else None,
        result=result,
        reason=reason,
        body_hash=body_hash,
        promoted=decode_promotion(promoted) if promoted else None,
        held=held,
        grant=grant,
        suspended=decode_suspension(suspended) if suspended else None,
    )
