"""A result that cannot be stored, however it comes about, fails its own attempt and no other."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from lambdas.core.change import Answer, Change
from lambdas.core.lifecycle import Outcome, Status, Step
from lambdas.core.retry import RetryPolicy
from lambdas.executor import executor as executor_module
from lambdas.executor.books import AGAIN
from lambdas.executor.crew import Crew
from tests.executor.test_books import Desk
from tests.factories import result_of
from tests.world import World

PATIENCE = 10.0  # seconds; whoever waits that long has failed
ONCE = RetryPolicy(max_attempts=1)


def nested(depth: int) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value]
    return value


def run_all(world: World, count: int, **fields: Any) -> list[str]:
    """The ids of so many tasks, after a crew has run them."""
    ids = [world.submit(payload=number, retry=ONCE, **fields) for number in range(count)]
    crew = Crew(world.executor, world.clock, count)
    crew.offer(world.receive())
    crew.close()
    pool = threading.Thread(target=crew.run, daemon=True)
    pool.start()
    pool.join(PATIENCE)
    assert not pool.is_alive()
    return ids


def test_results_near_the_depth_of_the_stack_end_no_crew(world: World):
    """Encoding one again elsewhere, with a little more on the stack, used to fail."""
    world.script = lambda task, ctx: nested(940 + task.spec.payload)
    ids = run_all(world, 70)

    assert {world.status(task_id) for task_id in ids} == {Status.DEAD}
    assert {world.task(task_id).current.error.type for task_id in ids} == {"BadResult"}


def test_result_that_another_thread_changes_later_is_stored_as_it_was(world: World):
    shared: dict[str, Any] = {"rows": 3}
    world.script = lambda task, ctx: shared
    execute = world.executor.execute

    def execute_and_change(run):
        end = execute(run)
        shared["later"] = object()
        return end

    world.executor.execute = execute_and_change
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
    """A store that fails over some changes, and over every batch that holds one."""

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
def desk(world: World) -> Desk:
    return Desk(world)


def failing(desk: Desk, *steps: Step) -> Failing:
    store = Failing(desk.store, set(steps))
    desk.executor._store = store
    return store


def test_success_that_the_store_fails_over_is_recorded_as_a_failure(
    desk: Desk, caplog: pytest.LogCaptureFixture
):
    store = failing(desk, Step.SUCCEED)
    bad, good = desk.begin(), desk.begin()
    store.task_id = bad.task.id
    desk.turn(desk.executor.execute(bad), desk.executor.execute(good))
    assert desk.world.status(good.task.id) is Status.SUCCEEDED, "it does not wait for the other"
    while desk.books.open:
        assert desk.books.next_timer is not None
        desk.world.advance_to(desk.books.next_timer)
        desk.turn()

    attempt = desk.world.task(bad.task.id).current
    assert attempt is not None
    assert attempt.error is not None
    assert (attempt.outcome, attempt.error.type) == (Outcome.FAILED, "BadResult")
    assert desk.world.status(bad.task.id) is Status.DEAD, "its work is done"
    failed = [record for record in caplog.records if record.message == "change not written"]
    assert {(record.task_id, record.attempt) for record in failed} == {(bad.task.id, 1)}


def test_success_over_which_the_store_fails_once_stays_a_success(desk: Desk):
    """It may be a disk that is full for a moment."""
    store = failing(desk, Step.SUCCEED)
    run = desk.begin()
    store.task_id = run.task.id
    desk.end(run)
    desk.after(AGAIN)
    store.task_id = None
    desk.after(2 * AGAIN)

    assert desk.world.status(run.task.id) is Status.SUCCEEDED


def test_failure_that_the_store_fails_over_is_given_up_in_the_end(desk: Desk):
    store = failing(desk, Step.SUCCEED, Step.BURY, Step.RETRY)
    bad = desk.begin()
    store.task_id = bad.task.id
    desk.turn(desk.executor.execute(bad))
    while desk.books.open:
        assert desk.books.next_timer is not None
        desk.world.advance_to(desk.books.next_timer)
        desk.turn()

    assert desk.world.status(bad.task.id) is Status.RUNNING, "until its lease has run out"


def test_lease_that_the_store_fails_over_holds_up_no_other(desk: Desk):
    store = failing(desk, Step.LEASE)
    store.task_id = desk.world.submit()
    other = desk.world.submit()

    assert [run.task.id for run in desk.take().begun] == [other]
    assert desk.books.open == 2


def test_renewal_that_the_store_fails_over_is_like_one_without_an_answer(desk: Desk):
    store = failing(desk, Step.RENEW)
    bad, good = desk.begin(timeout=300), desk.begin(timeout=300)
    store.task_id = bad.task.id
    began = desk.world.clock.now()
    desk.executor.renew([bad, good])

    assert not bad.context.lease_lost
    assert desk.world.task(good.task.id).lease_until == began + 45_000


def test_outcome_of_which_no_change_can_be_made_is_a_failure(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    def no_change(*_: Any, **__: Any) -> Change:
        raise ValueError("it cannot be said")

    monkeypatch.setattr(executor_module, "succeed", no_change)
    run = desk.begin(retry=ONCE)
    desk.end(run)

    assert desk.world.status(run.task.id) is Status.DEAD


def test_attempt_that_cannot_be_reported_still_frees_its_slot(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    def no_report(*_: Any) -> Any:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(executor_module, "failed", no_report)
    world.script = lambda task, ctx: 1 / 0
    [task_id] = run_all(world, 1)

    assert world.task(task_id).current.error.type == "Unreported"
