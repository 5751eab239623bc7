"""Retention of the SQLite store in the local runner."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status
from duetime.core.listings import EndedListing
from duetime.core.occurrence import Occurrence
from duetime.core.ports import Ports, Reservation
from duetime.core.steps.remove import Removal
from duetime.core.task import Attempt, Task
from duetime.core.times import DAY, HOUR
from duetime.local import retention
from duetime.local.retention import BATCH, JUMP_PAUSE, PAUSE, SWEEP_EVERY, RetentionSweep
from duetime.sqlite.ended_tasks import page_ends
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import NOW, WAKE_POLICY, SeededRandom, SteppedClock, a_spec, a_task, an_id

KEPT = 30 * DAY


class World:
    """A store on disk, and a runner's sweep of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = SteppedClock()
        self.store = SqliteTaskStore(path)
        self.ports = Ports(
            store=self.store,
            schedules=self.store.schedules(self.clock),
            limits=self.store.limits(),
            lanes=MemoryLaneQueue(self.clock),
            wake_policy=WAKE_POLICY,
            clock=self.clock,
            chance=SeededRandom(),
        )
        self.sweep = RetentionSweep(self.ports, KEPT)

    def put(self, count: int, status: Status = Status.SUCCEEDED, **spec: Any) -> list[Task]:
        """Stores tasks that end now."""
        now = self.clock.now()
        made = [a_task(spec=a_spec(**spec), now=now) for _ in range(count)]
        tasks = [replace(t, status=status, wake=None, updated_at=now, attempt=1) for t in made]
        self.store.put(tasks)
        return tasks

    def rows(self, table: str) -> int:
        with closing(sqlite3.connect(self.path)) as connection:
            [count] = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(count)

    def pages(self) -> int:
        with closing(sqlite3.connect(self.path)) as connection:
            [count] = connection.execute("PRAGMA page_count").fetchone()
        return int(count)

    def sweep_all(self) -> None:
        while self.sweep() != SWEEP_EVERY:
            self.clock.advance(PAUSE)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path / "duetime.db")
    yield world
    world.store.close()


def test_sweep_removes_tasks_after_their_retention_and_not_before(world: World):
    world.put(3)
    world.clock.advance(KEPT - 1)
    world.sweep_all()
    assert world.rows("tasks") == 3

    world.clock.advance(1)
    world.sweep_all()
    assert world.rows("tasks") == 0


@pytest.mark.parametrize("status", [s for s in Status if not s.final])
def test_sweep_never_removes_a_task_that_is_not_final(world: World, status: Status):
    world.put(1, status)
    world.clock.advance(100 * KEPT)
    world.sweep_all()

    assert world.rows("tasks") == 1


def test_sweep_removes_one_batch_at_a_time(world: World):
    world.put(BATCH + 1)
    world.clock.advance(KEPT)

    assert world.sweep() == PAUSE
    assert world.rows("tasks") == 1
    world.sweep_all()
    assert world.rows("tasks") == 0


def test_sweep_removes_everything_that_is_stored_with_a_task(world: World):
    [task] = world.put(1, payload="p" * 5_000, idempotency_key="k")
    now = world.clock.now()
    key = Reservation(
        namespace="default", key="k", task_id=task.id, body_hash="", expires_at=now + 100 * KEPT
    )
    world.store.reserve([key], now)
    world.store.keep_attempt(task.id, Attempt(number=1, started_at=now, drift_ms=0))
    tables = ("tasks", "bodies", "attempts", "keys")
    assert [world.rows(table) for table in tables] == [1, 1, 1, 1]

    world.clock.advance(KEPT)
    world.sweep_all()

    assert [world.rows(table) for table in tables] == [0, 0, 0, 0]


def test_removal_keeps_a_key_that_names_another_task(world: World):
    [task] = world.put(1, idempotency_key="k")
    now = world.clock.now()
    key = Reservation(
        namespace="default", key="k", task_id=an_id(), body_hash="", expires_at=now + HOUR
    )
    world.store.reserve([key], now)

    world.store.remove([Removal(task)])

    assert world.rows("keys") == 1


def test_expired_keys_do_not_pile_up(world: World):
    for number in range(50):
        key = Reservation(
            namespace="default",
            key=f"k{number}",
            task_id=an_id(),
            body_hash="",
            expires_at=world.clock.now() + DAY,
        )
        world.store.reserve([key], world.clock.now())
        world.clock.advance(HOUR)

    assert world.rows("keys") <= 25


def test_sweep_reads_an_index_that_holds_only_tasks_that_may_leave(world: World):
    world.put(2)
    with closing(sqlite3.connect(world.path)) as connection:
        statements: list[str] = []
        connection.set_trace_callback(statements.append)
        page_ends(connection, EndedListing(as_of=NOW + KEPT, kept_for=KEPT))
        connection.set_trace_callback(None)
        plan = connection.execute(f"EXPLAIN QUERY PLAN {statements[-1]}").fetchall()

    assert [row[3].partition(" (")[0] for row in plan] == ["SEARCH tasks USING INDEX ended"]


def test_sweep_does_not_read_tasks_that_must_stay(world: World):
    world.put(1, occurrence=Occurrence(schedule_id=an_id(), scheduled_for=NOW, version=1))
    world.clock.advance(KEPT)
    world.put(1)
    with closing(sqlite3.connect(world.path)) as connection:
        listing = EndedListing(as_of=world.clock.now(), kept_for=KEPT)
        plain, cursor = page_ends(connection, listing)
        runs, _ = page_ends(connection, replace(listing, cursor=cursor))

    assert (plain, runs) == ([], [])


def test_sweep_waits_after_the_clock_was_set(world: World):
    """A clock that is wrong by months must not remove everything at once."""
    world.put(1)
    world.clock.set_by(100 * KEPT)

    assert world.sweep() == JUMP_PAUSE
    assert world.rows("tasks") == 1


def test_sweep_continues_in_a_new_runner(tmp_path: Path):
    world = World(tmp_path / "duetime.db")
    world.put(2 * BATCH)
    world.clock.advance(KEPT)
    world.sweep()
    world.store.close()

    again = World(tmp_path / "duetime.db")
    again.clock.advance(KEPT)
    again.sweep_all()

    assert again.rows("tasks") == 0
    again.store.close()


class BrokenArchive:
    def write(self, lines: Sequence[str]) -> None:
        raise Unavailable("the archive is full")


def test_task_stays_while_the_archive_cannot_be_written(world: World):
    world.put(1)
    world.clock.advance(KEPT)
    sweep = RetentionSweep(replace(world.ports, archive=BrokenArchive()), KEPT)

    with pytest.raises(Unavailable, match="full"):
        sweep()

    assert world.rows("tasks") == 1


def test_file_stops_growing_while_tasks_come_and_go(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(retention, "BATCH", 50)
    sizes: list[int] = []
    for _ in range(24):  # each round is a tenth of the retention
        world.put(100, payload="p" * 3_000)
        world.clock.advance(KEPT // 10)
        world.sweep_all()
        sizes.append(world.pages())

    assert world.rows("tasks") <= 1_000
    assert max(sizes[14:]) <= 1.05 * sizes[12], sizes
