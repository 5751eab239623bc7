"""The outbox of an application with a SQL database.

The application adds a task in its own transaction: both are committed, or neither. A drain then
submits what was committed::

    outbox = Outbox()
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO orders ...")
        outbox.add(connection, "shop.restock", {"item": "tea"})

    outbox.drain(lambda: psycopg.connect(url), client)
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, Unpack

from duetime.core.ids import RANDOM_BITS, new_id
from duetime.core.times import Millis
from duetime.outbox.bodies import OutboxOptions, task_body
from duetime.outbox.dialects import Connection, UnknownDatabase
from duetime.outbox.drain import ClocksDiffer, Drain, Drained
from duetime.outbox.rows import RefusedRow, Rows, check_table, create_statements

if TYPE_CHECKING:
    from duetime.client.client import Client

__all__ = ["ClocksDiffer", "Drained", "Outbox", "OutboxOptions", "RefusedRow", "UnknownDatabase"]

TABLE = "duetime_outbox"


def _now() -> Millis:
    return time.time_ns() // 1_000_000


class Outbox:
    """A table of tasks in your database. `table` is its name, or SCHEMA.NAME. `clock` returns
    milliseconds since the epoch; tests replace it."""

    def __init__(self, table: str = TABLE, *, clock: Callable[[], Millis] = _now) -> None:
        self._table = check_table(table)
        self._clock = clock

    @property
    def ddl(self) -> Mapping[str, str]:
        """The CREATE TABLE for "sqlite" and "postgresql", for your migrations."""
        return create_statements(self._table)

    def create_table(self, connection: Connection) -> None:
        """Creates the table if it does not exist. You commit."""
        Rows(connection, self._table).create_table()

    def add(
        self,
        connection: Connection,
        handler: Any,
        payload: Any = None,
        **options: Unpack[OutboxOptions],
    ) -> None:
        """Adds a task in the transaction of `connection`. You commit, or roll it back.

        `handler` is a handler, its name, or any target: `{"type": "http", "url": ...}`. The options
        are the fields of a task; a `delay` counts from now. Raises BadArgument for what cannot be
        sent, and adds nothing."""
        now = self._clock()
        Rows(connection, self._table).add(task_body(handler, payload, options, now), now)

    def drain(self, connect: Callable[[], Connection], client: "Client") -> Drained:
        """Submits every task that was committed, and returns how many.

        `connect` opens a connection for this drain alone. Several drains may run at once. Raises
        what the client raises if Duetime does not answer; no task is lost, and none is stored
        twice."""
        with closing(connect()) as connection:
            rows = Rows(connection, self._table)
            return Drain(rows, client, now=self._clock, make_id=self._make_id).run()

    def refused(self, connection: Connection) -> list[RefusedRow]:
        """Returns the tasks that Duetime refused, each with its error."""
        return Rows(connection, self._table).refused()

    def retry_refused(self, connection: Connection) -> int:
        """Has the next drain submit the refused tasks again. You commit. Returns how many."""
        return Rows(connection, self._table).retry_refused()

    def _make_id(self) -> str:
        return new_id(self._clock(), int.from_bytes(os.urandom(RANDOM_BITS // 8)))
