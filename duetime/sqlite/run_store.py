"""Runs and workflows in SQLite: the SQLite backend's RunStore.

See duetime.sqlite.revised_rows for how a run is replaced.
"""

import logging
from collections.abc import Mapping, Sequence
from sqlite3 import Connection

from duetime.core.change import Applied, Refused, Unknown, Unreadable
from duetime.core.errors import Corrupt, Unavailable
from duetime.core.list_positions import Newest, newest_from
from duetime.core.times import Millis
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import Wake, WakeKind, parse_wake
from duetime.core.workflows.definition import Workflow
from duetime.core.workflows.list_positions import WorkflowPlace
from duetime.core.workflows.ports import (
    RunAnswer,
    RunListing,
    RunPage,
    WorkflowAnswer,
    WorkflowPage,
)
from duetime.core.workflows.run import Run, RunStatus
from duetime.sqlite import workflow_rows as workflows
from duetime.sqlite.database import Database
from duetime.sqlite.listing import LATEST_DAY, READ_LIMIT
from duetime.sqlite.revised_rows import Write
from duetime.sqlite.run_rows import RUNS, read_row, read_runs, run_write
from duetime.sqlite.task_rows import Row

log = logging.getLogger(__name__)

ROWS_AT_ONCE = 200  # of a list


class SqliteRunStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, runs: Sequence[Run]) -> list[RunAnswer]:
        wanted = [run_write(run) for run in runs]  # before the write lock is taken
        durable = not all(_is_progress(run) for run in runs)
        try:
            return self._database.write(lambda c: _put(c, runs, wanted), durable=durable)
        except Unavailable as error:
            return [Unknown(str(error))] * len(runs)

    def get(self, run_ids: Sequence[str]) -> dict[str, Run]:
        with self._database.read() as connection:
            return _readable(connection, run_ids)

    def exist(self, run_ids: Sequence[str]) -> set[str]:
        with self._database.read() as connection:
            return set(RUNS.rows_of(connection, run_ids))

    def set_aside(self, found: Wake, later: Wake) -> None:
        self._database.write(lambda c: RUNS.set_aside(c, found, later))

    def page(self, listing: RunListing) -> RunPage:
        """Reads at most READ_LIMIT rows, so a page of a filter may be short."""
        position: Newest | None = newest_from(listing.cursor, latest=LATEST_DAY)
        found: list[Run] = []
        for _ in range(READ_LIMIT // ROWS_AT_ONCE):
            if position is None:
                break
            runs, position = self._next(listing, position, listing.limit - len(found))
            found += runs
            if len(found) == listing.limit:
                break
        return RunPage(runs=found, cursor=position.cursor() if position else None)

    def ended(self, before: Millis, limit: int) -> Sequence[str]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id FROM runs WHERE kept_from < ? ORDER BY kept_from LIMIT ?",
                (before, limit),
            ).fetchall()
        return [run_id for (run_id,) in rows]

    def remove(self, run_ids: Sequence[str]) -> None:
        self._database.write(lambda c: RUNS.delete(c, run_ids))

    def put_definition(self, digest: str, text: str, needed_until: Millis | None = None) -> None:
        with self._database.read() as connection:
            kept = workflows.is_kept(connection, digest, needed_until)
        if not kept:
            self._database.write(lambda c: workflows.put_definition(c, digest, text, needed_until))

    def remove_definitions(self, before: Millis) -> None:
        self._database.write(lambda c: workflows.remove_definitions(c, before))

    def definitions(self, digests: Sequence[str]) -> Mapping[str, str]:
        with self._database.read() as connection:
            return workflows.read_definitions(connection, digests)

    def put_workflow(self, workflow: Workflow) -> WorkflowAnswer:
        try:
            return self._database.write(lambda c: workflows.put_workflow(c, workflow))
        except Unavailable as error:
            return Unknown(str(error))

    def workflow(self, namespace: str, name: str) -> Workflow | None:
        with self._database.read() as connection:
            return workflows.read_workflow(connection, namespace, name)

    def version_digest(self, namespace: str, name: str, version: int) -> str | None:
        with self._database.read() as connection:
            return workflows.read_digest(connection, namespace, name, version)

    def workflows(self, namespace: str | None, limit: int, cursor: str | None) -> WorkflowPage:
        above = WorkflowPlace.of(namespace, cursor)
        with self._database.read() as connection:
            found = workflows.read_workflows(connection, namespace, above, limit + 1)
        page = found[:limit]
        last = WorkflowPlace(page[-1].namespace, page[-1].name) if len(found) > limit else None
        return WorkflowPage(workflows=page, cursor=last and last.cursor(namespace))

    def recover(self, wake_policy: WakePolicy, now: Millis) -> None:
        """Call at the start of the only runner: the wake of every run moves to now, so that what
        the last runner did not finish goes on at once."""
        self._database.write(lambda c: _recover(c, wake_policy, now))

    def _next(
        self, listing: RunListing, position: Newest, wanted: int
    ) -> tuple[list[Run], Newest | None]:
        """Returns the next runs of a list, and where to go on; None at its end."""
        with self._database.read() as connection:
            keys = _keys(connection, listing.namespace, position)
            runs = _readable(connection, [run_id for _, run_id in keys])
        found: list[Run] = []
        for day, run_id in keys:
            run = runs.get(run_id)
            if run is not None and listing.wants(run):
                found.append(run)
            if len(found) == wanted:
                is_last = (day, run_id) == keys[-1] and len(keys) < ROWS_AT_ONCE
                return found, None if is_last else Newest(day=day, below=run_id)
        if len(keys) < ROWS_AT_ONCE:
            return found, None
        return found, Newest(day=keys[-1][0], below=keys[-1][1])


