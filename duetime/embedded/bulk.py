"""Many rows in few statements.

Python's sqlite3 gives up the interpreter for every single step of a statement and must win it
back afterwards, which under load takes far longer than the step. So a batch is written as a few
statements of fixed sizes, each a power of two, which SQLite's statement cache then knows.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain

from duetime.embedded.rows import COLD, HOT, Row

LARGEST = 64


def insert_tasks(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    _in_chunks(connection, rows, _insert)


def update_tasks(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Each row: the id, then every hot column."""
    _in_chunks(connection, rows, _update)


def chunks(length: int) -> Iterator[int]:
    """Split a length into powers of two, the largest first."""
    size = LARGEST
    while length:
        while size > length:
            size //= 2
        yield size
        length -= size


def _in_chunks(
    connection: sqlite3.Connection, rows: Sequence[Row], sql: Callable[[int], str]
) -> None:
    start = 0
    for size in chunks(len(rows)):
        connection.execute(sql(size), _flat(rows[start : start + size]))
        start += size


def _flat(rows: Iterable[Row]) -> Row:
    return tuple(chain.from_iterable(rows))


@cache
def _insert(size: int) -> str:
    return f"INSERT INTO tasks ({', '.join(COLD + HOT)}) VALUES {_values(size, COLD + HOT)}"


@cache
def _update(size: int) -> str:
    columns = ("id", *HOT)
    sets = ", ".join(f"{name} = new.{name}" for name in HOT)
    return (
        f"WITH new ({', '.join(columns)}) AS (VALUES {_values(size, columns)})"
        f" UPDATE tasks SET {sets} FROM new WHERE tasks.id = new.id"
    )


def _values(size: int, columns: Sequence[str]) -> str:
    row = f"({', '.join('?' * len(columns))})"
    return ", ".join([row] * size)
