"""A drain: nothing more starts, and what does not end within the grace is interrupted."""

import threading
from typing import Any

import pytest

from duetime import PermanentError, Snooze
from duetime.core.lifecycle import Outcome, Status, Step
from duetime.core.retry import RetryPolicy
from duetime.core.steps.cancel import request_cancel
from duetime.core.steps.lease import HEARTBEAT, LENGTH, WATCH_AFTER
from duetime.core.task import Task
from duetime.core.times import CLOCK_SKEW, MINUTE, SECOND, Millis
from duetime.executor.attempt_loop import LONGEST_STOP, WRITE_RETRY_DELAY
from duetime.executor.executor import Executor
from duetime.executor.runs import Run, failed
from duetime.executor.targets.python import run_handler
from duetime.handlers import registry
from tests.executor.test_attempt_loop import Harness
from tests.executor.test_worker_pool import PATIENCE, Recorded, comes_early, offer, step, working
from tests.world import World

ONCE = RetryPolicy(max_attempts=1)
GRACE: Millis = 25 * SECOND


@pytest.fixture
def harness(world: World) -> Harness:
    return Harness(world)


def stored(harness: Harness, run: Run) -> Task:
    return harness.world.task(run.task.id)


# the loop


def test_message_that_waits_for_its_time_is_handed_back_at_once(harness: Harness):
    task_id = harness.world.submit(due_in=SECOND)
    harness.loop.accept([comes_early(harness.world)])
    assert harness.loop.drain(GRACE) == 1

    assert harness.loop.unfinished == 0
    assert [m.delivery.task_id for m in harness.receive()] == [task_id]
    assert harness.world.status(task_id) is Status.ENQUEUED


def test_message_that_arrives_during_a_drain_is_handed_back_at_once(harness: Harness):
    task_id = harness.world.submit()
    harness.loop.drain(GRACE)
    assert harness.loop.accept(harness.receive()) == 1

    assert [m.delivery.task_id for m in harness.receive()] == [task_id]


def test_handler_that_ends_within_the_grace_gets_its_ordinary_outcome(harness: Harness):
    run = harness.begin(retry=ONCE)
    harness.loop.drain(GRACE)
    assert (run.context.cancelled, run.context.reason) == (True, "draining")
    harness.after(GRACE - 1)
    assert harness.interrupted == []
    harness.end(run)

    assert stored(harness, run).status is Status.SUCCEEDED


def test_handler_that_outlasts_the_grace_is_interrupted_and_its_task_is_due_at_once(
    harness: Harness,
):
    run = harness.begin(timeout=300, retry=ONCE)
    harness.loop.drain(GRACE)
    assert harness.loop.next_timer == harness.world.clock.monotonic() + HEARTBEAT
    harness.after(GRACE)
    assert harness.interrupted == [run.task.id]
    assert stored(harness, run).status is Status.RUNNING, "its handler has not ended yet"

    harness.step(failed(run, InterruptedError("asked to stop")))

    task = stored(harness, run)
    assert task.current is not None
    assert (task.status, task.current.outcome) == (Status.RETRYING, Outcome.INTERRUPTED)
    assert (task.due_at, task.budget) == (harness.world.clock.now(), 2)
    assert harness.loop.unfinished == 0
    [again] = harness.receive()
    assert (again.delivery.task_id, again.delivery.attempt) == (task.id, 2)


def test_handler_that_returns_although_it_was_interrupted_has_done_its_work(harness: Harness):
    run = harness.begin(timeout=300)
    harness.loop.drain(GRACE)
    harness.after(GRACE)
    harness.end(run)

    assert stored(harness, run).status is Status.SUCCEEDED


def test_leases_are_renewed_during_a_drain(harness: Harness):
    run = harness.begin(timeout=300)
    harness.loop.drain(2 * MINUTE)
    for _ in range(11):
        harness.after(HEARTBEAT)
        harness.world.tick()

    assert stored(harness, run).lease_until == harness.world.clock.now() + LENGTH
    assert stored(harness, run).attempt == 1


def test_second_drain_may_only_shorten_the_grace(harness: Harness):
    run = harness.begin(timeout=300)
    harness.loop.drain(GRACE)
    harness.loop.drain(2 * GRACE)
    harness.after(GRACE - 1)
    assert harness.interrupted == []
    harness.loop.drain(0)
    harness.step()

    assert harness.interrupted == [run.task.id]


