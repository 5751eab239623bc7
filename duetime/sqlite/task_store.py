"""The task store in SQLite: the embedded backend's TaskStore.

The runner is the only writer (see Database), so a change is: look at the task, ask the core
whether the change holds, write what the core says it becomes.
"""

import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import monotonic_ns

from duetime.embedded.bulk import insert_tasks, update_tasks
from duetime.embedded.cursors import CursorRows
from duetime.embedded.database import Action, Database
from duetime.embedded.queries import (
    deaths,
    few_wakes,
    load,
    load_each,
    page_ids,
    reserve,
    rows_of,
    try_reading,
    wakes_in,
)
from duetime.embedded.rows import Row, hot_row, new_row, spilled
from duetime.embedded.schedules import EmbeddedSchedules
from lambdas.core import codec
from lambdas.core.change import Answer, Applied, Change, Refused, Unknown, Unreadable
from lambdas.core.dead import Death, Deaths, dead_page
from lambdas.core.errors import Corrupt, StoreLost, Unavailable
from lambdas.core.events import StatusChange, status_change
from lambdas.core.ids import is_id
from lambdas.core.lifecycle import Status
from lambdas.core.ports import Clock, DeadListing, Listing, Page, Reservation
from lambdas.core.rules import Rules
from lambdas.core.steps.watch import orphan
from lambdas.core.task import Attempt, Task
from lambdas.core.times import Millis
from lambdas.core.wakes import Wake, WakeKind, bucket_of

LIVE_LIMIT = 10_000
ORPHANS_AT_ONCE = 1_000
CHECKED = "INSERT OR REPLACE INTO settings VALUES ('checked', ?)"

log = logging.getLogger(__name__)

Listener = Callable[[Sequence[StatusChange]], None]


