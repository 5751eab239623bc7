"""Handlers that ask for a delay, on both backends."""

import pytest

from duetime.core.errors import RetryLater, Snooze
from duetime.core.lifecycle import Outcome, Status
from duetime.core.retry import RetryPolicy
from duetime.core.times import DAY, SECOND
from tests.world import World

TWICE = RetryPolicy(max_attempts=2, base_delay=1)


def until_due(world: World, task_id: str) -> None:
    world.advance_to(world.task(task_id).due_at)
    world.tick()
    world.deliver()


def test_a_snooze_uses_up_no_attempt(world: World):
    def script(task, ctx):
        if ctx.attempt <= 5:
            raise Snooze(30)
        if ctx.attempt == 6:
            raise ValueError("the first of two that count")
        return ctx.attempt

    world.script = script
    task_id = world.submit(retry=TWICE)
    world.deliver()
    for _ in range(6):
        assert world.status(task_id) is Status.RETRYING
        until_due(world, task_id)

    task = world.task(task_id)
    assert (task.status, task.result) == (Status.SUCCEEDED, "7")
    outcomes = [attempt.outcome for attempt in world.attempts(task_id)]
    assert outcomes == [Outcome.SNOOZED] * 5 + [Outcome.FAILED, Outcome.SUCCEEDED]
    assert world.attempts(task_id)[0].error.type == "Snooze"


def test_failures_beside_snoozes_are_counted(world: World):
    def script(task, ctx):
        raise Snooze(30) if ctx.attempt % 2 else ValueError("again")

    world.script = script
    task_id = world.submit(retry=TWICE)
    world.deliver()
    for _ in range(3):
        until_due(world, task_id)

    task = world.task(task_id)
    assert (task.status, task.attempt) == (Status.DEAD, 4)


@pytest.mark.parametrize("delay", [0, 0.25, 7, 3_600, 30 * 24 * 3_600])
@pytest.mark.parametrize("kind", [RetryLater, Snooze])
def test_the_delay_is_kept_exactly(world: World, kind, delay):
    world.chance.luck = 0.9  # the policy would add to it

    def script(task, ctx):
        raise kind(delay, "not yet")

    world.script = script
    task_id = world.submit()
    world.advance(5)
    world.deliver()

    task = world.task(task_id)
    assert task.status is Status.RETRYING
    assert task.due_at == world.clock.now() + round(delay * SECOND)
    assert task.current.error.message == "not yet"
    assert task.due_at - world.clock.now() <= 30 * DAY


def test_retry_later_uses_up_an_attempt(world: World):
    def script(task, ctx):
        raise RetryLater(30)

    world.script = script
    task_id = world.submit(retry=TWICE)
    world.deliver()
    until_due(world, task_id)

    task = world.task(task_id)
    assert (task.status, task.attempt) == (Status.DEAD, 2)
    assert task.current.error.type == "RetryLater"
