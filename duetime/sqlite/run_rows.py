"""Runs as rows: see duetime.sqlite.revised_rows. The spec of a run never changes."""

from collections.abc import Sequence
from sqlite3 import Connection

from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.packing import unpack
from duetime.core.times import DAY
from duetime.core.wakes import parse_wake
from duetime.core.workflows.run import Run, RunStatus
from duetime.core.workflows.run_codec import (
    decode_run_spec,
    decode_run_state,
    encode_run_spec,
    encode_run_state,
)
from duetime.sqlite.revised_rows import RevisedTable, Write, inline_or_digest
from duetime.sqlite.task_rows import UNLISTED, Row

RUNS = RevisedTable(
    name="runs",
    cold=("id", "namespace", "day", "created_at", "run_spec"),
    hot=("status", "revision", "updated_at", "wake_bucket", "wake_key", "kept_from", "state"),
    text="run_spec",
)

Found = dict[str, Run | Corrupt]


def run_write(run: Run) -> Write:
    """The run of a map has no namespace in its column, so no list finds it. `kept_from` is stored
    once the run needs no report to the task that waits for it."""
    spec = encode_run_spec(run.spec)
    wake = run.wake
    row = (
        run.id,
        UNLISTED if run.spec.map else run.spec.namespace,
        run.created_at // DAY,
        run.created_at,
        inline_or_digest(spec),
        run.status.value,
        run.revision,
        run.updated_at,
        wake.bucket if wake else None,
        wake.key if wake else None,
        None if wake else run.kept_from,
        encode_run_state(run),
    )
    return row, spec


def read_runs(connection: Connection, run_ids: Sequence[str]) -> Found:
    found = RUNS.read(connection, run_ids)
    return {i: _try_reading(row, spec) for i, (row, spec) in found.items()}


def read_row(connection: Connection, row: Row) -> Run | Corrupt:
    """Reads a row. Only for the writer: see RevisedTable.text_of."""
    return _try_reading(row, RUNS.text_of(connection, row))


def _try_reading(row: Row, spec: str | bytes | None) -> Run | Corrupt:
    if spec is None:
        return Corrupt(row[0], "its spec is missing")
    try:
        return _run(row, unpack(spec))
    except UNREADABLE as error:
        return Corrupt(row[0], repr(error))


def _run(row: Row, spec: str) -> Run:
    (
        run_id,
        _namespace,
        _day,
        created_at,
        _spec,
        status,
        revision,
        updated_at,
        wake_bucket,
        wake_key,
        _kept_from,
        state,
    ) = row
    return Run(
        id=run_id,
        spec=decode_run_spec(spec),
        status=RunStatus(status),
        revision=revision,
        created_at=created_at,
        updated_at=updated_at,
        wake=parse_wake(wake_bucket, wake_key) if wake_bucket else None,
        **decode_run_state(state),
    )
