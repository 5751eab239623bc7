"""The embedded store outlives its runner: nothing is lost, and one runner at a time."""

from contextlib import contextmanager
from pathlib import Path

import pytest

from duetime.embedded.store import EmbeddedStore
from lambdas.core.errors import DataInUse
from lambdas.core.lifecycle import Outcome, Status
from lambdas.core.retry import RetryPolicy
from lambdas.core.times import HOUR, MINUTE, SECOND
from tests.factories import SteppedClock, a_task
from tests.world import RULES, embedded_world


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "duetime.db"


@contextmanager
def restarted(path: Path, clock: SteppedClock, *, under_way: int):
    with embedded_world(path, clock) as world:
        assert world.store._store.recover(RULES, clock.now()) == under_way
        yield world


def test_after_a_restart_everything_that_was_under_way_runs(path: Path):
    clock = SteppedClock()
    with embedded_world(path, clock) as world:
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


def test_a_crash_in_between_leaves_no_hole_in_the_attempts(path: Path):
    clock = SteppedClock()
    with embedded_world(path, clock) as world:
        world.chance.luck = 0
        world.script = lambda task, ctx: 1 / 0
        task_id = world.submit()
        world.deliver()
        clock.advance(SECOND)
        world.store.keep_attempt = lambda task_id, attempt: None  # it dies before it does so
        world.lease()

    with restarted(path, clock, under_way=1) as world:
        world.tick()
        world.live(5 * SECOND, step=SECOND)
        assert [(a.number, a.outcome) for a in world.attempts(task_id)] == [
            (1, Outcome.FAILED),
            (2, Outcome.LEASE_EXPIRED),
            (3, Outcome.SUCCEEDED),
        ]


def test_what_was_cancelled_or_done_stays_so(path: Path):
    clock = SteppedClock()
    with embedded_world(path, clock) as world:
        done = world.submit()
        world.deliver()
        before = world.task(done)

    with restarted(path, clock, under_way=0) as world:
        world.live(5 * MINUTE)
        assert world.task(done) == before
        assert world.starts == []


def test_a_broken_row_does_not_keep_the_rest_from_starting(path: Path):
    clock = SteppedClock()
    with embedded_world(path, clock) as world:
        ids = [world.submit() for _ in range(3)]
        world.corrupt(ids[1])

    with restarted(path, clock, under_way=3) as world:
        world.tick()
        world.deliver()
        assert sorted(world.starts) == sorted([ids[0], ids[2]])
        clock.advance(5 * MINUTE)
        assert world.tick().set_aside == 1


def test_a_second_runner_is_kept_off_until_the_first_is_gone(path: Path):
    first = EmbeddedStore(path)
    with pytest.raises(DataInUse) as caught:
        EmbeddedStore(path)
    assert str(path.parent) in str(caught.value)

    first.close()
    EmbeddedStore(path).close()


def test_a_store_in_memory_keeps_nobody_off():
    first, second = EmbeddedStore(None), EmbeddedStore(None)
    task = a_task()
    first.put([task])

    assert first.get([task.id]) == {task.id: task}
    assert second.get([task.id]) == {}
    first.close()
    second.close()
