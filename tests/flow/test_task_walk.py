"""From submission to a terminal status, without faults except in the handler."""

import pytest

from duetime.core.errors import PermanentError
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Outcome, Status
from duetime.core.retry import RetryPolicy
from duetime.core.steps.cancel import cancel, request_cancel
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.core.wakes import WakeKind
from tests.factories import result_of
from tests.world import WAKE_POLICY, World


def failing_until(attempt: int, error: Exception | None = None):
    def script(task, ctx):
        if ctx.attempt < attempt:
            raise error or ConnectionError("not yet")
        return ctx.attempt

    return script


def test_a_task_that_is_due_now_runs_now(world: World):
    task_id = world.submit(payload={"n": 1})
    world.deliver()

    task = world.task(task_id)
    assert (task.status, result_of(task), task.wake) == (Status.SUCCEEDED, "done", None)
    [attempt] = world.attempts(task_id)
    assert (attempt.outcome, attempt.drift_ms) == (Outcome.SUCCEEDED, 0)
    assert world.receive() == []


def test_within_the_horizon_the_fast_path_needs_no_tick(world: World):
    task_id = world.submit(due_in=WAKE_POLICY.horizon)
    assert world.status(task_id) is Status.ENQUEUED

    world.advance(WAKE_POLICY.horizon - 1)
    assert world.deliver() == []
    world.advance(1)
    world.deliver()

    assert result_of(world.task(task_id)) == "done"
    assert world.task(task_id).current.drift_ms == 0
    assert len(world.lanes.sent) == 1


def test_a_task_beyond_the_horizon_is_claimed_at_the_horizon_and_starts_on_time(world: World):
    task_id = world.submit(due_in=HOUR)
    claimed_at = None
    while claimed_at is None:
        assert world.deliver() == []
        if world.tick().claimed:
            claimed_at = world.clock.now()
        else:
            assert world.status(task_id) is Status.PENDING
            world.advance(
                10 * MINUTE
                if world.task(task_id).due_at > world.clock.now() + 20 * MINUTE
                else MINUTE
            )
    due_at = world.task(task_id).due_at
    assert 0 < due_at - claimed_at <= WAKE_POLICY.horizon

    world.advance_to(due_at - 1)
    assert world.deliver() == []
    assert world.status(task_id) is Status.ENQUEUED
    world.advance(1)
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED
    assert world.task(task_id).current.drift_ms == 0
    assert len(world.lanes.sent) == 1


def test_nothing_is_claimed_before_the_horizon(world: World):
    world.submit(due_in=WAKE_POLICY.horizon + 1)

    assert world.tick().claimed == 0
    world.advance(1)
    assert world.tick().claimed == 1


def test_jitter_moves_the_due_time_and_nothing_starts_before_it(world: World):
    world.chance.luck = 0.5
    task_id = world.submit(jitter=60)
    assert world.task(task_id).due_at == world.clock.now() + 30 * SECOND

    world.advance(30 * SECOND - 1)
    assert world.deliver() == []
    world.advance(1)
    world.deliver()

    assert world.task(task_id).current.drift_ms == 0


def test_retries_back_off_until_one_succeeds(world: World):
    world.chance.luck = 0
    world.script = failing_until(3)
    task_id = world.submit(retry=RetryPolicy(base_delay=1, multiplier=2, jitter=0.5))

    delays = []
    for _ in range(3):
        world.advance_to(world.task(task_id).due_at)
        world.deliver()
        delays.append(world.task(task_id).due_at - world.clock.now())

    assert delays == [1 * SECOND, 2 * SECOND, 0]
    assert result_of(world.task(task_id)) == 3
    assert [a.outcome for a in world.attempts(task_id)] == [
        Outcome.FAILED,
        Outcome.FAILED,
        Outcome.SUCCEEDED,
    ]
    assert world.attempts(task_id)[0].error.message == "not yet"
    assert world.receive() == []


def test_a_retry_never_starts_before_its_time(world: World):
    world.chance.luck = 0
    world.script = failing_until(2)
    task_id = world.submit(retry=RetryPolicy(base_delay=10))
    world.deliver()
    assert world.status(task_id) is Status.RETRYING

    world.advance(10 * SECOND - 1)
    assert world.deliver() == []
    world.advance(1)
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED


def test_a_long_backoff_waits_in_the_table(world: World):
    world.chance.luck = 0
    world.script = failing_until(2)
    task_id = world.submit(retry=RetryPolicy(base_delay=600))
    world.deliver()
    task = world.task(task_id)
    assert (task.status, task.wake.kind) == (Status.RETRYING, WakeKind.DISPATCH)
    assert len(world.lanes.sent) == 1

    world.advance(6 * MINUTE)
    assert world.tick().sent == 1
    assert world.status(task_id) is Status.RETRYING
    world.advance_to(task.due_at)
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED
    assert len(world.attempts(task_id)) == 2


def test_a_task_out_of_attempts_is_dead_with_its_error_and_its_message(world: World):
    world.chance.luck = 0
    world.script = failing_until(99)
    task_id = world.submit(retry=RetryPolicy(max_attempts=2))
    world.deliver()
    world.advance(1 * SECOND)
    world.deliver()

    task = world.task(task_id)
    assert (task.status, task.wake) == (Status.DEAD, None)
    assert task.last_failure.error.type == "ConnectionError"
    assert [a.outcome for a in world.attempts(task_id)] == [Outcome.FAILED] * 2
    [letter] = world.lanes.buried
    assert (letter.delivery.task_id, letter.delivery.token) == (task_id, task.token)


