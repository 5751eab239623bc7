"""More wakes than a tick has time for. Every write advances the stepped clock."""

import pytest

from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.times import HOUR, MINUTE, SECOND, Millis
from duetime.scanner.scanner import FRESH_SHARE, Scanner
from tests.flow.scheduling import Scheduled, every
from tests.world import World, sqlite_world

A_TICK: Millis = 10 * SECOND
A_CLAIM: Millis = 20  # a tick claims 500
CAPACITY = A_TICK // A_CLAIM


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("duetime.scanner.scanner.BATCH", 5)
    with sqlite_world() as world:
        world.scanner = Scanner(world.ports, world.cursors, catch_up=1_000)
        world.tick()
        yield world


def slow(world: World) -> None:
    apply = world.store.apply
    world.store.apply = lambda changes: (world.advance(A_CLAIM * len(changes)), apply(changes))[1]


def a_tick(world: World, continues: str | None = None):
    return world.tick(world.clock.monotonic() + A_TICK, continues=continues)


def claimed(world: World, ids: list[str]) -> int:
    return sum(world.status(task_id) is Status.ENQUEUED for task_id in ids)


def test_overdue_work_of_every_sort_gets_its_share_beside_too_much_fresh_work(world: World):
    behind = [world.submit(due_in=10 * MINUTE + n) for n in range(CAPACITY)]
    near = [world.submit(due_in=HOUR - 40 * SECOND + n) for n in range(CAPACITY)]
    fresh = [world.submit(due_in=HOUR + n * 100) for n in range(2 * CAPACITY)]
    scheduled = Scheduled(world, every(HOUR + 4 * MINUTE, world))
    world.advance(HOUR - 3 * MINUTE)
    lost = [world.submit() for _ in range(CAPACITY)]
    world.purge()
    world.advance(3 * MINUTE + 25 * SECOND)
    slow(world)
    began = world.clock.monotonic()

    report = a_tick(world)

    assert claimed(world, fresh) >= FRESH_SHARE * CAPACITY
    assert claimed(world, behind) >= 0.05 * CAPACITY
    assert claimed(world, near) >= 0.02 * CAPACITY
    assert sum(world.task(task_id).resends > 0 for task_id in lost) >= 0.05 * CAPACITY
    assert report.occurrences == 1
    assert scheduled.rows()
    assert report.unfinished
    assert world.clock.monotonic() - began <= 1.05 * A_TICK


def test_fresh_work_gets_all_of_the_time_while_nothing_else_waits(world: World):
    fresh = [world.submit(due_in=HOUR + n * 100) for n in range(2 * CAPACITY)]
    world.advance(HOUR)
    slow(world)

    assert a_tick(world).unfinished
    assert claimed(world, fresh) == CAPACITY


def test_overdue_work_gets_all_of_the_time_while_nothing_fresh_waits(world: World):
    behind = [world.submit(due_in=10 * MINUTE + n) for n in range(2 * CAPACITY)]
    world.advance(HOUR)
    slow(world)

    assert a_tick(world).unfinished
    assert claimed(world, behind) == CAPACITY


def test_overdue_work_ends_although_the_overload_does_not(world: World):
    behind = [
        world.submit(due_in=10 * MINUTE + n, priority=lane) for n in range(50) for lane in Lane
    ]
    fresh = [world.submit(due_in=HOUR + n * 100, priority=Lane.HIGH) for n in range(8 * CAPACITY)]
    world.advance(HOUR)
    slow(world)

    report, ticks = a_tick(world), 1
    while claimed(world, behind) < len(behind) and ticks < 10:
        report, ticks = a_tick(world, report.chain), ticks + 1

    assert ticks <= 3
    assert claimed(world, fresh) < len(fresh)


def test_the_higher_lanes_go_first_within_a_share(world: World):
    lanes = [Lane.LOW, Lane.HIGH, Lane.MEDIUM]
    behind = {world.submit(due_in=10 * MINUTE, priority=lane) for _ in range(300) for lane in lanes}
    fresh = {world.submit(due_in=HOUR, priority=lane) for _ in range(150) for lane in lanes}
    world.advance(HOUR)
    slow(world)
    a_tick(world)

    for some in (fresh, behind):
        ranks = [d.lane.rank for d in world.lanes.sent if d.task_id in some]
        assert len(ranks) >= 0.05 * CAPACITY
        assert ranks == sorted(ranks)


def test_a_tick_without_a_time_limit_takes_all_of_it(world: World):
    ids = [world.submit(due_in=10 * MINUTE + n) for n in range(2 * CAPACITY)]
    ids += [world.submit(due_in=HOUR + n) for n in range(2 * CAPACITY)]
    world.advance(HOUR)
    slow(world)

    assert not world.tick().unfinished
    assert claimed(world, ids) == len(ids)
    assert world.cursors.load(0).chain is None
