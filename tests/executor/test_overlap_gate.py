"""The overlap gate: stores that do not answer, many occurrences at once, clocks that differ."""

from dataclasses import replace

import pytest

from duetime.core.delivery import delivery_of
from duetime.core.errors import Unavailable
from duetime.core.events import status_change
from duetime.core.lifecycle import Status
from duetime.core.occurrence import OverlapPolicy
from duetime.core.schedules.plan import Misfire, MisfirePolicy
from duetime.core.times import MINUTE, SECOND
from duetime.engine.followups import run_follow_ups_after
from duetime.executor.message_acks import FIRST_RETRY_DELAY
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
def test_occurrence_whose_schedule_cannot_be_read_waits_and_is_not_lost(world, overlap):
    scheduled = each_minute(world, overlap)
    world.schedules.before["get"] = unreachable
    assert world.lease() == []
    assert scheduled.runs()[0].status is Status.ENQUEUED
    world.advance(FIRST_RETRY_DELAY)
    [run] = world.lease()

    assert run.task.id == scheduled.runs()[0].id


def test_occurrence_waits_while_the_tasks_of_its_schedule_cannot_be_read(world):
    scheduled = each_minute(world)
    world.store.before["get"] = unreachable
    assert world.lease() == []
    world.advance(FIRST_RETRY_DELAY)
    assert len(world.lease()) == 1
    assert scheduled.now.active == scheduled.runs()[0].id


def test_occurrence_does_not_start_before_its_schedule_names_it_as_active(world):
    scheduled = each_minute(world)
    world.schedules.silent = True
    assert world.lease() == []
    assert scheduled.now.active is None
    world.advance(FIRST_RETRY_DELAY)
    assert len(world.lease()) == 1


def test_other_tasks_do_not_wait_for_a_held_occurrence(world):
    each_minute(world)
    ordinary = world.submit()
    world.schedules.before["get"] = unreachable
    [run] = world.lease()

    assert run.task.id == ordinary


def test_gate_that_loses_the_write_of_the_schedule_decides_again(world):
    scheduled = each_minute(world)
    changed = replace(scheduled.now, note="changed", revision=scheduled.now.revision + 1)
    world.schedules.before["put"] = lambda: scheduled.replace(changed)
    [run] = world.lease()

    assert (scheduled.now.note, scheduled.now.active) == ("changed", run.task.id)


def test_occurrence_of_a_schedule_that_is_paused_before_the_write_does_not_start(world):
    scheduled = each_minute(world)
    world.schedules.before["put"] = scheduled.pause

    assert world.lease() == []
    assert scheduled.runs()[0].reason == "paused"


def test_two_occurrences_that_arrive_together_start_one_after_another(world):
    """They arrive together only because the first is late; neither overlaps the other."""
    scheduled = each_minute(world)
    world.advance(MINUTE)
    [run] = world.lease()
    first, second = scheduled.runs()[:2]
    assert (run.task.id, scheduled.now.waiting) == (first.id, (second.id,))
    world.record([world.executor.run_target(run)])
    run_follow_ups_after(world.ports, [status_change(run.task, world.task(first.id))])

    [next_run] = world.lease()
    assert next_run.task.id == second.id


def test_gate_reads_many_schedules_together(world):
    several = [Scheduled(world, every(MINUTE, world)) for _ in range(20)]
    world.tick()
    world.advance(MINUTE)

    assert len(world.lease()) == 20
    assert all(one.now.active == one.runs()[0].id for one in several)


def test_expired_occurrence_takes_the_place_of_no_other_run(world):
    template = {"expires_at": world.clock.now() + 2 * MINUTE}
    scheduled = each_minute(world, OverlapPolicy.CANCEL, task=template)
    [first] = world.lease()
    second = scheduled.runs()[1]
    world.advance(MINUTE)

    assert world.lease() == []
    assert world.status(second.id) is Status.EXPIRED
    world.executor.renew([first])
    assert not first.control.cancel_requested


def test_a_fire_time_that_has_started_does_not_start_again_in_a_new_version(world):
    """The clock of the API that changes the schedule is two seconds behind the executor's."""
    scheduled = each_minute(world, ALLOW)
    [run] = world.lease()
    world.advance(-2 * SECOND)
    scheduled.change(name="other")
    world.tick()
    duplicate = scheduled.runs()[0]
    assert duplicate.spec.occurrence.scheduled_for == run.task.spec.occurrence.scheduled_for
    assert duplicate.id != run.task.id
    world.advance(2 * SECOND)

    assert world.lease() == []
    assert world.status(duplicate.id) is Status.CANCELLED


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


def test_waiting_run_that_is_not_woken_is_found_by_its_watch(world):
    scheduled = each_minute(world, QUEUE)
    [first] = world.lease()
    world.advance(MINUTE)
    assert world.lease() == []
    [waiting] = scheduled.now.waiting
    world.record([world.executor.run_target(first)])
    world.advance(4 * MINUTE)
    world.tick()
    started = world.lease() + world.lease()

    assert waiting in [run.task.id for run in started]


def test_late_run_that_lost_its_place_is_not_started_by_the_executor_that_admitted_it(world):
    """The first executor is delayed between the gate and its lease. Meanwhile the run is late, a
    copy of its message makes it wait, and another run takes its place."""
    late = Misfire(policy=MisfirePolicy.RUN_ALL, grace=10)
    scheduled = each_minute(world, misfire=late)
    first = scheduled.runs()[0]
    started = []

    def meanwhile() -> None:
        world.advance(MINUTE)
        world.lanes.send([delivery_of(first, world.clock.now())], world.clock.now())
        started.extend(world.lease())

    world.store.before["apply"] = meanwhile
    started.extend(world.lease())

    assert len({run.task.id for run in started}) == len(started) <= 1, "never two at once"
    assert scheduled.now.active in (None, *(run.task.id for run in started))
