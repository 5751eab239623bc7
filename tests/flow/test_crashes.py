"""Executors and scanners that die, and messages that are lost: the task goes on from the table."""

from dataclasses import replace

import pytest

from duetime.core.lanes import Lane
from duetime.core.lifecycle import Outcome, Status
from duetime.core.retry import RetryPolicy
from duetime.core.steps import lease
from duetime.core.steps.cancel import request_cancel
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.core.wake_policy import FIRST_WATCH, WATCH_SPREAD
from duetime.core.wakes import WakeKind
from duetime.executor.message_acks import FIRST_RETRY_DELAY
from duetime.executor.stale_messages import LEASE_OVER_AFTER
from tests.world import World, sqlite_world

WATCHED = FIRST_WATCH + WATCH_SPREAD  # the first watch is due by then


class Crash(BaseException):
    """The executor or scanner died."""


def crash():
    raise Crash


# executors


def test_the_watch_ends_the_attempt_of_an_executor_that_died(world: World):
    world.chance.luck = 0
    task_id = world.submit()
    world.lease()
    assert world.status(task_id) is Status.RUNNING

    world.advance(WATCHED)
    world.tick()
    assert world.status(task_id) is Status.RETRYING
    assert world.attempts(task_id)[0].outcome is Outcome.LEASE_EXPIRED
    world.advance(SECOND)
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED
    assert [a.outcome for a in world.attempts(task_id)] == [
        Outcome.LEASE_EXPIRED,
        Outcome.SUCCEEDED,
    ]
    assert world.starts == [task_id]


def test_a_late_outcome_is_refused_and_its_handler_is_stopped(world: World):
    world.chance.luck = 0
    task_id = world.submit()
    [run] = world.lease()
    late = world.executor.run_target(run)
    world.advance(WATCHED)
    world.tick()
    world.advance(SECOND)
    [second] = world.lease()

    world.script = lambda task, ctx: "of the first"
    assert run.context.heartbeat() is False
    world.executor.record_and_lease(ended=[replace(late, result='"of the first"')])
    assert world.status(task_id) is Status.RUNNING
    assert world.task(task_id).holder == second.task.holder
    world.executor.record_and_lease(ended=[replace(late, run=second, result='"of the second"')])

    assert world.task(task_id).result == '"of the second"'


