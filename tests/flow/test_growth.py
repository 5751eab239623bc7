"""Shards are added, and slices change, while tasks run: no task is lost or runs twice."""

from collections import Counter

import pytest

from duetime.core.lifecycle import Status
from duetime.core.listings import DeadListing, Listing
from duetime.core.retry import RetryPolicy
from duetime.core.times import DAY, HOUR, MINUTE
from duetime.core.wakes import minute_of, shard_of
from duetime.scanner import wake_reader as index
from duetime.scanner.windows import LOOK_BACK
from tests.world import World, sqlite_world

SLICES = (1, 2, 4, 2, 1)
DELAYS = (0, 3, 5, 9, 30, 45)  # minutes


def scan(scanners: list[World], slices: int) -> None:
    """Ticks each slice with its own scanner, warm or new."""
    for number in range(slices):
        scanners[number % len(scanners)].tick(slice_number=number, slices=slices)


def submit_some(world: World) -> list[str]:
    return [world.submit(due_in=minutes * MINUTE) for minutes in DELAYS]


def live_through_growth(world: World) -> list[str]:
    """Returns the ids of all tasks. The functions that were configured for 16 shards stay warm."""
    old = world.with_shards(16)
    ids, functions = [], [old]
    for slices in SLICES:
        for _ in range(5):
            for function in functions:
                ids += submit_some(function)
            scan(functions, slices)
            old.deliver()
            old.advance(MINUTE)
        functions = [old, world.with_shards(32)]
    for _ in range(50):
        scan(functions, slices)
        old.deliver()
        old.advance(MINUTE)
    return ids


def test_every_task_runs_once_while_shards_and_slices_change(world: World):
    ids = live_through_growth(world)

    assert Counter(world.starts) == Counter(ids)
    assert {shard_of(task_id, 32) for task_id in ids} == set(range(32))
    assert world.awake() == []


def test_every_task_runs_once_while_shards_and_slices_change_with_a_big_index(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(index, "SMALL_INDEX", 0)
    with sqlite_world() as world:
        ids = live_through_growth(world)

        assert Counter(world.starts) == Counter(ids)


def test_a_smaller_number_of_shards_has_no_effect(world: World):
    large = world.with_shards(32)
    ids = [large.submit(due_in=6 * MINUTE) for _ in range(40)]
    small = world.with_shards(16)
    assert small.wake_policy.shards == 32

    small.advance(5 * MINUTE)
    assert small.tick().claimed == 40
    small.advance(MINUTE)
    small.deliver()
    assert sorted(small.starts) == sorted(ids)


@pytest.mark.parametrize("before", [1, 2, 4])
@pytest.mark.parametrize("after", [1, 2, 4])
def test_slices_that_change_in_an_outage_begin_where_the_others_stopped(
    world: World, before: int, after: int
):
    functions = [world.with_shards(4)]
    scan(functions, before)
    ids = [functions[0].submit(due_in=hours * HOUR) for hours in range(1, 13)]
    world.advance(3 * DAY)

    scan(functions, after)
    world.advance(MINUTE)
    world.deliver()
    assert sorted(world.starts) == sorted(ids)


def test_shards_that_are_new_in_an_outage_are_read_from_its_beginning(world: World):
    old = world.with_shards(2)
    old.tick()
    new = world.with_shards(4)
    ids = [new.submit(due_in=hours * HOUR) for hours in range(1, 13)]
    world.advance(3 * DAY)

    old.tick()
    world.advance(MINUTE)
    world.deliver()
    assert sorted(world.starts) == sorted(ids)


def test_a_slice_that_comes_back_starts_at_the_cursors_of_the_others(world: World):
    functions = [world.with_shards(4)]
    scan(functions, 4)
    for _ in range(6):
        world.advance(HOUR * 12)
        scan(functions, 1)
    assert world.cursors.load(3).cursors[3] < minute_of(world.clock.now()) - 4_000

    reads = []
    load = index.SmallIndex.wakes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index.SmallIndex, "wakes", lambda *args: (reads.append(args), load(*args))[1])
        scan(functions, 4)
    assert len(reads) < 4 * 20
    assert world.cursors.load(3).cursors == {3: minute_of(world.clock.now()) - LOOK_BACK}


def test_a_listing_sees_new_shards_within_a_minute(world: World):
    warm, new = world.with_shards(2), world.with_shards(32)
    new.script = lambda task, ctx: 1 / 0
    ids = [new.submit(retry=RetryPolicy(max_attempts=1)) for _ in range(40)]
    new.deliver()
    assert {new.status(task_id) for task_id in ids} == {Status.DEAD}

    world.advance(MINUTE)
    assert {task.id for task in warm.store.page(Listing(limit=100)).tasks} == set(ids)
    assert {task.id for task in warm.store.dead(DeadListing(limit=100)).tasks} == set(ids)