class EmbeddedStore(CursorRows):
    """`path` is the file, None for a store in memory; `listener` hears of every status change
    once it is committed, in order, and must be quick. `on_lost`: see Database."""

    def __init__(
        self,
        path: Path | None,
        listener: Listener | None = None,
        on_lost: Callable[[StoreLost], None] = lambda _: None,
    ) -> None:
        self._listener = listener
        self._news: list[StatusChange] = []
        # Small tasks under way, as they stand in the writing transaction: they are soon asked
        # for again. Nobody else writes, so an entry cannot go stale; a rollback empties it.
        self._live: OrderedDict[str, Task] = OrderedDict()
        self._database = Database(
            path, on_commit=self._tell, on_rollback=self._forget, on_lost=on_lost
        )

    def close(self) -> None:
        self._database.close()

    def check(self) -> None:
        """Raise Unavailable if the store cannot be read or has no room; after a write that failed,
        also if it does not take another one."""
        with self._database.read() as connection:
            connection.execute("SELECT value FROM settings LIMIT 1").fetchall()
        self._database.check()
        if self._database.unwritten:
            self._database.write(lambda c: c.execute(CHECKED, (str(monotonic_ns()),)))

    def schedules(self, clock: Clock) -> EmbeddedSchedules:
        """In the same file; a store of its own, since its verbs have the same names."""
        return EmbeddedSchedules(self._database, clock)

    def put(self, tasks: Sequence[Task]) -> list[Answer]:
        return self._answers(lambda c: self._put(c, tasks), len(tasks))

    def get(self, task_ids: Sequence[str]) -> dict[str, Task]:
        with self._database.read() as connection:
            return load(connection, task_ids)

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        return self._answers(lambda c: self._apply(c, changes), len(changes))

    def set_aside(self, change: Change) -> None:
        self._database.write(lambda c: self._set_aside(c, change))

    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> Iterable[Wake]:
        with self._database.read() as connection:
            return wakes_in(connection, bucket_of(minute, shard), kind)

    def few_wakes(self, limit: int) -> list[Wake] | None:
        with self._database.read() as connection:
            return few_wakes(connection, limit)

    def page(self, listing: Listing) -> Page:
        if listing.cursor is not None and not is_id(listing.cursor):
            raise ValueError("not a cursor of this list")
        with self._database.read() as connection:
            ids, cursor = page_ids(connection, listing)
        found = self._readable(ids)
        return Page(tasks=[found[task_id] for task_id in ids if task_id in found], cursor=cursor)

    def dead(self, listing: DeadListing) -> Page:
        return dead_page(listing, self._deaths, self._readable)

    def keep_attempt(self, task_id: str, attempt: Attempt) -> None:
        row = (task_id, attempt.number, codec.encode_attempt(attempt))
        self._database.write(
            lambda c: c.execute("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?)", row)
        )

    def attempts(self, task_id: str) -> list[Attempt]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT attempt FROM attempts WHERE task_id = ? ORDER BY number", (task_id,)
            ).fetchall()
        return [codec.decode_attempt(text) for (text,) in rows]

    def reserve(self, reservations: Sequence[Reservation], now: Millis) -> list[Reservation]:
        return self._database.write(lambda c: [reserve(c, r, now) for r in reservations])

    def recover(self, rules: Rules, now: Millis) -> int:
        """After a restart nobody is alive but us: run every lease out, have every delivery made
        again. Returns how many tasks were under way."""
        self._database.write(lambda c: c.execute("DELETE FROM keys WHERE expires_at <= ?", (now,)))
        self.forget_slots()
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id FROM tasks WHERE wake_bucket IS NOT NULL"
                " AND (wake_key LIKE ? OR status = ?)",
                (f"{WakeKind.WATCH}#%", Status.RUNNING),
            ).fetchall()
        for start in range(0, len(rows), ORPHANS_AT_ONCE):
            tasks = self._readable([i for (i,) in rows[start : start + ORPHANS_AT_ONCE]])
            changes = (orphan(rules, task, now=now) for task in tasks.values())
            self.apply([change for change in changes if change])
        return len(rows)

    def _deaths(self, below: Death, last: Death, wanted: int) -> Deaths:
        with self._database.read() as connection:
            return deaths(connection, below, last, wanted)

    def _readable(self, task_ids: Sequence[str]) -> dict[str, Task]:
        """What cannot be read must not hold up the rest; the scanner sets it aside."""
        with self._database.read() as connection:
            found = load_each(connection, task_ids)
        for task in found.values():
            if isinstance(task, Corrupt):
                log.error("left out: %s", task)
        return {i: task for i, task in found.items() if isinstance(task, Task)}

    def _answers(self, action: Action[list[Answer]], count: int) -> list[Answer]:
        try:
            return self._database.write(action)
        except Unavailable as error:
            return [Unknown(str(error))] * count

    def _put(self, connection: sqlite3.Connection, tasks: Sequence[Task]) -> list[Answer]:
        standing = load_each(connection, [task.id for task in tasks])
        answers: list[Answer] = []
        rows: list[Row] = []
        for task in tasks:
            there = standing.get(task.id)
            if isinstance(there, Corrupt):
                answers.append(Unreadable(str(there)))
                continue
            if there is None:
                there = standing[task.id] = task
                row = new_row(connection, task)
                rows.append(row)
                if not spilled(row):
                    self._keep(task)
                self._note(None, task)
            ours = there.token == task.token
            answers.append(Applied(there) if ours else Refused(there))
        insert_tasks(connection, rows)
        return answers

    def _apply(self, connection: sqlite3.Connection, changes: Sequence[Change]) -> list[Answer]:
        tasks = self._under_way(connection, [change.task_id for change in changes])
        changed: dict[str, Task] = {}
        answers: list[Answer] = []
        for change in changes:
            task = tasks.get(change.task_id)
            if isinstance(task, Corrupt):
                answers.append(Unreadable(str(task)))
            elif task is not None and change.expect.holds(task):
                after = tasks[task.id] = changed[task.id] = change.applied_to(task)
                if task.id in self._live:
                    self._keep(after)
                self._note(task, after)
                answers.append(Applied(after))
            elif task is not None and change.stands_in(task):
                answers.append(Applied(task))
            else:
                answers.append(Refused(task))
        update_tasks(connection, [hot_row(connection, task) for task in changed.values()])
        return answers

    def _under_way(
        self, connection: sqlite3.Connection, task_ids: Sequence[str]
    ) -> dict[str, Task | Corrupt]:
        tasks: dict[str, Task | Corrupt] = {i: self._live[i] for i in task_ids if i in self._live}
        for row in rows_of(connection, [i for i in task_ids if i not in tasks]):
            task = tasks[row[0]] = try_reading(connection, row)
            if isinstance(task, Task) and not spilled(row):
                self._keep(task)
        return tasks

    def _set_aside(self, connection: sqlite3.Connection, change: Change) -> None:
        found, later = change.expect.wake, change.sets["wake"]
        if found is None:
            raise ValueError("nothing is set aside but a wake that was found")
        self._live.pop(change.task_id, None)
        connection.execute(
            "UPDATE tasks SET wake_bucket = ?, wake_key = ?"
            " WHERE id = ? AND wake_bucket = ? AND wake_key = ?",
            (later.bucket, later.key, change.task_id, found.bucket, found.key),
        )

    def _keep(self, task: Task) -> None:
        if task.wake is None:
            self._live.pop(task.id, None)
            return
        self._live[task.id] = task
        if len(self._live) > LIVE_LIMIT:
            self._live.popitem(last=False)

    def _note(self, before: Task | None, after: Task) -> None:
        if self._listener and (change := status_change(before, after)):
            self._news.append(change)

    def _tell(self) -> None:
        if self._listener and self._news:
            news, self._news = self._news, []
            self._listener(news)

    def _forget(self) -> None:
        self._live.clear()
        self._news.clear()
