"""Somebody sets the wall clock while attempts run: they go on as if nothing had happened."""

import threading
from typing import Any

import pytest

from lambdas.core.lease import HEARTBEAT, LENGTH, SILENCE
from lambdas.core.lifecycle import Outcome, Status, Step
from lambdas.core.times import HOUR, SECOND, Millis
from lambdas.executor.books import AGAIN, STOP_GRACE, Books
from tests.executor.test_books import Desk
from tests.executor.test_crew import PATIENCE, comes_early, offer, working
from tests.world import World

BY = pytest.mark.parametrize("by", [HOUR, -HOUR, 30 * SECOND, -30 * SECOND], ids=str)


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


def live(desk: Desk, span: Millis, step: Millis = SECOND) -> None:
    for _ in range(span // step):
        desk.after(step)


@BY
def test_running_attempt_outlives_a_clock_that_is_set(desk: Desk, by: Millis):
    run = desk.begin(timeout=60)
    live(desk, 5 * SECOND)
    desk.world.clock.set_by(by)
    live(desk, 54 * SECOND)

    assert not run.context.cancelled
    assert desk.interrupted == []
    desk.end(run)
    assert desk.world.status(run.task.id) is Status.SUCCEEDED


@BY
def test_attempt_has_its_timeout_whatever_the_clock_says(desk: Desk, by: Millis):
    run = desk.begin(timeout=60)
    desk.world.clock.set_by(by)
    live(desk, 59 * SECOND)
    assert not run.context.cancelled
    live(desk, SECOND)
    assert run.context.cancelled
    assert desk.interrupted == [run.task.id]
    live(desk, STOP_GRACE)

    attempt = desk.world.task(run.task.id).current
    assert attempt is not None
    assert attempt.outcome is Outcome.TIMED_OUT


@BY
def test_lease_is_renewed_by_the_new_time_at_once(desk: Desk, by: Millis):
    """Who goes by the wall clock must not take the holder for dead."""
    run = desk.begin(timeout=300)
    live(desk, 5 * SECOND)
    desk.world.clock.set_by(by)

    assert desk.books.guard() is True, "the bookkeeper is not to wait for its next timer"
    desk.turn()
    now = desk.world.clock.now()
    assert desk.world.task(run.task.id).lease_until == now + LENGTH
    assert desk.books.guard() is False
    desk.world.tick()
    assert desk.world.status(run.task.id) is Status.RUNNING


def test_heartbeats_go_on_after_the_clock_was_set_back(desk: Desk):
    run = desk.begin(timeout=300)
    desk.world.clock.set_by(-HOUR)
    live(desk, 60 * SECOND)

    lease_until = desk.world.task(run.task.id).lease_until
    assert lease_until is not None
    assert lease_until > desk.world.clock.now() + LENGTH - HEARTBEAT - SECOND


def test_silence_is_counted_although_the_clock_was_set_back(desk: Desk):
    run = desk.begin(timeout=300)
    desk.store.deaf_to[Step.RENEW] = 99
    desk.store.makes_them = False
    desk.world.clock.set_by(-HOUR)
    live(desk, SILENCE)

    assert run.context.cancelled


def test_waiting_message_goes_back_when_the_clock_is_set_back(desk: Desk):
    """It is due in an hour again, and must not keep its slot till then."""
    task_id = desk.world.submit(due_in=2 * SECOND)
    desk.books.take([comes_early(desk.world)])
    assert desk.turn().let_go == 0
    desk.world.clock.set_by(-HOUR)
    turn = desk.after(2 * SECOND)

    assert (turn.begun, turn.let_go, desk.books.open) == ([], 1, 0)
    assert not desk.take().begun, "never early"
    desk.world.advance(HOUR)
    [run] = desk.take().begun
    assert run.task.id == task_id


def test_waiting_message_starts_when_the_clock_is_set_forward(desk: Desk):
    desk.world.submit(due_in=2 * SECOND)
    desk.books.take([comes_early(desk.world)])
    desk.world.clock.set_by(HOUR)
    timer = desk.books.next_timer
    assert timer is not None
    assert timer <= desk.world.clock.monotonic()

    assert len(desk.turn().begun) == 1


def test_lease_that_was_not_answered_is_repeated_although_the_clock_was_set_back(desk: Desk):
    """The write may have been made; handed back, the message would find its own lease."""
    desk.store.deaf_to[Step.LEASE] = 1
    task_id = desk.world.submit()
    assert desk.take().begun == []
    desk.world.clock.set_by(-HOUR)
    [run] = desk.after(AGAIN).begun

    assert (run.task.id, run.task.attempt) == (task_id, 1)
    assert run.context.renewed_at == desk.world.clock.monotonic() - AGAIN


def test_invocation_is_over_by_the_monotonic_clock(desk: Desk):
    until = desk.world.clock.monotonic() + 60 * SECOND
    desk.books = Books(desk.executor, desk.world.clock, until=until)
    desk.world.clock.set_by(HOUR)
    desk.world.submit(timeout=30)

    assert len(desk.take().begun) == 1


def test_crew_renews_at_once_when_the_clock_is_set(world: World, monkeypatch: Any):
    started, go, renewed = threading.Event(), threading.Event(), threading.Event()

    def script(task: Any, ctx: Any) -> None:
        started.set()
        go.wait(PATIENCE)

    world.script = script
    monkeypatch.setattr("lambdas.executor.crew.GUARD_EVERY", 0.001)
    renew = world.executor.renew
    world.executor.renew = lambda runs: (renew(runs), renewed.set())
    with working(world) as crew:
        task_id = offer(world, crew, timeout=600)
        assert started.wait(PATIENCE)
        world.clock.set_by(HOUR)
        assert renewed.wait(PATIENCE)
        assert world.task(task_id).lease_until == world.clock.now() + LENGTH
        go.set()

    assert world.status(task_id) is Status.SUCCEEDED
