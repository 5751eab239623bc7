"""Tasks in SQLite: the SQLite backend's TaskStore.

TaskWrites decides and makes the conditional writes; Database has the transactions around them.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from sqlite3 import IntegrityError
from time import monotonic_ns

from duetime.core import codec
from duetime.core.change import Answer, Applied, Change, Unknown
from duetime.core.dead_letters import Death, Deaths, dead_page
from duetime.core.errors import Corrupt, StoreLost, Unavailable
from duetime.core.forecast import DueCounts, DueSpan
from duetime.core.lanes import Lane, Queue, queue_of
from duetime.core.lifecycle import Status, Step
from duetime.core.list_positions import Soonest
from duetime.core.listings import DeadListing, EndedListing, Listing, ListOrder, Page
from duetime.core.ports import Clock, Reservation, UniqueKey
from duetime.core.steps.lease import WORKER_HOLDER
from duetime.core.steps.remove import Removal
from duetime.core.steps.watch import recover_orphan
from duetime.core.task import ORDERING_KEY, Attempt, Task
from duetime.core.times import Millis
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import Wake, WakeKind, bucket_of
from duetime.sqlite.cursor_store import SqliteCursorStore
from duetime.sqlite.database import Database
from duetime.sqlite.dead_letters import read_deaths
from duetime.sqlite.due_counts import count_due
from duetime.sqlite.ended_tasks import page_ends
from duetime.sqlite.figures import StoreFigures, read_figures
from duetime.sqlite.key_rows import reserve_each, take_key
from duetime.sqlite.limit_store import SqliteLimitStore
from duetime.sqlite.listing import page_ids, start_of
from duetime.sqlite.new_rows import NewRows
from duetime.sqlite.object_store import LocalObjects
from duetime.sqlite.queued_write import Action
from duetime.sqlite.quota_store import SqliteQuotaStore
from duetime.sqlite.rate_store import SqliteRateStore
from duetime.sqlite.run_store import SqliteRunStore
from duetime.sqlite.schedule_store import SqliteScheduleStore
from duetime.sqlite.slot_store import SqliteSlotStore
from duetime.sqlite.stats_store import SqliteStatsStore
from duetime.sqlite.task_rows import (
    COLUMNS,
    SUMMARY_COLUMNS,
    load,
    load_each,
    load_listed,
)
from duetime.sqlite.task_writes import Listener, TaskWrites
from duetime.sqlite.wake_index import read_bucket, read_few, read_first

RECOVERY_BATCH = 1_000
# A submission that died before it stored its task has left its unique key behind.
FREE_ABANDONED_KEYS = (
    "DELETE FROM unique_keys WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE id = unique_keys.task_id)"
)
CHECKED = "INSERT OR REPLACE INTO settings VALUES ('checked', ?)"

log = logging.getLogger(__name__)


class SqliteTaskStore(SqliteCursorStore):
    """`path` is the file, or None for a store in memory. `listener` is called with every status
    change after its commit, in order, and must be quick. `on_lost`: see Database. `objects` are
    those of the tasks, and leave with them."""

    def __init__(
        self,
        path: Path | None,
        listener: Listener | None = None,
        on_lost: Callable[[StoreLost], None] = lambda _: None,
        objects: LocalObjects | None = None,
    ) -> None:
        self._objects = objects
        self._writes = writes = TaskWrites(listener)
        self._database = Database(
            path, on_commit=writes.publish, on_rollback=writes.discard, on_lost=on_lost
        )

    def close(self) -> None:
        self._database.close()

    def check(self) -> None:
        """Raise Unavailable if the store cannot be read or has no room. If the last write failed,
        also try another one."""
        with self._database.read() as connection:
            connection.execute("SELECT value FROM settings LIMIT 1").fetchall()
        self._database.check()
        if self._database.write_fault:
            self._database.write(lambda c: c.execute(CHECKED, (str(monotonic_ns()),)))

    def schedules(self, clock: Clock) -> SqliteScheduleStore:
        """Returns the schedule store of the same file, whose methods have the same names."""
        return SqliteScheduleStore(self._database, clock)

    def slots(self) -> SqliteSlotStore:
        """Returns the slot store of the same file."""
        return SqliteSlotStore(self._database)

    def limits(self) -> SqliteLimitStore:
        """Returns the store of the limits in the same file."""
        return SqliteLimitStore(self._database)

    def runs(self) -> SqliteRunStore:
        """Returns the run store of the same file, whose methods have the same names."""
        return SqliteRunStore(self._database)

    def quotas(self, clock: Clock) -> SqliteQuotaStore:
        """Returns the state of the quotas. From now on the store counts its tasks."""
        self._database.write(self._writes.counts.count)
        return SqliteQuotaStore(self._writes.counts.of, clock)

    def rates(self) -> SqliteRateStore:
        """Returns the clocks of the rate limits in the same file."""
        return SqliteRateStore(self._database)

    def stats(self) -> SqliteStatsStore:
        """Returns the statistics in the same file."""
        return SqliteStatsStore(self._database)

    def figures(self) -> StoreFigures:
        return read_figures(self._database)

    def put(self, tasks: Sequence[Task]) -> list[Answer]:
        """The tasks of steps need not be durable: their run, which is, creates them again. The
        lease makes them durable before they start."""
        durable = any(task.spec.step is None for task in tasks)
        return self._answers(lambda c: self._writes.put(c, tasks), len(tasks), durable)

    def queue_new(self, tasks: Sequence[Task], rows: NewRows) -> Callable[[], bool]:
        """Queues the write of new tasks and their rows for the next commit. Returns what waits for
        it: True if all are stored, False if none is, since an id is taken. Both raise Unavailable,
        after which they may be stored."""
        finish = self._database.queue(lambda c: self._writes.put_new(c, tasks, rows))

        def stored() -> bool:
            try:
                finish()
            except IntegrityError:
                return False
            return True

        return stored

    def get(self, task_ids: Sequence[str]) -> dict[str, Task]:
        with self._database.read() as connection:
            return load(connection, task_ids)

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        """A follow-up that is done need not be durable: to run it again changes nothing."""
        durable = any(change.step is not Step.FOLLOW_UP for change in changes)
        return self._answers(lambda c: self._writes.apply(c, changes), len(changes), durable)

    def set_aside(self, change: Change) -> None:
        self._database.write(lambda c: self._writes.set_aside(c, change))

    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> Iterable[Wake]:
        with self._database.read() as connection:
            return read_bucket(connection, bucket_of(minute, shard), kind)

    def few_wakes(self, limit: int) -> list[Wake] | None:
        with self._database.read() as connection:
            return read_few(connection, limit)

    def first_wake(self) -> Wake | None:
        """Returns a wake of the earliest minute that has one. A tick that is more than the horizon
        before it finds nothing to do."""
        with self._database.read() as connection:
            return read_first(connection)

    def due_counts(self, span: DueSpan) -> DueCounts:
        with self._database.read() as connection:
            return count_due(connection, span)

    def waiting(self) -> Counter[Queue]:
        """Returns how many tasks of each queue wait for a limit or for their ordering key."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT substr(wake_key, 3, 1), json_extract(spec, '$.pool'), count(DISTINCT id)"
                " FROM places CROSS JOIN tasks"
                f" ON tasks.id = places.task_id WHERE held >= {ORDERING_KEY}"
                " AND status IN ('PENDING', 'ENQUEUED', 'RETRYING') GROUP BY 1, 2"
            ).fetchall()
        return Counter({queue_of(Lane.ranked(int(rank)), pool): n for rank, pool, n in rows})

    def page(self, listing: Listing) -> Page:
        columns = SUMMARY_COLUMNS if listing.summary else COLUMNS
        with self._database.read() as connection:
            ids, reached = page_ids(connection, listing)
            found = _readable(load_listed(connection, ids, columns))
        tasks = [found[i] for i in ids if i in found and listing.filter.wants(found[i])]
        soonest = listing.order is ListOrder.SOONEST
        looked_from = start_of(listing).key[0] if soonest else None
        return Page(
            tasks=tasks,
            cursor=reached.cursor() if reached else None,
            looked_from=looked_from,
            looked_until=reached.due_at if isinstance(reached, Soonest) else None,
        )

    def dead(self, listing: DeadListing) -> Page:
        return dead_page(listing, self._deaths, self._readable)

    def ended(self, listing: EndedListing) -> Page:
        with self._database.read() as connection:
            ids, cursor = page_ends(connection, listing)
        tasks = self._readable(ids).values()
        return Page(tasks=[task for task in tasks if listing.wants(task)], cursor=cursor)

    def remove(self, removals: Sequence[Removal]) -> list[Answer]:
        answers = self._answers(lambda c: self._writes.remove(c, removals), len(removals))
        self._delete_objects([a.stored.id for a in answers if isinstance(a, Applied)])
        return answers

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
        return self._database.write(lambda c: reserve_each(c, reservations, now))

    def take_keys(self, keys: Sequence[UniqueKey]) -> list[str]:
        return self._database.write(lambda c: [take_key(c, key) for key in keys])

    def recover(self, wake_policy: WakePolicy, now: Millis) -> int:
        """Call at the start, when no process but HTTP workers can hold a lease: expires every other
        lease, repeats every delivery, and makes every run and every task that waits for one due
        for a check. Also deletes what dead submissions and removals have left. Returns how many
        tasks were under way."""
        self._database.write(lambda c: c.execute("DELETE FROM keys WHERE expires_at <= ?", (now,)))
        self._database.write(lambda c: c.execute(FREE_ABANDONED_KEYS))
        self._sweep_objects()
        self.clear_pacing()
        self.slots().recover(wake_policy, now)
        self.runs().recover(wake_policy, now)
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id FROM tasks WHERE wake_bucket IS NOT NULL"
                " AND (wake_key LIKE ? OR status = ?)",
                (f"{WakeKind.WATCH}#%", Status.RUNNING),
            ).fetchall()
        for start in range(0, len(rows), RECOVERY_BATCH):
            tasks = self._readable([i for (i,) in rows[start : start + RECOVERY_BATCH]])
            changes = (recover_orphan(wake_policy, task, now=now) for task in tasks.values())
            self.apply([change for change in changes if change])
        return len(rows)

    def held_by_workers(self) -> list[Task]:
        """Returns the tasks that HTTP workers run."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id FROM tasks WHERE wake_bucket IS NOT NULL AND status = ?"
                " AND holder LIKE ?",
                (Status.RUNNING, f"{WORKER_HOLDER}%"),
            ).fetchall()
        return list(self._readable([task_id for (task_id,) in rows]).values())

    def _delete_objects(self, task_ids: Sequence[str]) -> None:
        """Objects that cannot be deleted now are deleted at the next start."""
        try:
            if self._objects and task_ids:
                self._objects.delete(task_ids)
        except Unavailable as error:
            log.warning("objects not deleted: %s", error, extra={"step": "remove"})

    def _sweep_objects(self) -> None:
        try:
            if self._objects and (swept := self._objects.sweep(self._existing)):
                log.info("objects without a task deleted", extra={"step": "remove", "tasks": swept})
        except (Unavailable, OSError) as error:
            log.warning("objects not swept: %s", error, extra={"step": "remove"})

    def _existing(self, task_ids: Sequence[str]) -> set[str]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id FROM tasks WHERE id IN (SELECT value FROM json_each(?))",
                (codec.to_json(task_ids),),
            ).fetchall()
        return {task_id for (task_id,) in rows}

    def _deaths(self, below: Death, last: Death, wanted: int) -> Deaths:
        with self._database.read() as connection:
            return read_deaths(connection, below, last, wanted)

    def _readable(self, task_ids: Sequence[str]) -> dict[str, Task]:
        with self._database.read() as connection:
            return _readable(load_each(connection, task_ids))

    def _answers(
        self, action: Action[list[Answer]], count: int, durable: bool = True
    ) -> list[Answer]:
        try:
            return self._database.write(action, durable=durable)
        except Unavailable as error:
            return [Unknown(str(error))] * count


def _readable(found: Mapping[str, Task | Corrupt]) -> dict[str, Task]:
    """Returns the tasks that can be read, and logs the others, which the scanner sets aside."""
    for task_id, task in found.items():
        if isinstance(task, Corrupt):
            fields = {"task_id": task_id, "reason": str(task)}
            log.error("task skipped: unreadable", extra=fields)
    return {i: task for i, task in found.items() if isinstance(task, Task)}
