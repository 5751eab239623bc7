"""Tasks that are stored with the lease of their first attempt, on both backends."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Outcome, Status
from duetime.core.steps.cancel import request_cancel
from duetime.core.steps.lease import LENGTH, WATCH_AFTER
from duetime.core.steps.submit import submit
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND
from duetime.executor.attempt_loop import WRITE_RETRY_DELAY, AttemptLoop
from duetime.executor.new_tasks import NewTasks
from duetime.executor.runs import Run
from tests.factories import a_spec, result_of
from tests.world import World


def new_tasks(world: World, count: int = 1) -> list[Task]:
    now = world.clock.now()
    spec = a_spec(run_at=now)
    return [
        submit(world.wake_policy, world.chance.new_id(now), spec, now=now, draw=world.chance.draw())
        for _ in range(count)
    ]


class Submission:
    """New tasks on their way to the store of a world. `answer` may replace its answer."""

    def __init__(self, world: World, count: int = 1, slots: int | None = None) -> None:
        self._world = world
        self.answer: Callable[[Callable[[], bool]], bool] = lambda write: write()
        self.new = NewTasks(new_tasks(world, count), self._write)
        self.new.slots = count if slots is None else slots

    @property
    def ids(self) -> list[str]:
        return [task.id for task in self.new.tasks]

    def _write(self, leased: Sequence[Task]) -> Callable[[], bool]:
        tasks = [*leased, *self.new.tasks[len(leased) :]]
        return lambda: self.answer(lambda: self._put(tasks))

    def _put(self, tasks: Sequence[Task]) -> bool:
        answers = self._world.store.put(tasks)
        if any(isinstance(answer, Unknown) for answer in answers):
            raise Unavailable("no answer")
        return True


def loop_of(world: World) -> AttemptLoop:
    return AttemptLoop(world.executor, world.clock)


def finish(world: World, loop: AttemptLoop, runs: Sequence[Run]) -> None:
    loop.step([world.executor.run_target(run) for run in runs])


def test_new_tasks_run_without_a_message(world: World):
    loop, submission = loop_of(world), Submission(world, count=3)
    result = loop.step(new=[submission.new])
    assert [world.task(i).status for i in submission.ids] == [Status.RUNNING] * 3
    finish(world, loop, result.started)

    assert (submission.new.stored, submission.new.started) == (True, 3)
    assert result.not_started == 0
    for task in map(world.task, submission.ids):
        assert (task.status, task.attempt, result_of(task)) == (Status.SUCCEEDED, 1, "done")
    assert world.starts == submission.ids
    assert world.lanes.sent == []
    assert world.awake() == []


def test_only_as_many_new_tasks_start_as_have_slots(world: World):
    submission = Submission(world, count=3, slots=2)
    result = loop_of(world).step(new=[submission.new])

    assert len(result.started) == submission.new.started == 2
    statuses = [world.status(task_id) for task_id in submission.ids]
    assert statuses == [Status.RUNNING, Status.RUNNING, Status.ENQUEUED]


def test_new_tasks_are_stored_with_the_write_that_records_what_has_ended(world: World):
    order: list[str] = []
    loop, first, second = loop_of(world), Submission(world), Submission(world)
    runs = loop.step(new=[first.new]).started
    second.answer = lambda write: bool(order.append("waited for")) or write()
    world.store.before["apply"] = lambda: order.append("recorded")
    loop.step([world.executor.run_target(run) for run in runs], [second.new])

    assert order == ["recorded", "waited for"]  # queued before, so one commit has both
    assert world.status(first.ids[0]) is Status.SUCCEEDED
    assert world.status(second.ids[0]) is Status.RUNNING


def test_new_tasks_with_a_taken_id_start_nothing_and_free_their_slots(world: World):
    loop, submission = loop_of(world), Submission(world, count=3)
    submission.answer = lambda write: False
    result = loop.step(new=[submission.new])

    assert (submission.new.stored, submission.new.started) == (False, 0)
    assert (list(result.started), result.not_started) == ([], 3)
    assert loop.unfinished == 0


def unanswered(made: bool) -> Callable[[Callable[[], bool]], bool]:
    def answer(write: Callable[[], bool]) -> Any:
        if made:
            write()
        raise Unavailable("no answer")

    return answer


def test_task_that_was_stored_without_an_answer_starts_when_that_is_found_out(world: World):
    loop, submission = loop_of(world), Submission(world, count=2)
    submission.answer = unanswered(made=True)
    result = loop.step(new=[submission.new])
    assert (list(result.started), result.not_started) == ([], 0)  # they keep their slots
    assert isinstance(submission.new.error, Unavailable)

    world.clock.advance(WRITE_RETRY_DELAY)
    later = loop.step()
    finish(world, loop, later.started)

    assert [world.task(i).attempt for i in submission.ids] == [1, 1]
    assert [world.status(i) for i in submission.ids] == [Status.SUCCEEDED] * 2
    assert world.starts == submission.ids


def test_task_that_was_not_stored_is_given_up_when_that_is_found_out(world: World):
    loop, submission = loop_of(world), Submission(world, count=2)
    submission.answer = unanswered(made=False)
    loop.step(new=[submission.new])
    world.clock.advance(WRITE_RETRY_DELAY)
    later = loop.step()

    assert (list(later.started), later.not_started) == ([], 2)
    assert loop.unfinished == 0
    assert world.store.get(submission.ids) == {}


@pytest.mark.parametrize("made", [True, False])
def test_no_run_begins_before_the_store_has_answered(world: World, made: bool):
    submission = Submission(world)
    submission.answer = unanswered(made)

    assert list(loop_of(world).step(new=[submission.new]).started) == []


def test_new_task_whose_executor_dies_before_it_runs_is_retried_when_its_lease_has_run_out(
    world: World,
):
    submission = Submission(world)
    loop_of(world).step(new=[submission.new])  # and the process dies
    [task_id] = submission.ids
    world.clock.advance(LENGTH + WATCH_AFTER + 5 * MINUTE)
    world.scanner.tick()
    task = world.task(task_id)
    assert (task.status, task.current and task.current.outcome) == (
        Status.RETRYING,
        Outcome.LEASE_EXPIRED,
    )

    world.clock.advance(MINUTE)
    world.scanner.tick()
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED
    assert world.task(task_id).attempt == 2


def test_new_task_that_was_cancelled_while_it_runs_is_stopped(world: World):
    loop, submission = loop_of(world), Submission(world)
    runs = loop.step(new=[submission.new]).started
    world.store.apply([request_cancel(submission.ids[0], now=world.clock.now())])
    world.clock.advance(10 * SECOND)
    loop.step()
    finish(world, loop, runs)

    assert world.status(submission.ids[0]) is Status.CANCELLED


def test_loop_that_drains_interrupts_new_tasks_before_they_run(world: World):
    loop, submission = loop_of(world), Submission(world)
    loop.drain(30 * SECOND)
    result = loop.step(new=[submission.new])
    loop.step()

    task = world.task(submission.ids[0])
    assert (list(result.started), result.not_started) == ([], 1)
    assert (task.status, task.budget - task.attempt) == (
        Status.RETRYING,
        submission.new.tasks[0].budget,
    )
    assert world.starts == []
