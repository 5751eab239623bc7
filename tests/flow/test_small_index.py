"""A tick reads a small index at once and a big one bucket by bucket, with the same result."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.ports import SliceState
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import WakeKind, minute_of, shard_of
from duetime.scanner import wake_reader as index
from tests.factories import NOW, a_spec, a_task, an_id
from tests.world import World, moto_world, sqlite_world

SHARDS = 3
KINDS = sorted(set(WakeKind) - {WakeKind.LINE, WakeKind.RUN})  # neither is a task
BUCKETS_A_TICK = 14  # of each shard: six near, five behind, three swept


def count_reads(world: World) -> Counter[str]:
    reads: Counter[str] = Counter()

    def counted(verb: str) -> Any:
        read = getattr(world.store, verb)
        return lambda *args: (reads.update([verb]), read(*args))[1]

    for verb in ("few_wakes", "wakes"):
        setattr(world.store, verb, counted(verb))
    return reads


def test_a_small_index_is_read_once(world: World):
    world = world.with_shards(SHARDS)
    ids = [world.submit(due_in=6 * MINUTE) for _ in range(9)]
    world.advance(5 * MINUTE)
    reads = count_reads(world)

    assert world.tick().claimed == 9
    assert reads == {"few_wakes": 1}
    world.advance(MINUTE)
    world.deliver()
    assert sorted(world.starts) == sorted(ids)


def test_a_big_index_is_read_bucket_by_bucket(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(index, "SMALL_INDEX", 8)
    world = world.with_shards(SHARDS)
    world.live(30 * MINUTE)
    ids = [world.submit(due_in=6 * MINUTE) for _ in range(9)]
    world.advance(5 * MINUTE)
    world.tick()
    world.advance(MINUTE)
    world.deliver()
    assert sorted(world.starts) == sorted(ids)

    for _ in range(9):
        world.submit(due_in=60 * MINUTE)
    reads = count_reads(world)
    world.tick()
    assert reads == {"few_wakes": 1, "wakes": BUCKETS_A_TICK * SHARDS}


def test_an_idle_tick_makes_four_requests(moto: tuple[Any, Any]):
    with moto_world(*moto) as opened:
        world = opened.with_shards(16)
        requests: Counter[str] = Counter()
        note = lambda model, **_: requests.update([model.name])  # noqa: E731
        world.tick()
        moto[0].meta.events.register("before-call.dynamodb", note)
        for _ in range(3):
            world.advance(MINUTE)
            world.tick()
        moto[0].meta.events.unregister("before-call.dynamodb", note)

        assert requests == {"GetItem": 6, "Scan": 3, "PutItem": 3}


@pytest.mark.parametrize("few", [index.SMALL_INDEX, 0], ids=["small", "big"])
def test_a_slice_sees_its_own_shards_only(world: World, monkeypatch: pytest.MonkeyPatch, few: int):
    monkeypatch.setattr(index, "SMALL_INDEX", few)
    world = world.with_shards(4)
    ids = [world.submit(due_in=6 * MINUTE) for _ in range(20)]
    world.advance(5 * MINUTE)
    world.tick(slice_number=1, slices=2)

    taken = {i for i in ids if world.status(i) is Status.ENQUEUED}
    assert taken == {i for i in ids if shard_of(i, 4) in (1, 3)}
    assert 0 < len(taken) < 20


@st.composite
def woken(draw: st.DrawFn) -> Task:
    """Submits tasks of every kind, due from a day ago to beyond the horizon."""
    at = NOW + draw(st.integers(-15, 8) | st.integers(-1_500, 8)) * MINUTE + 7 * SECOND
    lane, kind = draw(st.sampled_from(Lane)), draw(st.sampled_from(KINDS))
    status = Status.PENDING if kind is WakeKind.DISPATCH else Status.ENQUEUED
    task = a_task(id=an_id(), spec=a_spec(run_at=at, priority=lane), status=status, due_at=at)
    return replace(task, wake=WakePolicy(shards=SHARDS).wake(kind, task.id, lane, at, now=at))


cursors = st.dictionaries(
    st.integers(0, SHARDS - 1), st.integers(minute_of(NOW) - 1_600, minute_of(NOW) - 5)
)


@settings(max_examples=60, deadline=None)
@given(st.lists(woken(), max_size=25), cursors, st.sampled_from([(0, 1), (0, 2), (1, 2)]))
def test_a_tick_does_the_same_either_way(
    tasks: Sequence[Task], cursors: dict[int, int], part: tuple[int, int]
):
    def ticked(few: int) -> Any:
        with sqlite_world() as opened, pytest.MonkeyPatch.context() as patch:
            patch.setattr(index, "SMALL_INDEX", few)
            world = opened.with_shards(SHARDS)
            world.store.put(tasks)
            world.cursors.save(part[0], SliceState(fence=1, cursors=cursors))
            reports = [world.tick(None, *part) for _ in range(2)]
            after = {task.id: world.task(task.id) for task in tasks}
            return reports, world.lanes.sent, after, world.cursors.load(part[0])

    assert ticked(len(tasks)) == ticked(-1)
