"""Schedules as rows: see duetime.sqlite.revised_rows."""

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any

from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.packing import unpack
from duetime.core.schedules.codec import decode_plan, decode_state, encode_plan, encode_state
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.wakes import parse_wake
from duetime.sqlite.revised_rows import RevisedTable, Write, inline_or_digest
from duetime.sqlite.task_rows import Row

SCHEDULES = RevisedTable(
    name="schedules",
    cold=("id", "namespace", "created_at", "plan"),
    hot=(
        "status",
        "version",
        "revision",
        "updated_at",
        "next_at",
        "wake_bucket",
        "wake_key",
        "state",
    ),
    text="plan",
)
REVISION = SCHEDULES.columns.index("revision")

Found = dict[str, Schedule | Corrupt]


def schedule_write(schedule: Schedule) -> Write:
    plan = encode_plan(schedule.plan)
    wake = schedule.wake
    row = (
        schedule.id,
        schedule.plan.namespace,
        schedule.created_at,
        inline_or_digest(plan),
        schedule.status.value,
        schedule.version,
        schedule.revision,
        schedule.updated_at,
        schedule.next_at,
        wake.bucket if wake else None,
        wake.key if wake else None,
        encode_state(schedule),
    )
    return row, plan


def read_schedules(connection: Connection, schedule_ids: Sequence[str]) -> Found:
    found = SCHEDULES.read(connection, schedule_ids)
    return {i: _try_reading(row, plan) for i, (row, plan) in found.items()}


def read_row(connection: Connection, row: Row) -> Schedule | Corrupt:
    """Reads a row. Only for the writer: see RevisedTable.text_of."""
    return _try_reading(row, SCHEDULES.text_of(connection, row))


def _try_reading(row: Row, plan: str | bytes | None) -> Schedule | Corrupt:
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
