"""The wall clock is set while attempts run, which changes nothing for them."""

import threading
from typing import Any

import pytest

from duetime.core.lifecycle import Outcome, Status, Step
from duetime.core.steps.lease import HEARTBEAT, LENGTH, MAX_SILENCE
from duetime.core.times import HOUR, SECOND, Millis
from duetime.executor.attempt_loop import STOP_GRACE, WRITE_RETRY_DELAY, AttemptLoop
from tests.executor.test_attempt_loop import Harness
from tests.executor.test_worker_pool import PATIENCE, comes_early, offer, working
from tests.world import World

BY = pytest.mark.parametrize("by", [HOUR, -HOUR, 30 * SECOND, -30 * SECOND], ids=str)


@pytest.fixture
def harness(world: World) -> Harness:
    return Harness(world)


def live(harness: Harness, span: Millis, step: Millis = SECOND) -> None:
    for _ in range(span // step):
        harness.after(step)


@BY
def test_running_attempt_outlives_a_clock_that_is_set(harness: Harness, by: Millis):
    run = harness.begin(timeout=60)
    live(harness, 5 * SECOND)
    harness.world.clock.set_by(by)
    live(harness, 54 * SECOND)

    assert not run.context.cancelled
    assert harness.interrupted == []
    harness.end(run)
    assert harness.world.status(run.task.id) is Status.SUCCEEDED


@BY
def test_attempt_has_its_whole_timeout_although_the_clock_is_set(harness: Harness, by: Millis):
    run = harness.begin(timeout=60)
    harness.world.clock.set_by(by)
    live(harness, 59 * SECOND)
    assert not run.context.cancelled
    live(harness, SECOND)
    assert run.context.cancelled
    assert harness.interrupted == [run.task.id]
    live(harness, STOP_GRACE)

    attempt = harness.world.task(run.task.id).current
    assert attempt is not None
    assert attempt.outcome is Outcome.TIMED_OUT


@BY
def test_leases_are_renewed_at_once_after_the_clock_was_set(harness: Harness, by: Millis):
    """A scanner that reads the new time must not count the holder as dead."""
    run = harness.begin(timeout=300)
    live(harness, 5 * SECOND)
    harness.world.clock.set_by(by)

    assert harness.loop.check_leases() is True, "the next step does not wait for its timer"
    harness.step()
    now = harness.world.clock.now()
    assert harness.world.task(run.task.id).lease_until == now + LENGTH
    assert harness.loop.check_leases() is False
    harness.world.tick()
    assert harness.world.status(run.task.id) is Status.RUNNING


def test_heartbeats_go_on_after_the_clock_was_set_back(harness: Harness):
    run = harness.begin(timeout=300)
    harness.world.clock.set_by(-HOUR)
    live(harness, 60 * SECOND)

    lease_until = harness.world.task(run.task.id).lease_until
    assert lease_until is not None
    assert lease_until > harness.world.clock.now() + LENGTH - HEARTBEAT - SECOND


def test_silence_is_counted_although_the_clock_was_set_back(harness: Harness):
    run = harness.begin(timeout=300)
    harness.store.deaf_to[Step.RENEW] = 99
    harness.store.makes_them = False
    harness.world.clock.set_by(-HOUR)
    live(harness, MAX_SILENCE)

    assert run.context.cancelled


def test_waiting_message_goes_back_when_the_clock_is_set_back(harness: Harness):
    """It is due in an hour again, and must not keep its slot until then."""
    task_id = harness.world.submit(due_in=2 * SECOND)
    harness.loop.accept([comes_early(harness.world)])
    assert harness.step().not_started == 0
    harness.world.clock.set_by(-HOUR)
    result = harness.after(2 * SECOND)

    assert (result.started, result.not_started, harness.loop.unfinished) == ([], 1, 0)
    assert not harness.accept().started, "never early"
    harness.world.advance(HOUR)
    [run] = harness.accept().started
    assert run.task.id == task_id


def test_waiting_message_starts_when_the_clock_is_set_forward(harness: Harness):
    harness.world.submit(due_in=2 * SECOND)
    harness.loop.accept([comes_early(harness.world)])
    harness.world.clock.set_by(HOUR)
    timer = harness.loop.next_timer
    assert timer is not None
    assert timer <= harness.world.clock.monotonic()

    assert len(harness.step().started) == 1


def test_lease_that_was_not_answered_is_repeated_although_the_clock_was_set_back(harness: Harness):
    """The write may have been made: after a hand-back the message would meet its own lease."""
    harness.store.deaf_to[Step.LEASE] = 1
    task_id = harness.world.submit()
    assert harness.accept().started == []
    harness.world.clock.set_by(-HOUR)
    [run] = harness.after(WRITE_RETRY_DELAY).started

    assert (run.task.id, run.task.attempt) == (task_id, 1)
    assert run.control.renewed_at == harness.world.clock.monotonic() - WRITE_RETRY_DELAY


def test_invocation_ends_by_the_monotonic_clock(harness: Harness):
    until = harness.world.clock.monotonic() + 60 * SECOND
    harness.loop = AttemptLoop(harness.executor, harness.world.clock, until=until)
    harness.world.clock.set_by(HOUR)
    harness.world.submit(timeout=30)

    assert len(harness.accept().started) == 1


def test_pool_renews_leases_at_once_when_the_clock_is_set(world: World, monkeypatch: Any):
    started, go, renewed = threading.Event(), threading.Event(), threading.Event()

    def script(task: Any, ctx: Any) -> None:
        started.set()
        go.wait(PATIENCE)

    world.script = script
    monkeypatch.setattr("duetime.executor.worker_pool.LEASE_GUARD_INTERVAL", 0.001)
    renew = world.executor.renew
    world.executor.renew = lambda runs: (renew(runs), renewed.set())
    with working(world) as pool:
        task_id = offer(world, pool, timeout=600)
        assert started.wait(PATIENCE)
        world.clock.set_by(HOUR)
        assert renewed.wait(PATIENCE)
        assert world.task(task_id).lease_until == world.clock.now() + LENGTH
        go.set()

    assert world.status(task_id) is Status.SUCCEEDED
