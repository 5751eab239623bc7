"""Schedules as rows.

A plan seldom changes. A long plan is stored in `bodies` and the row holds its digest, so a step
neither writes the plan nor reads it.
"""

from collections.abc import Sequence
from hashlib import blake2b
from sqlite3 import Connection
from typing import Any

from duetime.core.codec import to_json
from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.packing import FAST, pack, unpack
from duetime.core.schedules.codec import decode_plan, decode_state, encode_state
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.wakes import parse_wake
from duetime.sqlite.task_rows import INLINE_LIMIT, Row

COLD = ("id", "namespace", "created_at", "plan")
HOT = (
    "status",
    "version",
    "revision",
    "updated_at",
    "next_at",
    "wake_bucket",
    "wake_key",
    "state",
)
COLUMNS = ", ".join(COLD + HOT)
PLAN = COLD.index("plan")
REVISION = len(COLD) + HOT.index("revision")
PART = "plan"  # in `bodies`

Found = dict[str, Schedule | Corrupt]


def row_of(schedule: Schedule, plan: str) -> Row:
    """`plan` is the plan as text."""
    wake = schedule.wake
    return (
        schedule.id,
        schedule.plan.namespace,
        schedule.created_at,
        _digest(plan) if len(plan) > INLINE_LIMIT else plan,
        schedule.status.value,
        schedule.version,
        schedule.revision,
        schedule.updated_at,
        schedule.next_at,
        wake.bucket if wake else None,
        wake.key if wake else None,
        encode_state(schedule),
    )


def hot_part(row: Row) -> Row:
    """Returns the id, then every hot column."""
    return (row[0], *row[len(COLD) :])


def spilled(row: Sequence[Any]) -> bool:
    return bool(row[PLAN].startswith("@"))


def rows_of(connection: Connection, schedule_ids: Sequence[str]) -> dict[str, Row]:
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM schedules WHERE id IN (SELECT value FROM json_each(?))",
        (to_json(schedule_ids),),
    ).fetchall()
    return {row[0]: row for row in rows}


def read_schedules(connection: Connection, schedule_ids: Sequence[str]) -> Found:
    """Reads with one statement: between two, a plan could be replaced."""
    rows = connection.execute(
        f"SELECT body, {COLUMNS} FROM schedules"
        f" LEFT JOIN bodies ON task_id = id AND part = '{PART}'"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (to_json(schedule_ids),),
    ).fetchall()
    return {row[0]: _try_reading(row, body) for body, *row in rows}


def read_row(connection: Connection, row: Row) -> Schedule | Corrupt:
    """Reads the plan of a row. Only for the writer: no plan changes in its transaction."""
    found = connection.execute(
        "SELECT body FROM bodies WHERE task_id = ? AND part = ?", (row[0], PART)
    ).fetchone()
    return _try_reading(row, found[0] if found else None)


def store_plan(connection: Connection, before: Row | None, after: Row, plan: str) -> None:
    """Store the plan of a row that is new or has a new plan, or delete the one that it replaces."""
    if spilled(after):
        body = (after[0], PART, pack(plan, FAST))
        connection.execute("INSERT OR REPLACE INTO bodies VALUES (?, ?, ?)", body)
    elif before and spilled(before):
        delete_plan(connection, after[0])


def delete_plan(connection: Connection, schedule_id: str) -> None:
    connection.execute("DELETE FROM bodies WHERE task_id = ? AND part = ?", (schedule_id, PART))


def _try_reading(row: Sequence[Any], body: str | bytes | None) -> Schedule | Corrupt:
    plan = body if spilled(row) else row[PLAN]
    if plan is None:
        return Corrupt(row[0], "its plan is missing")
    try:
        return _schedule(row, unpack(plan))
    except UNREADABLE as error:
        return Corrupt(row[0], repr(error))


def _schedule(row: Sequence[Any], plan: str) -> Schedule:
    (
        schedule_id,
        _namespace,
        created_at,
        _plan,
        status,
        version,
        revision,
        updated_at,
        next_at,
        wake_bucket,
        wake_key,
        state,
    ) = row
    return Schedule(
        id=schedule_id,
        plan=decode_plan(plan),
        status=ScheduleStatus(status),
        version=version,
        revision=revision,
        created_at=created_at,
        updated_at=updated_at,
        next_at=next_at,
        wake=parse_wake(wake_bucket, wake_key) if wake_bucket else None,
        **decode_state(state),
    )


def _digest(plan: str) -> str:
    return f"@{blake2b(plan.encode(), digest_size=16).hexdigest()}"
