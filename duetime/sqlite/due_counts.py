"""How many tasks come due in each minute, for forecasts: counted along the index `soonest`.

Of a span at most MAX_TASKS are counted, the soonest. The lane of a task is in its wake key.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from sqlite3 import Connection
from typing import Any

from duetime.core.forecast import MAX_SCHEDULES, DueCounts, DueSpan, Place
from duetime.core.lanes import Lane
from duetime.core.lifecycle import TO_START
from duetime.core.times import MINUTE, Millis
from duetime.core.wakes import Wake, bucket_of, minute_of
from duetime.sqlite.listing import MAX_ARMS, namespaces
from duetime.sqlite.task_rows import UNLISTED
from duetime.sqlite.wake_index import readable_wakes

MAX_TASKS = 100_000  # counted for one forecast

STATUSES = ", ".join(f"'{status.value}'" for status in TO_START)
ARM = (
    "SELECT due_at, wake_key FROM tasks INDEXED BY soonest"
    f" WHERE namespace = ? AND status IN ({STATUSES}) AND due_at >= ? AND due_at < ?"
)


def count_due(connection: Connection, span: DueSpan) -> DueCounts:
    names = [span.namespace] if span.namespace is not None else [*namespaces(connection), UNLISTED]
    until = min((_reach(connection, chunk, span) for chunk in _chunks(names)), default=span.end)
    counts: Counter[Place] = Counter()
    for chunk in _chunks(names):
        counts += _counted(connection, chunk, span.start, min(until + 1, span.end))
    return DueCounts(
        tasks=counts,
        wakes=_schedule_wakes(connection, span),
        looked_from=span.start,
        looked_until=until,
    )


def _reach(connection: Connection, names: Sequence[str], span: DueSpan) -> Millis:
    """Returns the due time up to which there are MAX_TASKS tasks."""
    arms, values = _arms(names, span.start, span.end)
    [reached] = connection.execute(
        f"SELECT min(due_at) FROM ({arms} ORDER BY due_at LIMIT 1 OFFSET {MAX_TASKS})", values
    ).fetchone()
    return span.end if reached is None else int(reached)


def _counted(
    connection: Connection, names: Sequence[str], start: Millis, end: Millis
) -> Counter[Place]:
    """Counts the first MAX_TASKS: of those that are due at the last moment perhaps only some."""
    arms, values = _arms(names, start, end)
    rows = connection.execute(
        f"SELECT due_at / {MINUTE}, substr(wake_key, 3, 1), count(*)"
        f" FROM ({arms} ORDER BY due_at LIMIT {MAX_TASKS})"
        " WHERE wake_key IS NOT NULL GROUP BY 1, 2",
        values,
    ).fetchall()
    return Counter({(minute, Lane.ranked(int(rank))): count for minute, rank, count in rows})


def _arms(names: Sequence[str], start: Millis, end: Millis) -> tuple[str, list[Any]]:
    values = [value for name in names for value in (name, start, end)]
    return " UNION ALL ".join([ARM] * len(names)), values


def _schedule_wakes(connection: Connection, span: DueSpan) -> Sequence[Wake]:
    end = bucket_of(minute_of(span.end), 0)
    rows = connection.execute(
        "SELECT wake_bucket, wake_key FROM schedules WHERE wake_bucket < ?"
        f" ORDER BY wake_bucket LIMIT {MAX_SCHEDULES + 1}",
        (end,),
    ).fetchall()
    return sorted(readable_wakes(rows), key=lambda wake: wake.at)


def _chunks(names: Sequence[str]) -> Iterator[Sequence[str]]:
    rest = iter(names)
    while chunk := list(islice(rest, MAX_ARMS)):
        yield chunk
