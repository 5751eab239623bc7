"""Bulk SQL: many rows in few statements.

Python's sqlite3 releases the GIL for every single step of a statement and must acquire it again
afterwards, which under load takes far longer than the step. So a batch is written as a few
statements of few sizes, so that the statement cache has them.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from duetime.core.codec import to_json
from duetime.core.value import value
from duetime.sqlite import task_rows as tasks
from duetime.sqlite.task_rows import Row

# Rows in a statement: as many as a batch of submissions and the runner's slots, or a power of two.
MAX_CHUNK, LARGEST_POWER = 100, 64
NEW_TASK = tasks.COLD + tasks.HOT + tasks.FOUND_BY
ID = "id"
FEW = 8  # rows; as many that are alike are worth a statement of their own


@value(frozen=True, kw_only=True, slots=True)
class Columns:
    """Rows of one table. `shared` has the columns in which all rows are equal; of the tasks of a
    batch those are nearly all. `values` are the others, row by row, in the order of `own`, of which
    there is at least one."""

    shared: Mapping[str, Any]
    own: tuple[str, ...]
    values: tuple[Any, ...]


def insert_tasks(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    if rows:
        insert_columns(connection, columns_of_new(rows))


def columns_of_new(rows: Sequence[Row]) -> Columns:
    """Returns the columns of new tasks, without those that are NULL in every row."""
    shared: dict[str, Any] = {}
    own: dict[str, Row] = {}
    for name, column in zip(NEW_TASK, zip(*rows, strict=True), strict=True):
        if column.count(column[0]) < len(rows) or name == ID:
            own[name] = column
        elif column[0] is not None:
            shared[name] = column[0]
    return Columns(shared=shared, own=tuple(own), values=row_by_row(own.values()))


def row_by_row(columns: Iterable[Sequence[Any]]) -> Row:
    return tuple(chain.from_iterable(zip(*columns, strict=True)))


def insert_columns(connection: sqlite3.Connection, columns: Columns) -> None:
    """Inserts tasks."""
    shared, width = tuple(columns.shared.values()), len(columns.own)
    names, start = tuple(columns.shared), 0
    for size in chunks(len(columns.values) // width):
        end = start + size * width
        sql = _insert_alike("tasks", names, columns.own, size)
        connection.execute(sql, (*shared, *columns.values[start:end]))
        start = end


def insert_tags(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    in_chunks(connection, rows, _insert_tags)


def update_tasks(
    connection: sqlite3.Connection, columns: tuple[str, ...], rows: Sequence[Row]
) -> None:
    """Each row: the id, then the columns. Rows that get the same values, as those of tasks that
    ended together do, are written with one statement, which has these values once."""
    alike: dict[Row, list[str]] = {}
    for row in rows:
        alike.setdefault(row[1:], []).append(row[0])
    different: list[Row] = []
    for values, ids in alike.items():
        if len(ids) < FEW:
            different += [(task_id, *values) for task_id in ids]
        else:
            connection.execute(_update_alike("tasks", columns), (*values, to_json(ids)))
    in_chunks(connection, different, lambda size: _update("tasks", columns, size))


def put_rows(
    connection: sqlite3.Connection, table: str, columns: Sequence[str], rows: Sequence[Row]
) -> None:
    """Insert rows, or replace those with the same id."""
    in_chunks(connection, rows, lambda size: _upsert(table, tuple(columns), size))


def update_rows(
    connection: sqlite3.Connection, table: str, hot: Sequence[str], rows: Sequence[Row]
) -> None:
    """Each row: the id, then every hot column."""
    in_chunks(connection, rows, lambda size: _update(table, tuple(hot), size))


def chunks(length: int) -> Iterator[int]:
    """Split a length into MAX_CHUNK and powers of two, the largest first."""
    while length >= MAX_CHUNK:
        yield MAX_CHUNK
        length -= MAX_CHUNK
    size = LARGEST_POWER
    while length:
        while size > length:
            size //= 2
        yield size
        length -= size


def in_chunks(
    connection: sqlite3.Connection, rows: Sequence[Row], sql: Callable[[int], str]
) -> None:
    start = 0
    for size in chunks(len(rows)):
        connection.execute(sql(size), _flat(rows[start : start + size]))
        start += size


def _flat(rows: Iterable[Row]) -> Row:
    return tuple(chain.from_iterable(rows))


def _insert_tags(size: int) -> str:
    return _insert("tags", ("namespace", "tag", "day", "id"), size)


@cache
def _upsert(table: str, columns: tuple[str, ...], size: int) -> str:
    sets = ", ".join(f"{name} = excluded.{name}" for name in columns if name != "id")
    return f"{_insert(table, columns, size)} ON CONFLICT (id) DO UPDATE SET {sets}"


@cache
def _insert(table: str, columns: tuple[str, ...], size: int) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {values(size, columns)}"


@cache
def _insert_alike(table: str, shared: tuple[str, ...], own: tuple[str, ...], size: int) -> str:
    """The first parameters are the values of the shared columns."""
    given = "".join(f"?{n}, " for n in range(1, len(shared) + 1))
    firsts = range(len(shared) + 1, len(shared) + 1 + size * len(own), len(own))
    rows = (", ".join(f"?{first + n}" for n in range(len(own))) for first in firsts)
    values = ", ".join(f"({given}{row})" for row in rows)
    return f"INSERT INTO {table} ({', '.join((*shared, *own))}) VALUES {values}"


@cache
def _update_alike(table: str, columns: tuple[str, ...]) -> str:
    """The last parameter is a JSON list of the ids."""
    sets = ", ".join(f"{name} = ?" for name in columns)
    return f"UPDATE {table} SET {sets} WHERE id IN (SELECT value FROM json_each(?))"


@cache
def _update(table: str, hot: tuple[str, ...], size: int) -> str:
    columns = ("id", *hot)
    sets = ", ".join(f"{name} = new.{name}" for name in hot)
    return (
        f"WITH new ({', '.join(columns)}) AS (VALUES {values(size, columns)})"
        f" UPDATE {table} SET {sets} FROM new WHERE {table}.id = new.id"
    )


def values(size: int, columns: Sequence[str]) -> str:
    row = f"({', '.join('?' * len(columns))})"
    return ", ".join([row] * size)