def _is_progress(run: Run) -> bool:
    """Whether a write only records ends of steps. If it is lost, so is what came after it, and the
    tasks still have their follow-ups, which record the ends again. What a client asks for is
    durable when it is answered: to create, cancel or retry a run. So is the end of a run."""
    return run.status is RunStatus.RUNNING and run.revision > 1 and run.attempt == 1


def _put(connection: Connection, runs: Sequence[Run], wanted: Sequence[Write]) -> list[RunAnswer]:
    return [
        Applied(run) if stored else _refuse(connection, existing)
        for run, (stored, existing) in zip(runs, RUNS.put(connection, wanted), strict=True)
    ]


def _refuse(connection: Connection, existing: Row | None) -> RunAnswer:
    if existing is None:
        return Refused(None)
    found = read_row(connection, existing)
    return Unreadable(str(found)) if isinstance(found, Corrupt) else Refused(found)


def _readable(connection: Connection, run_ids: Sequence[str]) -> dict[str, Run]:
    found = read_runs(connection, run_ids)
    for run_id, run in found.items():
        if isinstance(run, Corrupt):
            log.error("run skipped: unreadable", extra={"run_id": run_id, "reason": str(run)})
    return {i: run for i, run in found.items() if isinstance(run, Run)}


def _keys(connection: Connection, namespace: str | None, position: Newest) -> list[tuple[int, str]]:
    where, values = "namespace > ''", list[str]()
    if namespace is not None:
        where, values = "namespace = ?", [namespace]
    return connection.execute(
        f"SELECT day, id FROM runs WHERE {where} AND (day, id) < (?, ?)"
        " ORDER BY day DESC, id DESC LIMIT ?",
        (*values, *position.key, ROWS_AT_ONCE),
    ).fetchall()


def _recover(connection: Connection, wake_policy: WakePolicy, now: Millis) -> None:
    rows = connection.execute(
        "SELECT wake_bucket, wake_key FROM runs WHERE wake_bucket IS NOT NULL"
    ).fetchall()
    for found in (parse_wake(*row) for row in rows):
        later = wake_policy.wake(WakeKind.RUN, found.task_id, found.lane, now, now=now)
        RUNS.set_aside(connection, found, later)
