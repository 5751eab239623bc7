"""The wake index: the wakes of tasks, schedules, lines and runs."""

import logging
from collections.abc import Iterable, Iterator
from functools import cache
from sqlite3 import Connection

from duetime.core.wakes import Wake, WakeKind, parse_wake

log = logging.getLogger(__name__)


def read_bucket(connection: Connection, bucket: str, kind: WakeKind | None) -> Iterator[Wake]:
    prefix = kind or ""
    rows = connection.execute(
        _wakes("wake_bucket = ?1 AND wake_key >= ?2 AND wake_key < ?3"),
        (bucket, prefix, f"{prefix}~"),
    ).fetchall()
    return readable_wakes(rows)


def read_few(connection: Connection, limit: int) -> list[Wake] | None:
    """Returns every wake if there are at most `limit`, else None."""
    rows = connection.execute(
        f"{_wakes('wake_bucket IS NOT NULL')} LIMIT ?", (limit + 1,)
    ).fetchall()
    return None if len(rows) > limit else list(readable_wakes(rows))


def read_first(connection: Connection) -> Wake | None:
    """Returns a wake of the earliest bucket; None if there is none."""
    rows = connection.execute(f"{_wakes('wake_bucket IS NOT NULL')} LIMIT 1").fetchall()
    return next(readable_wakes(rows), None)


@cache
def _wakes(condition: str) -> str:
    """Selects the wakes of all tables, merged in the order of their indexes."""
    found = " UNION ALL ".join(
        f"SELECT wake_bucket, wake_key FROM {table} WHERE {condition}"
        for table in ("tasks", "schedules", "lines", "runs")
    )
    return f"{found} ORDER BY wake_bucket, wake_key"


def readable_wakes(rows: Iterable[tuple[str, str]]) -> Iterator[Wake]:
    for bucket, key in rows:
        try:
            yield parse_wake(bucket, key)
        except (ValueError, IndexError):  # it must not delay the rest of its bucket
            fields = {"step": "scan", "wake_bucket": bucket, "wake_key": key}
            log.exception("wake skipped: unreadable", extra=fields)
