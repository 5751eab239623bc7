"""The clocks of rate limits in SQLite: the SQLite backend's RateStore.

They are stored, not only kept in memory: a task that waits for its time does so across a restart.
"""

from collections.abc import Sequence
from sqlite3 import Connection

from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from duetime.core.limits.definition import Rate
from duetime.core.limits.rate import RateKey, RateState, SlotRequest, blocked, reserved
from duetime.core.quotas import nanos
from duetime.core.times import DAY, Millis
from duetime.sqlite.database import Database

ROW_LIFE: Millis = DAY  # after the last time that was handed out

FIND = "SELECT tat, blocked_until FROM rates WHERE namespace = ? AND name = ? AND key = ?"
WRITE = "INSERT OR REPLACE INTO rates VALUES (?, ?, ?, ?, ?)"
REMOVE_UNUSED = "DELETE FROM rates WHERE tat < ?"


class SqliteRateStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def reserve(self, requests: Sequence[SlotRequest]) -> list[Sequence[Millis] | Unknown]:
        try:
            return self._database.write(lambda c: [_reserve(c, request) for request in requests])
        except Unavailable as error:
            return [Unknown(str(error)) for _ in requests]

    def states(self, keys: Sequence[RateKey]) -> list[RateState]:
        with self._database.read() as connection:
            return [_state(connection, key) or RateState() for key in keys]

    def block(self, key: RateKey, rate: Rate, until: Millis) -> None:
        def write(connection: Connection) -> None:
            state = _state(connection, key) or RateState()
            _write(connection, key, blocked(state, rate, until))

        self._database.write(write)


def _reserve(connection: Connection, request: SlotRequest) -> Sequence[Millis]:
    state = _state(connection, request.key)
    if state is None:
        connection.execute(REMOVE_UNUSED, (nanos(request.asked_at - ROW_LIFE),))
    after, slots = reserved(state or RateState(), request)
    if slots:
        _write(connection, request.key, after)
    return slots


def _state(connection: Connection, key: RateKey) -> RateState | None:
    row = connection.execute(FIND, (key.namespace, key.name, key.key)).fetchone()
    return RateState(tat=row[0], blocked_until=row[1]) if row else None


def _write(connection: Connection, key: RateKey, state: RateState) -> None:
    row = (key.namespace, key.name, key.key, state.tat, state.blocked_until)
    connection.execute(WRITE, row)