def test_a_lease_that_is_renewed_is_left_alone(world: World):
    task_id = world.submit()
    [run] = world.lease()
    for _ in range((WATCHED + MINUTE) // lease.HEARTBEAT):
        world.advance(lease.HEARTBEAT)
        world.executor.renew([run])
    assert world.tick().watched == 1

    assert world.status(task_id) is Status.RUNNING
    assert world.task(task_id).wake.at == world.clock.now() + lease.LENGTH + lease.WATCH_AFTER
    assert not run.context.cancelled
    world.executor.record_and_lease(ended=[world.executor.run_target(run)])
    assert world.status(task_id) is Status.SUCCEEDED


def test_a_dead_executor_does_not_undo_a_cancel(world: World):
    task_id = world.submit()
    world.lease()
    world.store.apply([request_cancel(task_id, now=world.clock.now())])

    world.advance(WATCHED)
    world.tick()

    assert world.status(task_id) is Status.CANCELLED
    assert world.attempts(task_id)[0].outcome is Outcome.CANCELLED


def test_executors_that_die_every_time_end_in_a_dead_task(world: World):
    task_id = world.submit(retry=RetryPolicy(max_attempts=3, multiplier=1))
    messages = []
    for _ in range(3):
        messages += [run.message for run in world.lease()]
        world.advance(WATCHED)
        world.tick()
        world.advance(2 * SECOND)

    assert world.status(task_id) is Status.DEAD
    assert [a.outcome for a in world.attempts(task_id)] == [Outcome.LEASE_EXPIRED] * 3
    for message in messages:
        world.redeliver(message)
    world.lease()
    assert [m.delivery.token for m in world.lanes.buried] == [world.task(task_id).token]


def test_a_message_that_comes_again_ends_the_attempt_before_the_watch_does(world: World):
    world.chance.luck = 0
    task_id = world.submit()
    [run] = world.lease()
    world.advance(lease.LENGTH + 5 * SECOND)
    world.redeliver(run.message)
    assert world.lease() == []
    assert world.status(task_id) is Status.RUNNING

    world.advance(1)
    world.lanes.port.send([run.message.delivery], world.clock.now())
    assert world.lease() == []
    assert world.status(task_id) is Status.RETRYING
    world.advance(SECOND)
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED
    assert len(world.attempts(task_id)) == 2


def test_the_last_message_is_buried_even_if_it_is_what_ends_the_task(world: World):
    task_id = world.submit(retry=RetryPolicy(max_attempts=1))
    [run] = world.lease()
    world.advance(LEASE_OVER_AFTER)
    world.redeliver(run.message)
    world.lease()

    assert world.status(task_id) is Status.DEAD
    assert [m.delivery.token for m in world.lanes.buried] == [run.message.delivery.token]
    assert world.lanes.deleted == []


def test_an_executor_that_died_between_record_and_delete_repeats_nothing(world: World):
    task_id = world.submit()
    [run] = world.lease()
    ended = world.executor.run_target(run)
    world.lanes.delete = lambda messages: crash()
    with pytest.raises(Crash):
        world.executor.record_and_lease(ended=[ended])
    del world.lanes.delete
    done = world.task(task_id)
    assert done.status is Status.SUCCEEDED

    world.redeliver(run.message)
    assert world.deliver() == []

    assert world.task(task_id) == done
    assert world.starts == [task_id]
    assert len(world.lanes.deleted) == 1


def test_an_executor_that_died_between_record_and_send_delays_the_retry_only(world: World):
    world.script = _fails_first
    task_id = world.submit()
    runs = world.lease()
    ended = [world.executor.run_target(run) for run in runs]
    world.lanes.send = lambda deliveries, now: crash()
    with pytest.raises(Crash):
        world.executor.record_and_lease(ended=ended)
    del world.lanes.send
    assert world.status(task_id) is Status.RETRYING

    world.advance(WATCHED + 2 * SECOND)
    assert world.tick().sent == 1
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED


def test_a_doubled_message_starts_nothing(world: World):
    task_id = world.submit(due_in=MINUTE)
    world.lanes.send([world.lanes.sent[0]], world.clock.now())
    world.advance(MINUTE)

    assert len(world.deliver()) == 1
    assert world.starts == [task_id]
    assert world.receive() == []


def test_a_message_of_an_earlier_attempt_starts_nothing(world: World):
    world.chance.luck = 0
    world.script = _fails_first
    task_id = world.submit()
    [first] = world.deliver()
    world.lanes.send([first.message.delivery], world.clock.now())

    assert world.deliver() == []
    assert world.status(task_id) is Status.RETRYING


def test_an_executor_that_died_right_after_its_lease_leaves_no_gap_in_the_attempts(world: World):
    world.chance.luck = 0
    world.script = _fails_first
    task_id = world.submit(retry=RetryPolicy(base_delay=1))
    world.deliver()
    for _ in range(2):
        world.advance_to(world.task(task_id).due_at)
        world.store.before["keep_attempt"] = crash
        with pytest.raises(Crash):
            world.lease()
        world.advance(WATCHED)
        world.tick()
    world.advance_to(world.task(task_id).due_at)
    world.deliver()

    assert [(a.number, a.outcome) for a in world.attempts(task_id)] == [
        (1, Outcome.FAILED),
        (2, Outcome.LEASE_EXPIRED),
        (3, Outcome.LEASE_EXPIRED),
        (4, Outcome.SUCCEEDED),
    ]


def test_a_store_that_does_not_answer_a_lease_is_asked_again_soon(world: World):
    task_id = world.submit()
    world.store.silent = True
    assert world.lease() == []

    world.advance(FIRST_RETRY_DELAY - 1)
    assert world.receive() == []
    world.advance(1)
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED


def test_an_outcome_without_an_answer_from_the_store_ends_in_another_attempt(world: World):
    world.chance.luck = 0
    task_id = world.submit()
    runs = world.lease()
    ended = [world.executor.run_target(run) for run in runs]
    world.store.silent = True
    world.record(ended)
    assert world.status(task_id) is Status.RUNNING

    world.advance(LEASE_OVER_AFTER)
    world.lease()
    assert world.status(task_id) is Status.RETRYING
    world.advance(SECOND)
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED
    assert [a.outcome for a in world.attempts(task_id)] == [
        Outcome.LEASE_EXPIRED,
        Outcome.SUCCEEDED,
    ]


# scanners and lanes


def test_the_watch_sends_a_task_that_a_scanner_claimed_and_never_sent(world: World):
    task_id = world.submit(due_in=5 * MINUTE)
    world.advance(MINUTE)
    world.lanes.send = lambda deliveries, now: crash()
    with pytest.raises(Crash):
        world.tick()
    del world.lanes.send
    assert world.status(task_id) is Status.ENQUEUED

    world.advance(4 * MINUTE + WATCHED)
    assert world.tick().sent == 1
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED


def test_a_lost_message_is_sent_again_with_the_same_token(world: World):
    world.lanes.fate = "lost"
    task_id = world.submit()
    token = world.task(task_id).token
    world.lanes.fate = "sent"

    world.tick()
    assert world.lanes.sent == [], "it may still be under way"
    world.advance(WATCHED)
    world.tick()

    assert [d.token for d in world.lanes.sent] == [token]
    world.deliver()
    assert world.status(task_id) is Status.SUCCEEDED


def test_a_watch_is_not_touched_before_its_time(world: World):
    world.lanes.fate = "lost"
    task_id = world.submit()
    watch = world.task(task_id).wake
    assert watch.at % MINUTE, "so that the millisecond before belongs to the same bucket"

    world.advance_to(watch.at - 1)
    assert world.tick().watched == 0
    world.advance(1)
    assert world.tick().watched == 1


def test_messages_lost_again_and_again_are_sent_ever_more_rarely():
    with sqlite_world() as world:
        world.lanes.fate = "lost"
        task_id = world.submit(priority=Lane.HIGH)  # the highest lane: it is not promoted
        gaps = []
        for _ in range(6):
            world.advance_to(world.task(task_id).wake.at)
            assert world.tick().sent == 1
            gaps.append(world.task(task_id).wake.at - world.clock.now())

        assert gaps == [minutes * MINUTE for minutes in (15, 30, 60, 120, 240, 360)]
        world.lanes.fate = "sent"
        world.advance(6 * HOUR)
        world.tick()
        world.deliver()
        assert world.status(task_id) is Status.SUCCEEDED


def test_every_queue_can_be_purged(world: World):
    ids = [world.submit(due_in=wait * MINUTE) for wait in (0, 1, 3)]
    world.purge()

    world.live(12 * MINUTE)

    assert [world.status(task_id) for task_id in ids] == [Status.SUCCEEDED] * 3
    assert sorted(world.starts) == sorted(ids)


def test_a_backed_up_lane_gets_no_second_copy_but_only_three_times(world: World):
    world.lanes.fate = "lost"
    task_id = world.submit()
    world.lanes.fate = "sent"
    world.lanes.crowd = 1_001
    due_at = world.task(task_id).due_at
    for skips in (1, 2, 3):
        world.advance_to(world.task(task_id).wake.at)
        world.tick()
        assert world.lanes.sent == []
        assert world.task(task_id).skips == skips
    world.advance_to(world.task(task_id).wake.at)
    world.tick()

    assert len(world.lanes.sent) == 1
    assert (world.task(task_id).skips, world.task(task_id).due_at) == (0, due_at)


@pytest.mark.parametrize("fate", ["refused", "unknown"])
def test_a_task_that_a_lane_refuses_is_released_and_sent_by_the_next_tick(world: World, fate: str):
    world.lanes.fate = fate
    soon = world.submit(due_in=2 * MINUTE)
    later = world.submit(due_in=5 * MINUTE)
    tokens = {world.task(task_id).token for task_id in (soon, later)}
    world.advance(MINUTE)
    assert world.tick().sent == 0
    for task_id in (soon, later):
        task = world.task(task_id)
        assert (task.status, task.wake.kind) == (Status.PENDING, WakeKind.DISPATCH)
        assert task.wake.at == task.due_at

    world.lanes.fate = "sent"
    assert world.tick().sent == 2
    world.advance(5 * MINUTE)
    world.deliver()

    assert sorted(world.starts) == sorted([soon, later])
    assert {d.token for d in world.lanes.sent} == tokens


def test_a_retry_that_a_lane_refuses_stays_a_retry(world: World):
    world.chance.luck = 0
    world.script = _fails_first
    task_id = world.submit()
    runs = world.lease()
    world.lanes.fate = "refused"
    world.executor.record_and_lease(ended=[world.executor.run_target(run) for run in runs])
    task = world.task(task_id)
    assert (task.status, task.wake.kind) == (Status.RETRYING, WakeKind.DISPATCH)

    world.lanes.fate = "sent"
    world.tick()
    world.advance(SECOND)
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED


def test_a_message_that_was_sent_after_all_may_start_a_released_task(world: World):
    """The scanner finds the task running, with a dispatch wake."""
    world.lanes.fate = "unknown"
    task_id = world.submit()
    world.lanes.fate = "sent"
    world.tick()  # claims it again
    [run] = world.lease()  # one of two copies wins
    assert world.status(task_id) is Status.RUNNING

    world.advance(MINUTE)
    world.executor.renew([run])
    world.tick()
    world.executor.record_and_lease(ended=[world.executor.run_target(run)])

    assert world.status(task_id) is Status.SUCCEEDED
    assert world.starts == [task_id]


def test_two_ticks_at_once_send_everything_once(world: World):
    ids = [world.submit(due_in=5 * MINUTE) for _ in range(3)]
    world.advance(MINUTE)
    other = []
    world.store.before["apply"] = lambda: other.append(world.tick())
    mine = world.tick()

    assert (other[0].claimed, other[0].lost, other[0].sent) == (3, 0, 3)
    assert (mine.claimed, mine.lost, mine.sent) == (0, 3, 0)
    assert world.cursors.load(0).fence == 1
    assert sorted(d.task_id for d in world.lanes.sent) == sorted(ids)


def test_two_ticks_that_watch_at_once_send_once(world: World):
    world.lanes.fate = "lost"
    task_id = world.submit()
    world.lanes.fate = "sent"
    world.advance(WATCHED)
    world.store.before["apply"] = lambda: (world.advance(1), world.tick())
    world.tick()

    assert len(world.lanes.sent) == 1
    assert world.task(task_id).resends == 1


def _fails_first(task, ctx):
    if ctx.attempt == 1:
        raise ConnectionError("the first time")
    return "done"
