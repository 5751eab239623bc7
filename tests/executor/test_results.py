"""A result that cannot be stored fails its own attempt and no other."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from duetime.core.change import Answer, Change
from duetime.core.lifecycle import Outcome, Status, Step
from duetime.core.retry import RetryPolicy
from duetime.executor import executor as executor_module
from duetime.executor import target_runner
from duetime.executor.attempt_loop import WRITE_RETRY_DELAY
from duetime.executor.worker_pool import WorkerPool
from tests.executor.test_attempt_loop import Harness
from tests.factories import result_of
from tests.world import World

PATIENCE = 10.0  # seconds; a wait that long is a failure
ONCE = RetryPolicy(max_attempts=1)


def nested(depth: int) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value]
    return value


def run_all(world: World, count: int, **fields: Any) -> list[str]:
    """Returns the ids of `count` tasks after a pool has run them."""
    ids = [world.submit(payload=number, retry=ONCE, **fields) for number in range(count)]
    pool = WorkerPool(world.executor, world.clock, count)
    pool.offer(world.receive())
    pool.close()
    pool = threading.Thread(target=pool.run, daemon=True)
    pool.start()
    pool.join(PATIENCE)
    assert not pool.is_alive()
    return ids


def test_results_near_the_stack_limit_do_not_end_the_pool(world: World):
    """Encoding the result a second time, deeper in the stack, would fail."""
    world.script = lambda task, ctx: nested(940 + task.spec.payload)
    ids = run_all(world, 70)

    assert {world.status(task_id) for task_id in ids} == {Status.DEAD}
    assert {world.task(task_id).current.error.type for task_id in ids} == {"BadResult"}


def test_result_that_another_thread_changes_later_is_stored_as_it_was(world: World):
    shared: dict[str, Any] = {"rows": 3}
    world.script = lambda task, ctx: shared
    run_target = world.executor.run_target

    def run_and_change(run):
        end = run_target(run)
        shared["later"] = object()
        return end

    world.executor.run_target = run_and_change
    [task_id] = run_all(world, 1)

    assert result_of(world.task(task_id)) == {"rows": 3}


class Changing(dict):
    """What `dict` raises when another thread adds to it while it is read."""

    def items(self):
        raise RuntimeError("dictionary changed size during iteration")


def test_result_that_changes_while_it_is_encoded_fails_its_attempt(world: World):
    world.script = lambda task, ctx: Changing(a=1) if task.spec.payload == 0 else "done"
    bad, good = run_all(world, 2)

    assert world.task(bad).current.error.type == "BadResult"
    assert world.status(good) is Status.SUCCEEDED


class Failing:
    """A store that raises for some changes, and for every batch with one of them."""

    def __init__(self, store: Any, steps: set[Step], task_id: str | None = None) -> None:
        self._store = store
        self._steps = steps
        self.task_id = task_id

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        if any(c.step in self._steps and c.task_id == self.task_id for c in changes):
            raise OverflowError("Python int too large to convert to SQLite INTEGER")
        answers: list[Answer] = self._store.apply(changes)
        return answers


@pytest.fixture
def harness(world: World) -> Harness:
    return Harness(world)


def failing(harness: Harness, *steps: Step) -> Failing:
    store = Failing(harness.store, set(steps))
    harness.executor._store = store
    return store


def test_success_that_makes_the_store_raise_is_recorded_as_a_failure(
    harness: Harness, caplog: pytest.LogCaptureFixture
):
    store = failing(harness, Step.SUCCEED)
    bad, good = harness.begin(), harness.begin()
    store.task_id = bad.task.id
    harness.step(harness.executor.run_target(bad), harness.executor.run_target(good))
    assert harness.world.status(good.task.id) is Status.SUCCEEDED, "it does not wait for the other"
    while harness.loop.unfinished:
        assert harness.loop.next_timer is not None
        harness.world.advance_to(harness.loop.next_timer)
        harness.step()

    attempt = harness.world.task(bad.task.id).current
    assert attempt is not None
    assert attempt.error is not None
    assert (attempt.outcome, attempt.error.type) == (Outcome.FAILED, "BadResult")
    assert harness.world.status(bad.task.id) is Status.DEAD, "its work is done"
    failed = [record for record in caplog.records if record.message == "change not written"]
    assert {(record.task_id, record.attempt) for record in failed} == {(bad.task.id, 1)}


def test_success_that_makes_the_store_raise_once_stays_a_success(harness: Harness):
    """A disk may be full for a moment."""
    store = failing(harness, Step.SUCCEED)
    run = harness.begin()
    store.task_id = run.task.id
    harness.end(run)
    harness.after(WRITE_RETRY_DELAY)
    store.task_id = None
    harness.after(2 * WRITE_RETRY_DELAY)

    assert harness.world.status(run.task.id) is Status.SUCCEEDED


def test_failure_that_makes_the_store_raise_is_abandoned_in_the_end(harness: Harness):
    store = failing(harness, Step.SUCCEED, Step.BURY, Step.RETRY)
    bad = harness.begin()
    store.task_id = bad.task.id
    harness.step(harness.executor.run_target(bad))
    while harness.loop.unfinished:
        assert harness.loop.next_timer is not None
        harness.world.advance_to(harness.loop.next_timer)
        harness.step()

    assert harness.world.status(bad.task.id) is Status.RUNNING, "until its lease has run out"


def test_lease_that_makes_the_store_raise_delays_no_other(harness: Harness):
    store = failing(harness, Step.LEASE)
    store.task_id = harness.world.submit()
    other = harness.world.submit()

    assert [run.task.id for run in harness.accept().started] == [other]
    assert harness.loop.unfinished == 2


def test_renewal_that_makes_the_store_raise_counts_as_not_answered(harness: Harness):
    store = failing(harness, Step.RENEW)
    bad, good = harness.begin(timeout=300), harness.begin(timeout=300)
    store.task_id = bad.task.id
    began = harness.world.clock.now()
    harness.executor.renew([bad, good])

    assert not bad.control.lease_lost
    assert harness.world.task(good.task.id).lease_until == began + 45_000


def test_outcome_that_no_change_can_express_is_a_failure(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
):
    def no_change(*_: Any, **__: Any) -> Change:
        raise ValueError("no change for it")

    monkeypatch.setattr(executor_module, "succeed", no_change)
    run = harness.begin(retry=ONCE)
    harness.end(run)

    assert harness.world.status(run.task.id) is Status.DEAD


def test_attempt_that_cannot_be_reported_still_frees_its_slot(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    def no_report(*_: Any) -> Any:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(target_runner, "failed", no_report)
    world.script = lambda task, ctx: 1 / 0
    [task_id] = run_all(world, 1)

    assert world.task(task_id).current.error.type == "Unreported"
