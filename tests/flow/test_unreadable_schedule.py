"""A schedule that cannot be read, perhaps by an older release than wrote it, is not deleted."""

import pytest

from lambdas.core.lifecycle import Status
from lambdas.core.recurrence.rules import DelayRule
from lambdas.core.schedules.changes import create
from lambdas.core.schedules.plan import Plan
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.times import MINUTE, SECOND
from lambdas.debts import pay_named
from lambdas.materialise import materialise
from tests.core.recurrence.said import recurring
from tests.factories import a_spec, an_id
from tests.world import World


@pytest.fixture
def put(world: World) -> tuple[Schedule, str]:
    """A schedule, and the task that its first fire time has become."""
    now = world.clock.now()
    plan = Plan(recurrence=recurring(DelayRule(delay=10 * SECOND)), task=a_spec(run_at=0))
    made = create(world.ports.rules, an_id(now), plan, now)
    world.ports.schedules.put([made])
    [after] = materialise(world.ports, [made], now=now).advanced
    assert after.awaited is not None
    return after, after.awaited


def unreadable(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world.ports.schedules, "get", lambda ids: {})


def test_its_runs_are_given_back_and_start_once_it_can_be_read(
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


def test_what_a_run_owes_is_paid_once_it_can_be_read(
    world: World, put: tuple[Schedule, str], monkeypatch: pytest.MonkeyPatch
):
    schedule, task_id = put
    world.advance(10 * SECOND)
    world.deliver()
    with monkeypatch.context() as patch:
        unreadable(world, patch)
        assert pay_named(world.ports, [task_id]) == 0

    assert pay_named(world.ports, [task_id]) == 1
    [standing] = world.ports.schedules.get([schedule.id]).values()
    assert standing.awaited not in (None, task_id)


def test_of_one_that_is_deleted_nothing_starts(world: World, put: tuple[Schedule, str]):
    schedule, task_id = put
    world.ports.schedules.delete(schedule.id)
    world.advance(10 * SECOND)

    world.deliver()

    assert (world.status(task_id), world.task(task_id).reason) == (Status.CANCELLED, "deleted")
    assert pay_named(world.ports, [task_id]) == 1
