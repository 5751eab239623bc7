"""The gate alone: stores that do not answer, many at once, clocks that differ."""

from dataclasses import replace

import pytest

from lambdas.core.delivery import delivery_of
from lambdas.core.errors import Unavailable
from lambdas.core.events import status_change
from lambdas.core.lifecycle import Status
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.schedules.plan import Misfire, MisfirePolicy
from lambdas.core.times import MINUTE, SECOND
from lambdas.debts import follow_up
from lambdas.executor.messages import SOON
from tests.flow.scheduling import Scheduled, every
from tests.world import World

SKIP, QUEUE, ALLOW = OverlapPolicy.SKIP, OverlapPolicy.QUEUE, OverlapPolicy.ALLOW


def each_minute(world: World, overlap: OverlapPolicy = SKIP, **plan) -> Scheduled:
    scheduled = Scheduled(world, every(MINUTE, world), overlap=overlap, **plan)
    world.tick()
    world.advance(MINUTE)
    return scheduled


def unreachable() -> None:
    raise Unavailable("throttled")


@pytest.mark.parametrize("overlap", [SKIP, ALLOW])
def test_without_the_schedule_nothing_starts_and_nothing_is_lost(world, overlap):
    scheduled = each_minute(world, overlap)
    world.schedules.before["get"] = unreachable
    assert world.lease() == []
    assert scheduled.runs()[0].status is Status.ENQUEUED
    world.advance(SOON)
    [run] = world.lease()

    assert run.task.id == scheduled.runs()[0].id


def test_without_the_tasks_that_it_names_nothing_starts(world):
    scheduled = each_minute(world)
    world.store.before["get"] = unreachable
    assert world.lease() == []
    world.advance(SOON)
    assert len(world.lease()) == 1
    assert scheduled.now.active == scheduled.runs()[0].id


def test_a_name_that_was_not_written_down_does_not_start(world):
    scheduled = each_minute(world)
    world.schedules.silent = True
    assert world.lease() == []
    assert scheduled.now.active is None
    world.advance(SOON)
    assert len(world.lease()) == 1


def test_others_do_not_wait_for_what_is_held_back(world):
    each_minute(world)
    ordinary = world.submit()
    world.schedules.before["get"] = unreachable
    [run] = world.lease()

    assert run.task.id == ordinary


def test_who_loses_the_row_decides_again(world):
    scheduled = each_minute(world)
    touched = replace(scheduled.now, note="touched", revision=scheduled.now.revision + 1)
    world.schedules.before["put"] = lambda: scheduled.replace(touched)
    [run] = world.lease()

    assert (scheduled.now.note, scheduled.now.active) == ("touched", run.task.id)


def test_who_finds_the_schedule_changed_when_it_writes_does_not_start(world):
    scheduled = each_minute(world)
    world.schedules.before["put"] = scheduled.pause

    assert world.lease() == []
    assert scheduled.runs()[0].reason == "paused"


def test_two_that_come_together_start_one_after_another(world):
    """They meet only because the first is late: neither overlaps the other."""
    scheduled = each_minute(world)
    world.advance(MINUTE)
    [run] = world.lease()
    first, second = scheduled.runs()[:2]
    assert (run.task.id, scheduled.now.waiting) == (first.id, (second.id,))
    world.record([world.executor.execute(run)])
    follow_up(world.ports, [status_change(run.task, world.task(first.id))])

    [next_run] = world.lease()
    assert next_run.task.id == second.id


def test_many_schedules_are_asked_together(world):
    several = [Scheduled(world, every(MINUTE, world)) for _ in range(20)]
    world.tick()
    world.advance(MINUTE)

    assert len(world.lease()) == 20
    assert all(one.now.active == one.runs()[0].id for one in several)


def test_what_has_expired_takes_nobodys_place(world):
    template = {"expires_at": world.clock.now() + 2 * MINUTE}
    scheduled = each_minute(world, OverlapPolicy.CANCEL, task=template)
    [first] = world.lease()
    second = scheduled.runs()[1]
    world.advance(MINUTE)

    assert world.lease() == []
    assert world.status(second.id) is Status.EXPIRED
    world.executor.renew([first])
    assert not first.context.cancel_asked


def test_a_fire_time_that_has_started_does_not_start_again_in_a_new_version(world):
    """The clock of whoever changes the schedule is two seconds behind the executor's."""
    scheduled = each_minute(world, ALLOW)
    [run] = world.lease()
    world.advance(-2 * SECOND)
    scheduled.change(name="other")
    world.tick()
    doubled = scheduled.runs()[0]
    assert doubled.spec.occurrence.scheduled_for == run.task.spec.occurrence.scheduled_for
    assert doubled.id != run.task.id
    world.advance(2 * SECOND)

    assert world.lease() == []
    assert world.status(doubled.id) is Status.CANCELLED


def test_a_fire_time_that_has_not_started_starts_in_the_new_version(world):
    scheduled = each_minute(world, ALLOW)
    old = scheduled.runs()[0]
    world.advance(-2 * SECOND)
    scheduled.change(name="other")
    world.tick()
    world.advance(2 * SECOND)
    [run] = world.lease()

    assert run.task.spec.occurrence.version == 2
    assert world.task(old.id).reason == "changed"


def test_a_waiting_one_that_nobody_wakes_is_found_by_its_watch(world):
    scheduled = each_minute(world, QUEUE)
    [first] = world.lease()
    world.advance(MINUTE)
    assert world.lease() == []
    [waiting] = scheduled.now.waiting
    world.record([world.executor.execute(first)])
    world.advance(4 * MINUTE)
    world.tick()
    begun = world.lease() + world.lease()

    assert waiting in [run.task.id for run in begun]


def test_a_late_run_that_lost_its_place_is_not_started_by_the_executor_that_was_let_in(world):
    """The first executor is held up between the gate and its lease. Meanwhile the run is late, a
    copy of its message makes it wait for its turn, and another run takes its place."""
    late = Misfire(policy=MisfirePolicy.RUN_ALL, grace=10)
    scheduled = each_minute(world, misfire=late)
    first = scheduled.runs()[0]
    begun = []

    def meanwhile() -> None:
        world.advance(MINUTE)
        world.lanes.send([delivery_of(first, world.clock.now())], world.clock.now())
        begun.extend(world.lease())

    world.store.before["apply"] = meanwhile
    begun.extend(world.lease())

    assert len({run.task.id for run in begun}) == len(begun) <= 1, "never two at once"
    assert scheduled.now.active in (None, *(run.task.id for run in begun))
