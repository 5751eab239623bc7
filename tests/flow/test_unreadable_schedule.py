"""A schedule that this release cannot read, perhaps a newer release's, is not deleted."""

import pytest

from duetime.core.lifecycle import Status
from duetime.core.recurrence.rules import DelayRule
from duetime.core.schedules.changes import create
from duetime.core.schedules.plan import Plan
from duetime.core.schedules.schedule import Schedule
from duetime.core.times import MINUTE, SECOND
from duetime.engine.materialise import materialise
from tests.core.recurrence.cron_cases import recurring
from tests.factories import a_spec, an_id
from tests.follow_ups import run_follow_ups_by_id
from tests.world import World


@pytest.fixture
def put(world: World) -> tuple[Schedule, str]:
    """Returns a schedule and the task of its first fire time."""
    now = world.clock.now()
    plan = Plan(recurrence=recurring(DelayRule(delay=10 * SECOND)), task=a_spec(run_at=0))
    made = create(world.ports.wake_policy, an_id(now), plan, now)
    world.ports.schedules.put([made])
    [after] = materialise(world.ports, [made], now=now).advanced
    assert after.awaited is not None
    return after, after.awaited


def unreadable(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world.ports.schedules, "get", lambda ids: {})


def test_runs_of_an_unreadable_schedule_are_handed_back_and_start_once_it_is_readable(
    world: World, put: tuple[Schedule, str], monkeypatch: pytest.MonkeyPatch
):
    _, task_id = put
    world.advance(10 * SECOND)
    with monkeypatch.context() as patch:
        unreadable(world, patch)
        world.deliver()
        assert world.status(task_id) is Status.ENQUEUED
    world.advance(MINUTE)

    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED


def test_the_follow_up_of_a_run_waits_until_its_schedule_is_readable(
    world: World, put: tuple[Schedule, str], monkeypatch: pytest.MonkeyPatch
):
    schedule, task_id = put
    world.advance(10 * SECOND)
    world.deliver()
    with monkeypatch.context() as patch:
        unreadable(world, patch)
        assert run_follow_ups_by_id(world.ports, [task_id]) == 0

    assert run_follow_ups_by_id(world.ports, [task_id]) == 1
    [stored] = world.ports.schedules.get([schedule.id]).values()
    assert stored.awaited not in (None, task_id)


def test_no_run_of_a_deleted_schedule_starts(world: World, put: tuple[Schedule, str]):
    schedule, task_id = put
    world.ports.schedules.delete(schedule.id)
    world.advance(10 * SECOND)

    world.deliver()

    assert (world.status(task_id), world.task(task_id).reason) == (Status.CANCELLED, "deleted")
    assert run_follow_ups_by_id(world.ports, [task_id]) == 1
