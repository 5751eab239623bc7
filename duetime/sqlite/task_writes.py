"""The writes of the SQLite task store, inside its writing transaction.

The runner is the only writer (see Database), so a conditional write reads the task, asks the core
whether the change holds, and writes the task that the core returns.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from sqlite3 import Connection
from typing import Any

from duetime.core.change import Answer, Applied, Change, Refused, Unreadable
from duetime.core.errors import Corrupt
from duetime.core.events import StatusChange, StoredChange, is_status_change
from duetime.core.steps.remove import Removal
from duetime.core.task import Task
from duetime.sqlite.bulk_sql import insert_columns, insert_tags, insert_tasks, update_tasks
from duetime.sqlite.ended_tasks import delete_tasks, unchanged
from duetime.sqlite.new_rows import NewRows
from duetime.sqlite.quota_store import NamespaceCounts
from duetime.sqlite.task_rows import (
    IN_BODIES,
    Row,
    changed_row,
    columns_of,
    delete_tags,
    listed_namespace,
    load_each,
    new_row,
    rows_of,
    spilled,
    tag_rows,
    try_reading,
    write_spec,
)

LIVE_CACHE_SIZE = 10_000

Names = tuple[str, ...]  # of fields
Listener = Callable[[Sequence[StatusChange]], None]


class TaskWrites:
    """What the writing transaction does and remembers. Every method runs in the writing thread:
    `publish` after a commit, `discard` after a rollback. `listener`: see SqliteTaskStore."""

    def __init__(self, listener: Listener | None) -> None:
        self.counts = NamespaceCounts()
        self._listener = listener
        self._unpublished: list[StatusChange] = []
        # Small unfinished tasks, as the writing transaction sees them: the next step soon needs
        # them again. This process is the only writer, so an entry cannot go stale; a rollback
        # clears the cache.
        self.live: OrderedDict[str, Task] = OrderedDict()

    def put(self, connection: Connection, tasks: Sequence[Task]) -> list[Answer]:
        stored = load_each(connection, [task.id for task in tasks])
        answers: list[Answer] = []
        rows: list[Row] = []
        tags: list[Row] = []
        for task in tasks:
            existing = stored.get(task.id)
            if isinstance(existing, Corrupt):
                answers.append(Unreadable(str(existing)))
                continue
            if existing is None:
                existing = stored[task.id] = task
                row = new_row(connection, task)
                rows.append(row)
                tags += tag_rows(task)
                self.counts.note(listed_namespace(task), 1)
                if not spilled(row):
                    self._cache(task)
                self._note_change(None, task)
            ours = existing.token == task.token
            answers.append(Applied(existing) if ours else Refused(existing))
        insert_tasks(connection, rows)
        insert_tags(connection, tags)
        return answers

    def put_new(self, connection: Connection, tasks: Sequence[Task], rows: NewRows) -> None:
        """Stores tasks whose rows are made already. Raises IntegrityError if an id is taken."""
        insert_columns(connection, rows.columns)
        insert_tags(connection, rows.tags)
        for task in tasks:
            self.counts.note(listed_namespace(task), 1)
            self._cache(task)
            self._note_change(None, task)

    def apply(self, connection: Connection, changes: Sequence[Change]) -> list[Answer]:
        tasks = self._load_current(connection, [change.task_id for change in changes])
        changed: dict[str, Names] = {}  # the fields that are written of each task
        answers: list[Answer] = []
        for change in changes:
            task = tasks.get(change.task_id)
            if isinstance(task, Corrupt):
                answers.append(Unreadable(str(task)))
            elif task is not None and change.expect.holds(task):
                after = tasks[task.id] = change.applied_to(task)
                names = change.writes
                if task.id in changed:
                    names = tuple(dict.fromkeys((*changed[task.id], *names)))
                changed[task.id] = names
                if "spec" in change.sets:
                    self._write_spec(connection, task, after)
                if task.id in self.live:
                    self._cache(after)
                self._note_change(task, after)
                answers.append(Applied(after))
            elif task is not None and change.already_in(task):
                answers.append(Applied(task))
            else:
                answers.append(Refused(task))
        self._update(connection, changed, tasks)
        return answers

    def remove(self, connection: Connection, removals: Sequence[Removal]) -> list[Answer]:
        gone = {task.id: task for task in unchanged(connection, removals)}
        delete_tasks(connection, list(gone.values()))
        for task in gone.values():
            self.counts.note(listed_namespace(task), -1)
        others = [removal.task.id for removal in removals if removal.task.id not in gone]
        stored = load_each(connection, others)
        answers: list[Answer] = []
        for removal in removals:
            task_id = removal.task.id
            self.live.pop(task_id, None)
            found = stored.get(task_id)
            if task_id in gone:
                answers.append(Applied(gone[task_id]))
            else:
                answers.append(
                    Unreadable(str(found)) if isinstance(found, Corrupt) else Refused(found)
                )
        return answers

    def set_aside(self, connection: Connection, change: Change) -> None:
        found, later = change.expect.wake, change.sets["wake"]
        if found is None:
            raise ValueError("only a wake that was read can be set aside")
        self.live.pop(change.task_id, None)
        connection.execute(
            "UPDATE tasks SET wake_bucket = ?, wake_key = ?"
            " WHERE id = ? AND wake_bucket = ? AND wake_key = ?",
            (later.bucket, later.key, change.task_id, found.bucket, found.key),
        )

    def publish(self) -> None:
        self.counts.commit()
        if self._listener and self._unpublished:
            news, self._unpublished = self._unpublished, []
            self._listener(news)

    def discard(self) -> None:
        self.live.clear()
        self.counts.discard()
        self._unpublished.clear()

    def _update(
        self, connection: Connection, changed: Mapping[str, Names], tasks: Mapping[str, Any]
    ) -> None:
        """Writes the tasks whose changes set the same fields with one statement."""
        rows: dict[Names, list[Row]] = {}
        for task_id, names in changed.items():
            if not names:  # its spec alone has changed
                continue
            row = changed_row(connection, tasks[task_id], names)
            rows.setdefault(names, []).append(row)
        for names, alike in rows.items():
            update_tasks(connection, columns_of(names), alike)

    def _write_spec(self, connection: Connection, before: Task, after: Task) -> None:
        """Only a task with a small spec stays in the cache."""
        if write_spec(connection, after) == IN_BODIES:
            self.live.pop(after.id, None)
        if before.spec.tags != after.spec.tags:
            delete_tags(connection, tag_rows(before))
            insert_tags(connection, tag_rows(after))

    def _load_current(
        self, connection: Connection, task_ids: Sequence[str]
    ) -> dict[str, Task | Corrupt]:
        tasks: dict[str, Task | Corrupt] = {i: self.live[i] for i in task_ids if i in self.live}
        for row in rows_of(connection, [i for i in task_ids if i not in tasks]):
            task = tasks[row[0]] = try_reading(connection, row)
            if isinstance(task, Task) and not spilled(row):
                self._cache(task)
        return tasks

    def _cache(self, task: Task) -> None:
        if task.wake is None:
            self.live.pop(task.id, None)
            return
        self.live[task.id] = task
        if len(self.live) > LIVE_CACHE_SIZE:
            self.live.popitem(last=False)

    def _note_change(self, before: Task | None, after: Task) -> None:
        if self._listener and is_status_change(before, after):
            self._unpublished.append(StoredChange(before, after))
