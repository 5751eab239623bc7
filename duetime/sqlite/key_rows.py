"""The idempotency keys and the unique keys of tasks as rows."""

from collections.abc import Sequence
from sqlite3 import Connection

from duetime.core.ports import Reservation, UniqueKey
from duetime.core.times import Millis


def reserve_each(
    connection: Connection, wanted: Sequence[Reservation], now: Millis
) -> list[Reservation]:
    """Reserves keys, and deletes up to twice as many expired ones, so that those never pile up."""
    found = [_reserve(connection, one, now) for one in wanted]
    connection.execute(
        "DELETE FROM keys WHERE (namespace, key) IN"
        " (SELECT namespace, key FROM keys WHERE expires_at <= ? LIMIT ?)",
        (now, 2 * len(wanted)),
    )
    return found


def _reserve(connection: Connection, wanted: Reservation, now: Millis) -> Reservation:
    row = connection.execute(
        "SELECT task_id, body_hash, expires_at FROM keys"
        " WHERE namespace = ? AND key = ? AND expires_at > ?",
        (wanted.namespace, wanted.key, now),
    ).fetchone()
    if row:
        task_id, body_hash, expires_at = row
        return Reservation(
            namespace=wanted.namespace,
            key=wanted.key,
            task_id=task_id,
            body_hash=body_hash,
            expires_at=expires_at,
        )
    connection.execute(
        "INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?)",
        (wanted.namespace, wanted.key, wanted.task_id, wanted.body_hash, wanted.expires_at),
    )
    return wanted


def take_key(connection: Connection, wanted: UniqueKey) -> str:
    connection.execute(
        "INSERT INTO unique_keys VALUES (?, ?, ?) ON CONFLICT (namespace, key)"
        " DO UPDATE SET task_id = excluded.task_id WHERE task_id = ?",
        (wanted.namespace, wanted.key, wanted.task_id, wanted.instead_of),
    )
    [task_id] = connection.execute(
        "SELECT task_id FROM unique_keys WHERE namespace = ? AND key = ?",
        (wanted.namespace, wanted.key),
    ).fetchone()
    named: str = task_id
    return named