@pytest.mark.parametrize("error", [PermanentError("no such account")])
def test_a_permanent_error_is_not_tried_again(world: World, error: Exception):
    world.script = failing_until(99, error)
    task_id = world.submit()
    world.deliver()

    assert world.status(task_id) is Status.DEAD
    assert world.task(task_id).attempt == 1
    assert len(world.lanes.buried) == 1
    assert len(world.lanes.sent) == 1


def test_a_task_that_is_cancelled_before_it_starts_never_runs(world: World):
    soon, later = world.submit(due_in=MINUTE), world.submit(due_in=HOUR)
    world.store.apply([cancel(world.task(i), now=world.clock.now()) for i in (soon, later)])

    world.advance(HOUR)
    world.tick()
    world.deliver()

    assert world.starts == []
    assert [world.status(task_id) for task_id in (soon, later)] == [Status.CANCELLED] * 2
    assert world.receive() == []


def test_a_running_task_learns_of_the_cancel_when_it_renews(world: World):
    heard = []

    def script(task, ctx):
        world.store.apply([request_cancel(task.id, now=world.clock.now())])
        heard.append((ctx.cancelled, ctx.heartbeat(), ctx.cancelled))
        raise InterruptedError("stopped")

    world.script = script
    task_id = world.submit()
    world.deliver()

    assert heard == [(False, False, True)]
    assert world.status(task_id) is Status.CANCELLED
    assert [a.outcome for a in world.attempts(task_id)] == [Outcome.CANCELLED]
    assert len(world.lanes.sent) == 1


def test_an_outcome_that_is_recorded_before_the_cancel_is_seen_is_kept(world: World):
    def script(task, ctx):
        world.store.apply([request_cancel(task.id, now=world.clock.now())])
        return "just in time"

    world.script = script
    task_id = world.submit()
    world.deliver()

    assert result_of(world.task(task_id)) == "just in time"
    assert world.status(task_id) is Status.SUCCEEDED


def test_a_failure_that_is_recorded_before_the_cancel_is_seen_is_not_retried(world: World):
    def script(task, ctx):
        world.store.apply([request_cancel(task.id, now=world.clock.now())])
        raise ConnectionError("lost")

    world.script = script
    task_id = world.submit()
    world.deliver()

    assert world.status(task_id) is Status.CANCELLED
    assert [a.outcome for a in world.attempts(task_id)] == [Outcome.FAILED]
    assert len(world.lanes.sent) == 1


def test_a_cancel_that_no_executor_acted_on_is_seen_at_the_next_wake(world: World):
    """The executor recorded the failure and died before it cancelled the task."""

    def script(task, ctx):
        world.store.apply([request_cancel(task.id, now=world.clock.now())])
        raise ConnectionError("lost")

    world.script = script
    task_id = world.submit()
    runs = world.lease()
    ended = [world.executor.run_target(run) for run in runs]
    world.store.before["apply"] = lambda: world.store.before.update(apply=_dies)
    with pytest.raises(KeyboardInterrupt):
        world.executor.record_and_lease(ended=ended)
    assert world.status(task_id) is Status.RETRYING

    world.advance(5 * MINUTE)
    world.tick()

    assert world.status(task_id) is Status.CANCELLED
    assert len(world.starts) == 1


def _dies():
    raise KeyboardInterrupt


def test_a_task_that_expired_before_its_start_does_not_run(world: World):
    now = world.clock.now()
    task_id = world.submit(due_in=MINUTE, expires_at=now + 2 * MINUTE)
    world.advance(2 * MINUTE)
    world.deliver()

    assert world.starts == []
    task = world.task(task_id)
    assert (task.status, task.wake) == (Status.EXPIRED, None)
    assert world.receive() == []


def test_expiry_is_seen_at_a_wake_too(world: World):
    now = world.clock.now()
    task_id = world.submit(due_in=MINUTE, expires_at=now + 2 * MINUTE)
    world.purge()
    world.advance(6 * MINUTE)
    world.tick()

    assert world.status(task_id) is Status.EXPIRED


def test_a_task_that_has_started_does_not_expire(world: World):
    world.chance.luck = 0
    world.script = failing_until(2)
    now = world.clock.now()
    task_id = world.submit(expires_at=now + MINUTE, retry=RetryPolicy(base_delay=120))
    world.deliver()
    world.advance(2 * MINUTE)
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED


def test_within_a_tick_lanes_go_by_rank_and_then_by_time(world: World):
    ids = {
        (lane, seconds): world.submit(due_in=HOUR + seconds * SECOND, priority=lane)
        for lane in (Lane.LOW, Lane.HIGH, Lane.MEDIUM)
        for seconds in (70, 10)
    }
    world.advance(HOUR - MINUTE)
    world.tick()

    ranked = (Lane.HIGH, Lane.MEDIUM, Lane.LOW)
    in_order = [ids[lane, seconds] for lane in ranked for seconds in (10, 70)]
    assert [delivery.task_id for delivery in world.lanes.sent] == in_order
    world.advance(3 * MINUTE)
    world.deliver()
    assert set(world.starts) == set(in_order)
    ranks = [world.task(task_id).lane.rank for task_id in world.starts]
    assert ranks == sorted(ranks)


def test_a_cancel_at_the_end_of_an_attempt_does_not_wait_for_a_long_backoff(
    world: World,
):
    task_id = world.submit(retry=RetryPolicy(base_delay=3_000))
    [run] = world.lease()
    world.script = failing_until(2)
    ended = world.executor.run_target(run)
    world.store.apply([request_cancel(task_id, now=world.clock.now())])
    world.executor.record_and_lease(ended=[ended])

    assert world.status(task_id) is Status.CANCELLED
