"""The index of tasks that have ended, by the time of their end, and the removal of tasks.

The index holds a task from its end, or from the end of its follow-up, so no other step writes to
it. Runs of a schedule and tasks of steps are kept longer than other tasks and come after them in
the index; a round of removals therefore seldom reads past those that must stay.
"""

from collections.abc import Sequence
from sqlite3 import Connection
from typing import NamedTuple

from duetime.core.codec import to_json
from duetime.core.ids import is_id
from duetime.core.lifecycle import Status
from duetime.core.listings import EndedListing
from duetime.core.retention import LEDGER_RETENTION, SHORTEST_EXTRA
from duetime.core.steps.remove import Removal
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.sqlite.listing import READ_LIMIT
from duetime.sqlite.task_rows import UNLISTED, delete_tags, tag_rows

_DIGITS = 13
FIRST = ""  # sorts before every id
# As the index has it: of an ordinary task, a run of a schedule, the task of a step.
KIND = "(CASE WHEN namespace = '' THEN 2 ELSE schedule_id IS NOT NULL END)"


class End(NamedTuple):
    """A position in the index."""

    kind: int  # one of the three below
    ended_at: Millis
    task_id: str

    @property
    def cursor(self) -> str:
        return f"{self.kind}-{self.ended_at:0{_DIGITS}d}-{self.task_id}"


ORDINARY, OCCURRENCE, STEP = range(3)
START = End(ORDINARY, 0, FIRST)


def parse_cursor(cursor: str) -> End:
    kind, _, rest = cursor.partition("-")
    ended_at, _, task_id = rest.partition("-")
    digits = len(ended_at) == _DIGITS and ended_at.isascii() and ended_at.isdigit()
    if kind not in ("0", "1", "2") or not digits or not (is_id(task_id) or task_id == FIRST):
        raise ValueError("not a cursor of this list")
    return End(int(kind), int(ended_at), task_id)


def page_ends(connection: Connection, listing: EndedListing) -> tuple[list[str], str | None]:
    """Returns the ids of a page, earliest end first, and the cursor of the next page. Reads at most
    READ_LIMIT rows; the caller still has to ask `listing.wants`."""
    place = parse_cursor(listing.cursor) if listing.cursor else START
    rows = _read(connection, listing, place)
    found: list[str] = []
    for ended_at, task_id, status, namespace in rows:
        place = End(place.kind, ended_at, task_id)
        if Status(status) in listing.statuses and _may_be_in(listing, namespace):
            found.append(task_id)
        if len(found) == listing.limit:
            return found, place.cursor
    if len(rows) == READ_LIMIT:
        return found, place.cursor
    return found, None if place.kind == STEP else End(place.kind + 1, 0, FIRST).cursor


def _read(
    connection: Connection, listing: EndedListing, place: End
) -> list[tuple[Millis, str, str, str]]:
    # The terms on status and wake_bucket repeat those of the index, or SQLite would not use it.
    return connection.execute(
        "SELECT updated_at, id, status, namespace FROM tasks"
        " WHERE status IN ('SUCCEEDED', 'CANCELLED', 'EXPIRED') AND wake_bucket IS NULL"
        f" AND {KIND} = ? AND (updated_at, id) > (?, ?) AND updated_at <= ?"
        " ORDER BY updated_at, id LIMIT ?",
        (*place, listing.as_of - _kept_for(listing, place.kind), READ_LIMIT),
    ).fetchall()


def _kept_for(listing: EndedListing, kind: int) -> Millis:
    if kind == OCCURRENCE:
        return max(listing.kept_for, LEDGER_RETENTION)
    return listing.kept_for + SHORTEST_EXTRA if kind == STEP else listing.kept_for


def _may_be_in(listing: EndedListing, namespace: str) -> bool:
    """The row of a step's task does not have its namespace; `listing.wants` reads it."""
    return listing.namespace is None or namespace in (listing.namespace, UNLISTED)


def unchanged(connection: Connection, removals: Sequence[Removal]) -> list[Task]:
    """Returns the tasks that are stored as they were read."""
    rows = connection.execute(
        "SELECT id, status, token, updated_at FROM tasks"
        " WHERE id IN (SELECT value FROM json_each(?)) AND wake_bucket IS NULL",
        (to_json([removal.task.id for removal in removals]),),
    ).fetchall()
    stored = {row[0]: tuple(row[1:]) for row in rows}
    tasks = [removal.task for removal in removals]
    return [t for t in tasks if stored.get(t.id) == (t.status.value, t.token, t.updated_at)]


def delete_tasks(connection: Connection, tasks: Sequence[Task]) -> None:
    """Deletes tasks with their tags, long texts, earlier attempts and idempotency keys."""
    ids = to_json([task.id for task in tasks])
    for table, column in (("tasks", "id"), ("bodies", "task_id"), ("attempts", "task_id")):
        connection.execute(
            f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))", (ids,)
        )
    delete_tags(connection, [row for task in tasks for row in tag_rows(task)])
    keyed = [(t.spec.namespace, t.spec.idempotency_key, t.id) for t in tasks]
    connection.executemany(
        "DELETE FROM keys WHERE namespace = ? AND key = ? AND task_id = ?",
        [row for row in keyed if row[1] is not None],
    )
