"""What differs between the databases that can hold an outbox."""

from collections.abc import Callable
from typing import Any, Protocol

from duetime.core.errors import DuetimeError
from duetime.core.value import value

SUPPORTED = "sqlite3, psycopg or psycopg2"


class Connection(Protocol):
    """A DB-API connection. A proxy of SQLAlchemy's works too."""

    def cursor(self) -> Any: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def close(self) -> None: ...


class UnknownDatabase(DuetimeError, TypeError):
    """Raised for a connection of a driver that the outbox does not know."""


@value(frozen=True, kw_only=True, slots=True)
class Dialect:
    drivers: frozenset[str]
    key: str  # the type of the primary key
    integer: str
    parameter: str
    lock: str  # ends a SELECT whose rows no other drain may take
    begin: Callable[[Any], None]

    def statement(self, text: str) -> str:
        """Returns a statement that is written with `?`, as the driver takes it."""
        return text.replace("?", self.parameter)


def _begin_immediate(connection: Any) -> None:
    """Takes the write lock before the first read, so that two drains cannot read the same row.
    A connection with `autocommit=False` is in a transaction already."""
    if not connection.in_transaction:
        connection.execute("BEGIN IMMEDIATE")


def _begin_by_itself(connection: Any) -> None:
    """The first statement begins a transaction."""


SQLITE = Dialect(
    drivers=frozenset({"sqlite3", "_sqlite3"}),
    key="INTEGER PRIMARY KEY AUTOINCREMENT",
    integer="INTEGER",
    parameter="?",
    lock="",
    begin=_begin_immediate,
)
POSTGRESQL = Dialect(
    drivers=frozenset({"psycopg", "psycopg2"}),
    key="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    integer="BIGINT",
    parameter="%s",
    lock=" FOR UPDATE SKIP LOCKED",
    begin=_begin_by_itself,
)
DIALECTS = {"sqlite": SQLITE, "postgresql": POSTGRESQL}


def dialect_of(connection: Connection) -> Dialect:
    """Raises UnknownDatabase."""
    classes = type(raw(connection)).__mro__
    packages = {found.__module__.partition(".")[0] for found in classes}
    for dialect in DIALECTS.values():
        if dialect.drivers & packages:
            return dialect
    given = f"{classes[0].__module__}.{classes[0].__qualname__}"
    raise UnknownDatabase(f"an outbox needs a connection of {SUPPORTED}, not {given}")


def raw(connection: Connection) -> Any:
    """Returns the driver's connection, which SQLAlchemy wraps."""
    return getattr(connection, "dbapi_connection", None) or connection
