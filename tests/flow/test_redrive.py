"""Dead letters that a redrive moves back to their lane."""

from dataclasses import replace

import pytest

from duetime.core.delivery import Message
from duetime.core.lifecycle import Outcome, Status
from duetime.core.retry import RetryPolicy
from duetime.core.steps.discard import discard
from duetime.core.times import MINUTE, Millis
from duetime.executor.runs import Admitted
from tests.factories import NOW
from tests.world import World

TWICE = RetryPolicy(max_attempts=2, base_delay=0, jitter=0)


def dies(world: World) -> tuple[str, Message]:
    """Returns a task without attempts left, and the message of its last attempt."""

    def fail(task, ctx):
        raise ConnectionError("no route")

    world.script = fail
    task_id = world.submit(retry=TWICE)
    world.deliver()
    [run] = world.deliver()
    assert world.status(task_id) is Status.DEAD
    world.script = lambda task, ctx: "done"
    return task_id, run.message


def comes_back(world: World, letter: Message, sent_at: Millis) -> list[Message]:
    """Receives the dead letter from its lane; returns the messages that were deleted."""
    deleted = len(world.lanes.deleted)
    moved = replace(letter, message_id="moved", sent_at=sent_at)
    world.executor.record_and_lease(due=[Admitted(message=moved)])
    return world.lanes.deleted[deleted:]


def test_a_redriven_dead_letter_revives_its_task_with_a_new_budget(world: World):
    task_id, letter = dies(world)
    world.advance(2 * MINUTE)
    [deleted] = comes_back(world, letter, world.clock.now())
    revived = world.task(task_id)
    assert deleted.message_id == "moved"
    assert (revived.status, revived.attempt, revived.budget) == (Status.RETRYING, 2, 4)

    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED
    assert [a.outcome for a in world.attempts(task_id)] == [
        Outcome.FAILED,
        Outcome.FAILED,
        Outcome.SUCCEEDED,
    ]


def test_a_second_copy_of_a_redriven_dead_letter_does_nothing(world: World):
    task_id, letter = dies(world)
    world.advance(2 * MINUTE)
    comes_back(world, letter, world.clock.now())
    revived = world.task(task_id)
    [deleted] = comes_back(world, letter, world.clock.now())

    assert deleted.message_id == "moved"
    assert world.task(task_id) == revived
    world.deliver()
    comes_back(world, letter, world.clock.now())
    assert world.status(task_id) is Status.SUCCEEDED
    assert world.task(task_id).attempt == 3


def test_the_dead_letter_of_a_discarded_task_is_deleted_and_starts_nothing(world: World):
    task_id, letter = dies(world)
    task = world.task(task_id)
    world.advance(2 * MINUTE)
    world.store.apply([discard(task, now=world.clock.now())])

    for sent_at in (letter.sent_at, world.clock.now()):  # on its way to the queue, or moved back
        [deleted] = comes_back(world, letter, sent_at)
        assert deleted.message_id == "moved"

    world.deliver()
    after = world.task(task_id)
    assert (after.status, after.attempt) == (Status.CANCELLED, 2)


def test_a_task_that_dies_again_has_another_dead_letter(world: World):
    task_id, letter = dies(world)
    world.advance(2 * MINUTE)
    comes_back(world, letter, world.clock.now())
    buried = len(world.lanes.buried)

    def fail(task, ctx):
        raise ConnectionError("still no route")

    world.script = fail
    world.deliver()
    world.deliver()

    assert (world.status(task_id), world.task(task_id).attempt) == (Status.DEAD, 4)
    [second] = world.lanes.buried[buried:]
    assert second.delivery.token == world.task(task_id).token != letter.delivery.token
    world.advance(2 * MINUTE)
    [deleted] = comes_back(world, letter, world.clock.now())
    assert deleted.delivery == letter.delivery, "the first is worth nothing any more"
    assert world.status(task_id) is Status.DEAD


@pytest.mark.parametrize("after", [0, MINUTE])
def test_a_dead_letter_that_was_perhaps_not_redriven_stays_a_dead_letter(
    world: World, after: Millis
):
    task_id, letter = dies(world)
    world.advance(after)
    buried = len(world.lanes.buried)
    assert comes_back(world, letter, letter.delivery.written_at + after) == []

    assert world.status(task_id) is Status.DEAD
    assert len(world.lanes.buried) == buried + 1


def test_a_message_that_was_sent_late_and_began_the_last_attempt_is_no_redrive(world: World):
    """Its sender was frozen: it was sent long after it was written, but before the task died."""
    task_id, letter = dies(world)
    died_at = world.task(task_id).updated_at
    world.advance(2 * MINUTE)
    comes_back(world, letter, died_at - 1)
    assert world.status(task_id) is Status.DEAD

    comes_back(world, letter, died_at + 2 * MINUTE)
    assert world.status(task_id) is Status.RETRYING


def test_another_message_of_the_last_delivery_is_no_dead_letter(world: World):
    """The message of a frozen sender arrives after the one that the watch sent instead."""
    task_id, letter = dies(world)
    world.advance(2 * MINUTE)
    other = replace(letter, delivery=replace(letter.delivery, written_at=NOW - 1))
    [deleted] = comes_back(world, other, world.clock.now())

    assert deleted.delivery.written_at == NOW - 1
    assert world.status(task_id) is Status.DEAD


def test_a_dead_letter_that_comes_again_is_buried_without_reading_the_store(world: World):
    task_id, letter = dies(world)
    buried = len(world.lanes.buried)
    world.store.before["apply"] = lambda: pytest.fail("it was known")

    assert world.executor.admit([letter]) == []
    assert world.lanes.buried[buried:] == [letter]
    other = replace(letter, delivery=replace(letter.delivery, token=f"{letter.delivery.token}x"))
    assert world.executor.admit([other]) == [other], "ids of two lanes may be the same"
    assert world.status(task_id) is Status.DEAD
