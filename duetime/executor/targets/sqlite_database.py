"""A SQLite file that `sql` tasks may use."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

from duetime.executor.targets import TargetFailed
from duetime.executor.targets.sql import Outcome, Statement, result_of

STEPS_BETWEEN_CHECKS = 10_000  # of SQLite's machine: some tenths of a millisecond
LONGEST_WAIT = 5.0  # seconds for another connection's lock
_WORTH_RETRYING = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
}


class SqliteDatabase:
    def __init__(self, path: Path) -> None:
        self._path = path

    def run(self, statement: Statement, stopping_with: Callable[..., Any]) -> dict[str, Any]:
        try:
            wait = min(statement.timeout, LONGEST_WAIT)
            connection = sqlite3.connect(
                self._path, timeout=wait, isolation_level=None, check_same_thread=False
            )
            with closing(connection):
                connection.set_authorizer(_no_other_files)
                # Not Connection.interrupt, which does nothing to a statement that begins later.
                stopped = Event()
                connection.set_progress_handler(stopped.is_set, STEPS_BETWEEN_CHECKS)
                with stopping_with(stopped.set):
                    return _run(connection, statement)
        except (sqlite3.Error, OverflowError) as error:
            raise _failure(error) from error


def _run(connection: sqlite3.Connection, statement: Statement) -> dict[str, Any]:
    connection.execute("BEGIN")
    cursor = connection.execute(statement.text, statement.values)
    columns = [column[0] for column in cursor.description or ()]
    result = result_of(Outcome(columns=columns, rows=cursor, changed=cursor.rowcount))
    cursor.close()
    connection.execute("COMMIT")  # a connection that is closed without it rolls back
    return result


def _no_other_files(action: int, *_: Any) -> int:
    """A task must not open another file of this machine."""
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK


def _failure(error: sqlite3.Error | OverflowError) -> TargetFailed:
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without its extension
    return TargetFailed(name, str(error)[:1_000], permanent=code not in _WORTH_RETRYING)
