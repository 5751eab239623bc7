"""Limits in SQLite: the SQLite backend's LimitStore."""

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any

from duetime.core.limits.codec import after_cursor, cursor_after, decode_limit, encode_limit
from duetime.core.limits.definition import Limit
from duetime.core.limits.ports import LimitListing, LimitPage
from duetime.sqlite.database import Database

PUT = (
    "INSERT INTO limits (namespace, name, definition, created_at, updated_at)"
    " VALUES (?, ?, ?, ?, ?) ON CONFLICT (namespace, name)"
    " DO UPDATE SET definition = excluded.definition, updated_at = excluded.updated_at"
)
DELETE = "DELETE FROM limits WHERE namespace = ? AND name = ? AND definition = ? AND updated_at = ?"
SELECT = "SELECT namespace, name, definition, created_at, updated_at FROM limits"


class SqliteLimitStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, limit: Limit) -> Limit:
        row = (
            limit.namespace,
            limit.name,
            encode_limit(limit),
            limit.created_at,
            limit.updated_at,
        )

        def write(connection: Connection) -> Limit:
            connection.execute(PUT, row)
            return _read(connection, limit.namespace, [limit.name])[limit.name]

        return self._database.write(write)

    def get(self, namespace: str, names: Sequence[str]) -> dict[str, Limit]:
        with self._database.read() as connection:
            return _read(connection, namespace, names)

    # A read takes microseconds, so there is nothing to remember.
    recent = get

    def page(self, listing: LimitListing) -> LimitPage:
        where, values = ["1"], list[Any]()
        if listing.namespace is not None:
            where.append("namespace = ?")
            values.append(listing.namespace)
        if listing.cursor is not None:
            where.append("(namespace, name) > (?, ?)")
            values += after_cursor(listing.cursor)
        sql = f"{SELECT} WHERE {' AND '.join(where)} ORDER BY namespace, name LIMIT ?"
        with self._database.read() as connection:
            rows = connection.execute(sql, (*values, listing.limit + 1)).fetchall()
        found = [_limit(row) for row in rows[: listing.limit]]
        more = len(rows) > listing.limit
        return LimitPage(limits=found, cursor=cursor_after(found[-1]) if more else None)

    def delete(self, limit: Limit) -> None:
        row = (limit.namespace, limit.name, encode_limit(limit), limit.updated_at)
        self._database.write(lambda c: c.execute(DELETE, row))


def _read(connection: Connection, namespace: str, names: Sequence[str]) -> dict[str, Limit]:
    marks = ", ".join("?" * len(names))
    sql = f"{SELECT} WHERE namespace = ? AND name IN ({marks})"
    limits = [_limit(row) for row in connection.execute(sql, (namespace, *names))]
    return {limit.name: limit for limit in limits}


def _limit(row: Sequence[Any]) -> Limit:
    namespace, name, text, created_at, updated_at = row
    return decode_limit(
        text, namespace=namespace, name=name, created_at=created_at, updated_at=updated_at
    )
