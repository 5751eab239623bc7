"""Bulk SQL: many rows in few statements.

Python's sqlite3 releases the GIL for every single step of a statement and must acquire it again
afterwards, which under load takes far longer than the step. So a batch is written as a few
statements of few sizes, so that the statement cache has them.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, compress
from typing import Any

from duetime.sqlite import task_rows as tasks
from duetime.sqlite.task_rows import Row

# Rows in a statement: as many as a batch of submissions and the runner's slots, or a power of two.
MAX_CHUNK, LARGEST_POWER = 100, 64
NEW_TASK = tasks.COLD + tasks.HOT + tasks.FOUND_BY


def insert_tasks(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    insert_values(connection, *given_columns(rows))


def given_columns(rows: Sequence[Row]) -> tuple[tuple[str, ...], Row]:
    """Returns the columns that are not NULL in every row, which of a new task are every other one,
    and their values, row by row."""
    count = len(rows)
    given = [column.count(None) < count for column in zip(*rows, strict=True)]
    columns = tuple(compress(NEW_TASK, given))
    return columns, tuple(chain.from_iterable(compress(row, given) for row in rows))


def insert_values(
    connection: sqlite3.Connection, columns: tuple[str, ...], values: Sequence[Any]
) -> None:
    """Inserts tasks: `values` are those of all rows, one after another."""
    width = len(columns)
    start = 0
    for size in chunks(len(values) // width if width else 0):
        end = start + size * width
        connection.execute(_insert("tasks", columns, size), values[start:end])
        start = end


def insert_tags(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    in_chunks(connection, rows, _insert_tags)


def update_tasks(
    connection: sqlite3.Connection, columns: tuple[str, ...], rows: Sequence[Row]
) -> None:
    """Each row: the id, then the columns."""
    in_chunks(connection, rows, lambda size: _update("tasks", columns, size))


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
