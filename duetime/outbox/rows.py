"""The rows of an outbox, and the writes of a drain.

Every write names the row and the id that the drain read, so that a drain which was held up changes
nothing that another drain has done since.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from duetime.client.errors import BadArgument
from duetime.core.times import SECOND, Millis
from duetime.core.value import value
from duetime.outbox.dialects import DIALECTS, Connection, Dialect, dialect_of, raw

CLAIM: Millis = 60 * SECOND  # how long other drains leave a row alone; it is only to save requests
MAX_ERROR = 1_000  # characters

_TABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")
_CREATE = """CREATE TABLE IF NOT EXISTS {table} (
    position {key},
    body TEXT NOT NULL,
    added_at {integer} NOT NULL,
    task_id TEXT,
    claimed_until {integer},
    error TEXT
)"""
_FREE = "(claimed_until IS NULL OR claimed_until <= ?)"


@value(frozen=True, kw_only=True, slots=True)
class Row:
    position: int
    body: str
    task_id: str
    fresh: bool  # the id was made just now


@value(frozen=True, kw_only=True, slots=True)
class RefusedRow:
    """A task that Duetime refused. It stays in the table until you retry or delete it."""

    position: int
    body: str
    error: str


def check_table(table: str) -> str:
    if not _TABLE.fullmatch(table):
        raise BadArgument("table", f"{table!r} is not the name of a table, or SCHEMA.TABLE")
    return table


def create_statement(table: str, dialect: Dialect) -> str:
    return _CREATE.format(table=table, key=dialect.key, integer=dialect.integer)


def create_statements(table: str) -> dict[str, str]:
    return {name: create_statement(table, dialect) for name, dialect in DIALECTS.items()}


class Rows:
    def __init__(self, connection: Connection, table: str) -> None:
        self._connection = connection
        self._table = table
        self._dialect = dialect_of(connection)

    # in the transaction of the caller

    def create_table(self) -> None:
        self._run(self._connection.cursor(), create_statement(self._table, self._dialect), ())

    def add(self, body: str, now: Millis) -> None:
        statement = f"INSERT INTO {self._table} (body, added_at) VALUES (?, ?)"
        self._run(self._connection.cursor(), statement, (body, now))

    def refused(self) -> list[RefusedRow]:
        cursor = self._connection.cursor()
        columns = "position, body, error"
        where = "error IS NOT NULL ORDER BY position"
        self._run(cursor, f"SELECT {columns} FROM {self._table} WHERE {where}", ())
        return [RefusedRow(position=p, body=b, error=e) for p, b, e in _tuples(cursor)]

    def retry_refused(self) -> int:
        """The rows keep their ids: a task that exists after all is found by its id."""
        cursor = self._connection.cursor()
        where = "error IS NOT NULL"
        self._run(cursor, f"UPDATE {self._table} SET error = NULL WHERE {where}", ())
        return int(cursor.rowcount)

    # in transactions of a drain

    def claim(self, now: Millis, limit: int, make_id: Callable[[], str]) -> list[Row]:
        """Takes rows that no other drain has, gives each an id, and commits."""
        with self._transaction() as cursor:
            columns = f"SELECT position, body, task_id FROM {self._table}"
            where = f"WHERE error IS NULL AND {_FREE} ORDER BY position LIMIT ?"
            self._run(cursor, f"{columns} {where}{self._dialect.lock}", (now, limit))
            found = [
                Row(position=position, body=body, task_id=known or make_id(), fresh=known is None)
                for position, body, known in _tuples(cursor)
            ]
            return [row for row in found if self._take(cursor, row, now)]

    def _take(self, cursor: Any, row: Row, now: Millis) -> bool:
        """Two drains may want one row if the connection commits every statement. The one that
        writes second finds the claim of the first, and leaves the row to it."""
        unchanged = "task_id IS NULL" if row.fresh else "task_id = ?"
        where = f"position = ? AND {_FREE} AND error IS NULL AND {unchanged}"
        known = () if row.fresh else (row.task_id,)
        statement = f"UPDATE {self._table} SET task_id = ?, claimed_until = ? WHERE {where}"
        self._run(cursor, statement, (row.task_id, now + CLAIM, row.position, now, *known))
        return int(cursor.rowcount) == 1

    def delete(self, rows: Iterable[Row]) -> None:
        with self._transaction() as cursor:
            for row in rows:
                self._run(cursor, f"DELETE FROM {self._table} {_WHERE}", _key(row))

    def postpone(self, row: Row, until: Millis | None) -> None:
        """Leaves a row to later drains; None: to the next one."""
        with self._transaction() as cursor:
            self._set(cursor, row, "claimed_until = ?", until)

    def refuse(self, row: Row, error: str) -> None:
        with self._transaction() as cursor:
            self._set(cursor, row, "claimed_until = NULL, error = ?", error[:MAX_ERROR])

    def replace_id(self, row: Row) -> None:
        """The next drain makes a new id."""
        with self._transaction() as cursor:
            self._set(cursor, row, "claimed_until = NULL, task_id = ?", None)

    def _set(self, cursor: Any, row: Row, assignment: str, new: Any) -> None:
        statement = f"UPDATE {self._table} SET {assignment} {_WHERE}"
        self._run(cursor, statement, (new, *_key(row)))

    def _run(self, cursor: Any, statement: str, values: Sequence[Any]) -> None:
        cursor.execute(self._dialect.statement(statement), values)

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        self._dialect.begin(raw(self._connection))
        try:
            yield self._connection.cursor()
        except BaseException:
            self._connection.rollback()
            raise
        self._connection.commit()


_WHERE = "WHERE position = ? AND task_id = ?"


def _tuples(cursor: Any) -> list[tuple[Any, ...]]:
    """A connection may return rows as dictionaries."""
    found = cursor.fetchall()
    return [tuple(row.values()) if isinstance(row, Mapping) else tuple(row) for row in found]


def _key(row: Row) -> tuple[int, str]:
    return row.position, row.task_id
