"""A PostgreSQL database that `sql` tasks may use, through psycopg."""

from collections.abc import Callable
from math import ceil
from typing import Any

import psycopg

from duetime.core.sql_parameters import replace_parameters
from duetime.executor.targets import TargetFailed
from duetime.executor.targets.sql import Outcome, Statement, result_of

LONGEST_CONNECT = 10  # seconds
# Classes of SQLSTATE: connections, conflicts of transactions, resources, operators, the system.
_WORTH_RETRYING = ("08", "40", "53", "57", "58", "XX", "55P03")


class PostgresqlDatabase:
    def __init__(self, url: str) -> None:
        self._url = url

    def run(self, statement: Statement, stopping_with: Callable[..., Any]) -> dict[str, Any]:
        try:
            wait = min(ceil(statement.timeout), LONGEST_CONNECT)
            with (
                psycopg.connect(self._url, connect_timeout=wait) as connection,
                stopping_with(connection.cancel_safe),
            ):
                return _run(connection, statement)
        except (psycopg.Error, OverflowError) as error:
            raise _failure(error) from error


def _run(connection: psycopg.Connection[Any], statement: Statement) -> dict[str, Any]:
    """The connection commits when its block ends."""
    limit = str(ceil(statement.timeout * 1_000))
    connection.execute("SELECT set_config('statement_timeout', %s, true)", [limit])
    # Prepared: the protocol then refuses a second statement behind the first.
    cursor = connection.execute(_query(statement.text), statement.values, prepare=True)
    columns = [column.name for column in cursor.description or ()]
    rows = cursor if columns else ()
    return result_of(Outcome(columns=columns, rows=rows, changed=cursor.rowcount))


def _query(text: str) -> bytes:
    """psycopg has `%(name)s` for `:name`, and `%%` for a percent sign."""
    query = replace_parameters(text, "%({})s".format, lambda part: part.replace("%", "%%"))
    return query.encode()


def _failure(error: psycopg.Error | OverflowError) -> TargetFailed:
    state = getattr(error, "sqlstate", None)
    unreached = state is None and isinstance(error, psycopg.OperationalError)
    name = "ConnectionFailed" if unreached else type(error).__name__
    permanent = not (unreached or (state or "").startswith(_WORTH_RETRYING))
    return TargetFailed(name, str(error).strip()[:1_000], permanent=permanent)
