"""The SQLite store after a restart: no task is lost, and one runner at a time uses the file."""

from contextlib import contextmanager
from pathlib import Path

import pytest

from duetime.core.errors import DataInUse
from duetime.core.lifecycle import Outcome, Status
from duetime.core.retry import RetryPolicy
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import SteppedClock, a_task
from tests.world import WAKE_POLICY, sqlite_world


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "duetime.db"


@contextmanager
def restarted(path: Path, clock: SteppedClock, *, under_way: int):
    with sqlite_world(path, clock) as world:
        assert world.store.port.recover(WAKE_POLICY, clock.now()) == under_way
        yield world


def test_after_a_restart_every_unfinished_task_runs(path: Path):
    clock = SteppedClock()
    with sqlite_world(path, clock) as world:
        world.chance.luck = 0
        running = world.submit(payload="x" * 5_000)
        world.lease()
        world.script = lambda task, ctx: 1 / 0
        retrying = world.submit(retry=RetryPolicy(base_delay=30))
        world.deliver()
        sent, pending = world.submit(due_in=MINUTE), world.submit(due_in=HOUR)
        done = world.submit(due_in=2 * HOUR)
        world.script = lambda task, ctx: "done"

    clock.advance(SECOND)
    with restarted(path, clock, under_way=3) as world:
        world.tick()
        assert [world.status(i) for i in (running, retrying)] == [Status.RETRYING] * 2
        assert world.attempts(running)[0].outcome is Outcome.LEASE_EXPIRED
        world.live(5 * SECOND, step=SECOND)
        assert world.status(running) is Status.SUCCEEDED
        world.advance(MINUTE)
        world.deliver()
        assert [world.status(i) for i in (retrying, sent)] == [Status.SUCCEEDED] * 2
        assert world.status(pending) is Status.PENDING

    with restarted(path, clock, under_way=0) as world:
        world.live(2 * HOUR)
        assert [world.status(i) for i in (pending, done)] == [Status.SUCCEEDED] * 2
        assert world.task(running).spec.payload == "x" * 5_000


def test_a_crash_before_an_attempt_is_kept_leaves_no_gap_in_the_attempts(path: Path):
    clock = SteppedClock()
    with sqlite_world(path, clock) as world:
        world.chance.luck = 0
        world.script = lambda task, ctx: 1 / 0
        task_id = world.submit()
        world.deliver()
        clock.advance(SECOND)
        world.store.keep_attempt = lambda task_id, attempt: None  # the executor dies before it
        world.lease()

    with restarted(path, clock, under_way=1) as world:
        world.tick()
        world.live(5 * SECOND, step=SECOND)
        assert [(a.number, a.outcome) for a in world.attempts(task_id)] == [
            (1, Outcome.FAILED),
            (2, Outcome.LEASE_EXPIRED),
            (3, Outcome.SUCCEEDED),
        ]


def test_cancelled_and_finished_tasks_stay_so_after_a_restart(path: Path):
    clock = SteppedClock()
    with sqlite_world(path, clock) as world:
        done = world.submit()
        world.deliver()
        before = world.task(done)

    with restarted(path, clock, under_way=0) as world:
        world.live(5 * MINUTE)
        assert world.task(done) == before
        assert world.starts == []


def test_an_unreadable_row_stops_no_other_task_at_a_restart(path: Path):
    clock = SteppedClock()
    with sqlite_world(path, clock) as world:
        ids = [world.submit() for _ in range(3)]
        world.corrupt(ids[1])

    with restarted(path, clock, under_way=3) as world:
        world.tick()
        world.deliver()
        assert sorted(world.starts) == sorted([ids[0], ids[2]])
        clock.advance(5 * MINUTE)
        assert world.tick().set_aside == 1


def test_a_second_runner_cannot_open_the_file_of_the_first(path: Path):
    first = SqliteTaskStore(path)
    with pytest.raises(DataInUse) as caught:
        SqliteTaskStore(path)
    assert str(path.parent) in str(caught.value)

    first.close()
    SqliteTaskStore(path).close()


def test_two_stores_in_memory_do_not_lock_each_other_out():
    first, second = SqliteTaskStore(None), SqliteTaskStore(None)
    task = a_task()
    first.put([task])

    assert first.get([task.id]) == {task.id: task}
    assert second.get([task.id]) == {}
    first.close()
    second.close()
