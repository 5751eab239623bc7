"""A slice with more wakes than one tick can claim: one chain of ticks, and no tick beside it."""

import pytest

from duetime.core.lifecycle import Status
from duetime.core.times import HOUR, MINUTE, SECOND, Millis
from duetime.scanner.report import TickReport
from duetime.scanner.tick_chain import CHAIN_MARGIN
from tests.world import World, sqlite_world

A_TICK: Millis = 50 * SECOND


def tick(world: World, *, continues: str | None = None, slices: int = 1) -> TickReport:
    return world.tick(world.clock.monotonic() + A_TICK, slices=slices, continues=continues)


def begin_chain(world: World, minutes: int = 3) -> TickReport:
    """Runs a tick that runs out of time with wakes left: a claim takes half a minute."""
    world.tick()
    for minute in range(minutes):
        world.submit(due_in=HOUR + minute * MINUTE)
    world.advance(HOUR)
    world.store.before["apply"] = lambda: world.advance(A_TICK)
    return tick(world)


@pytest.fixture
def world(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr("duetime.scanner.scanner.BATCH", 1)
    return world


def test_a_tick_of_the_rule_yields_to_a_chain_without_reading_the_index(world: World):
    begun = begin_chain(world)
    assert (begun.claimed, begun.unfinished, begun.saved) == (1, True, True)
    before = world.cursors.load(0)

    world.advance(10 * SECOND)
    world.store.before["few_wakes"] = lambda: pytest.fail("read, although a chain is at work")
    report = tick(world)

    assert report.yielded
    assert (report.claimed, report.saved, report.unfinished) == (0, False, False)
    assert report.age == A_TICK + 10 * SECOND
    assert world.cursors.load(0) == before


def test_a_chain_goes_on_and_when_it_is_done_the_rule_scans_again(world: World):
    begun = begin_chain(world)
    world.advance(10 * SECOND)
    assert tick(world).yielded

    world.store.before["apply"] = lambda: world.advance(A_TICK)
    second = tick(world, continues=begun.chain)
    assert (second.claimed, second.unfinished) == (1, True)
    assert tick(world).yielded
    assert tick(world, continues=begun.chain).yielded, "started twice by Lambda, and overtaken"

    third = tick(world, continues=second.chain)
    assert (third.claimed, third.unfinished) == (1, False)
    assert not tick(world).yielded


def test_a_chain_whose_next_tick_was_lost_delays_its_slice_by_about_a_minute(world: World):
    begin_chain(world)

    world.advance(A_TICK + CHAIN_MARGIN - 1)
    assert tick(world).yielded
    world.advance(1)
    assert tick(world).claimed == 2


def test_a_tick_that_took_over_ends_the_chain_that_was_late(world: World):
    begun = begin_chain(world)
    world.advance(A_TICK + CHAIN_MARGIN)
    for minute in range(2):
        world.submit(due_in=5 * MINUTE + minute)
    world.advance(2 * MINUTE)

    def meanwhile() -> None:
        world.store.before["apply"] = lambda: world.advance(A_TICK)
        assert tick(world).saved

    world.store.before["apply"] = meanwhile
    late = tick(world, continues=begun.chain)

    assert not late.saved, "so its caller starts no other"


def test_ticks_of_another_number_of_slices_do_not_wait_for_a_chain(world: World):
    begin_chain(world)

    assert not tick(world, slices=2).yielded


def test_a_chain_written_by_a_clock_that_ran_ahead_delays_no_slice(world: World):
    world.clock.set_by(HOUR)
    begin_chain(world)
    world.clock.set_by(-HOUR)

    assert not tick(world).yielded


def test_tasks_start_on_time_although_a_chain_dies():
    """The horizon covers the gap: the next tasks were claimed before the chain died."""
    with sqlite_world() as world:
        world.tick()
        ids = [world.submit(due_in=HOUR + n * SECOND) for n in range(240)]
        world.advance(HOUR - 3 * MINUTE)
        world.store.before["apply"] = lambda: world.advance(A_TICK)
        assert tick(world).unfinished

        started: dict[str, Millis] = {}
        for second in range(8 * 60):
            world.advance(SECOND)
            if second % 60 == 10:
                tick(world)
            started |= {run.task.id: world.clock.now() for run in world.deliver()}

        assert started.keys() == set(ids)
        assert max(at - world.task(i).due_at for i, at in started.items()) <= SECOND
        assert all(world.status(i) is Status.SUCCEEDED for i in ids)