def test_handler_that_cannot_be_stopped_keeps_its_task_until_its_lease_has_run_out(
    harness: Harness,
):
    run = harness.begin(timeout=3_600)
    harness.loop.drain(0)
    harness.step()
    harness.after(LONGEST_STOP - 1)
    assert harness.loop.unfinished == 1
    harness.after(1)

    assert (harness.loop.unfinished, harness.loop.not_stopped) == (0, 1)
    assert stored(harness, run).status is Status.RUNNING
    for _ in range((LENGTH + CLOCK_SKEW + WATCH_AFTER + 4 * MINUTE) // MINUTE):
        harness.world.advance(MINUTE)
        harness.world.tick()
    attempt = stored(harness, run).current
    assert attempt is not None
    assert attempt.outcome is Outcome.LEASE_EXPIRED


def test_cancel_wins_over_a_drain(harness: Harness):
    run = harness.begin(timeout=300)
    now = harness.world.clock.now()
    harness.world.store.apply([request_cancel(run.task.id, now=now)])
    harness.loop.drain(GRACE)
    harness.after(HEARTBEAT)

    assert run.context.reason == "cancelled"
    assert stored(harness, run).status is Status.CANCELLED


def test_timeout_during_a_drain_is_a_timeout(harness: Harness):
    run = harness.begin(timeout=5)
    harness.loop.drain(GRACE)
    harness.after(5 * SECOND)
    assert run.context.reason == "timed_out"
    harness.end(run)

    attempt = stored(harness, run).current
    assert attempt is not None
    assert attempt.outcome is Outcome.TIMED_OUT


def test_lease_that_was_written_without_an_answer_ends_as_interrupted(harness: Harness):
    """Its message is not handed back: the attempt has begun in the table."""
    harness.store.deaf_to[Step.LEASE] = 1
    task_id = harness.world.submit(retry=ONCE)
    harness.accept()
    assert harness.world.status(task_id) is Status.RUNNING
    harness.loop.drain(GRACE)
    result = harness.after(WRITE_RETRY_DELAY)
    assert (result.started, result.not_started) == ([], 1)
    harness.step()

    task = harness.world.task(task_id)
    assert task.current is not None
    assert (task.status, task.current.outcome) == (Status.RETRYING, Outcome.INTERRUPTED)
    assert harness.loop.unfinished == 0


# the pool


@pytest.fixture
def python(world: World, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Returns what makes a task run a handler registered as `drained`."""
    monkeypatch.setattr(registry, "_handlers", {})
    world.executor = Executor(world.ports, {"python": run_handler})
    return {"target": {"type": "python", "handler": "drained"}, "retry": ONCE}


def test_pool_that_is_drained_ends_once_its_handlers_have(world: World):
    started, go = threading.Event(), threading.Event()

    def script(task: Any, ctx: Any) -> str:
        started.set()
        go.wait(PATIENCE)
        return "done"

    world.script = script
    with working(world) as pool:
        task_id = offer(world, pool)
        assert started.wait(PATIENCE)
        pool.drain(25)
        assert pool.wait_for_slots(0) >= 0
        go.set()
    late = world.submit()

    assert world.status(task_id) is Status.SUCCEEDED
    assert pool.not_stopped == 0
    assert world.status(late) is Status.ENQUEUED


def test_busy_handler_is_interrupted_after_the_grace_and_uses_up_no_attempt(world, python):
    started = threading.Event()

    @registry.task("drained")
    def spins(payload, ctx):
        started.set()
        while True:
            pass

    recorded = Recorded(world)
    with working(world, slots=1) as pool:
        task_id = offer(world, pool, timeout=300, **python)
        assert started.wait(PATIENCE)
        pool.drain(25)
        pool.take_in()
        step(world, pool, GRACE)
        recorded.wait(task_id)

    task = world.task(task_id)
    assert (task.status, task.current.outcome) == (Status.RETRYING, Outcome.INTERRUPTED)
    assert (task.attempt, task.budget) == (1, 2)


def test_run_that_no_thread_has_begun_is_interrupted_at_once(world: World, monkeypatch):
    started, go, ran = threading.Event(), threading.Event(), []

    def script(task: Any, ctx: Any) -> None:
        ran.append(task.id)
        started.set()
        go.wait(PATIENCE)

    world.script = script
    recorded = Recorded(world)
    with working(world, slots=2) as pool:
        first = offer(world, pool)
        assert started.wait(PATIENCE)
        monkeypatch.setattr(pool, "_start_thread", no_thread)
        second = offer(world, pool, retry=ONCE)
        pool.take_in()
        assert world.status(second) is Status.RUNNING
        pool.drain(25)
        recorded.wait(second)
        assert world.task(second).current.outcome is Outcome.INTERRUPTED
        go.set()

    assert ran == [first]
    assert world.status(first) is Status.SUCCEEDED


def no_thread() -> None:
    raise RuntimeError("can't start new thread")


# what handlers do about it


def test_handler_that_raises_because_of_the_drain_uses_up_no_attempt(harness: Harness, python):
    task = ran_during_a_drain(harness, python, lambda ctx: raise_if(ctx.cancelled))

    assert (task.status, task.current.outcome) == (Status.RETRYING, Outcome.INTERRUPTED)
    assert (task.current.error.type, task.current.error.message) == ("RuntimeError", "stopped")
    assert task.due_at == harness.world.clock.now()


def test_handler_that_has_not_seen_the_drain_fails_as_ever(harness: Harness, python):
    task = ran_during_a_drain(harness, python, lambda ctx: raise_if(True))

    assert (task.status, task.current.outcome) == (Status.DEAD, Outcome.FAILED)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(PermanentError("no"), Outcome.FAILED), (Snooze(30), Outcome.SNOOZED)],
    ids=repr,
)
def test_handler_that_says_what_follows_is_taken_at_its_word(
    harness: Harness, python, error, outcome
):
    def act(ctx: Any) -> None:
        if ctx.reason == "draining":
            raise error

    assert ran_during_a_drain(harness, python, act).current.outcome is outcome


def test_what_a_handler_returns_during_a_drain_is_its_result(harness: Harness, python):
    task = ran_during_a_drain(harness, python, lambda ctx: ctx.reason)

    assert (task.status, task.result) == (Status.SUCCEEDED, '"draining"')


def raise_if(stopping: bool) -> None:
    if stopping:
        raise RuntimeError("stopped")


def ran_during_a_drain(harness: Harness, python: dict[str, Any], act: Any) -> Task:
    @registry.task("drained")
    def handler(payload: Any, ctx: Any) -> Any:
        return act(ctx)

    run = harness.begin(**python)
    harness.loop.drain(GRACE)
    harness.step(harness.world.executor.run_target(run))
    return stored(harness, run)
