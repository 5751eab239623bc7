"""A machine on which no more threads can be started: work waits for the threads that there are."""

import errno
import threading
from collections.abc import Callable
from typing import Any

import pytest

from lambdas import registry
from lambdas.aws.fan_out import FanOut
from lambdas.core.lifecycle import Outcome, Status
from lambdas.core.retry import RetryPolicy
from lambdas.core.times import MINUTE, SECOND, to_datetime
from lambdas.executor import child
from lambdas.executor.crew import THREADS_AGAIN, Crew
from lambdas.executor.executor import Executor
from lambdas.executor.targets.python import run_handler
from tests.executor import isolated_handlers
from tests.executor.test_crew import PATIENCE, offer, step, working
from tests.factories import result_of
from tests.world import World

ONCE = RetryPolicy(max_attempts=1)


class Scarce:
    """Lets so many threads of a name be started, and no more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, prefix: str, most: int) -> None:
        self.most = most
        self.refused = 0
        start = threading.Thread.start

        def start_if_any_are_left(thread: threading.Thread) -> None:
            if thread.name.startswith(prefix) and not thread.name.endswith("-guard"):
                if self.most <= 0:
                    self.refused += 1
                    raise RuntimeError("can't start new thread")
                self.most -= 1
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_if_any_are_left)


@pytest.fixture
def scarce(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Scarce]:
    return lambda most, prefix="crew": Scarce(monkeypatch, prefix, most)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelname == "WARNING"]


def test_all_tasks_run_in_the_threads_that_there_are(
    world: World, scarce: Callable[..., Scarce], caplog: pytest.LogCaptureFixture
):
    scarce(3)
    started, go, names = threading.Semaphore(0), threading.Event(), set()

    def script(task: Any, ctx: Any) -> None:
        names.add(threading.current_thread().name)
        started.release()
        assert go.wait(PATIENCE)

    world.script = script
    ids = [world.submit(retry=ONCE) for _ in range(100)]
    with working(world, slots=100) as crew:
        crew.offer(world.receive())
        for _ in range(3):
            assert started.acquire(timeout=PATIENCE)
        go.set()

    tasks = [world.task(task_id) for task_id in ids]
    assert {(task.status, task.attempt) for task in tasks} == {(Status.SUCCEEDED, 1)}
    assert names == {"crew-0", "crew-1", "crew-2"}
    assert warnings(caplog) == ["thread not started, fewer are used: can't start new thread"]


def test_run_that_waits_for_a_thread_is_not_timed_out(world: World, scarce: Callable[..., Scarce]):
    scarce(1)
    started, go = threading.Event(), threading.Event()
    deadlines = []

    def script(task: Any, ctx: Any) -> str:
        if task.spec.name == "long":
            started.set()
            assert go.wait(PATIENCE)
        deadlines.append(ctx.deadline)
        return "done"

    world.script = script
    with working(world) as crew:
        long = offer(world, crew, name="long", timeout=600)
        assert started.wait(PATIENCE)
        short = world.submit(timeout=5, retry=ONCE)
        crew.take_in(*world.receive())
        for _ in range(6):
            step(world, crew, 10 * SECOND)
        step(world, crew, 3 * SECOND)  # not all of its timeout, and it is counted anew all the same
        assert world.status(short) is Status.RUNNING
        assert world.task(short).lease_until > world.clock.now(), "its lease is kept"
        assert crew._bell.qsize() <= 1, "nobody rings for a thread that is busy"
        go.set()

    assert [world.status(task_id) for task_id in (long, short)] == [Status.SUCCEEDED] * 2
    assert deadlines[1] == to_datetime(world.clock.now() + 5 * SECOND)


def test_run_that_has_waited_for_a_thread_has_its_timeout_then(
    world: World, scarce: Callable[..., Scarce]
):
    scarce(1)
    events = {name: (threading.Event(), threading.Event()) for name in ("first", "second")}

    def script(task: Any, ctx: Any) -> None:
        started, go = events[task.spec.name]
        started.set()
        assert go.wait(PATIENCE)

    world.script = script
    with working(world) as crew:
        offer(world, crew, name="first", timeout=600)
        assert events["first"][0].wait(PATIENCE)
        second = world.submit(name="second", timeout=5, retry=ONCE)
        crew.take_in(*world.receive())
        step(world, crew, MINUTE)
        events["first"][1].set()
        assert events["second"][0].wait(PATIENCE)
        step(world, crew, 5 * SECOND)
        assert world.status(second) is Status.RUNNING, "it gets a moment to come back"
        events["second"][1].set()

    assert world.task(second).current.outcome is Outcome.TIMED_OUT


def test_no_more_messages_are_taken_in_than_there_are_threads(
    world: World, scarce: Callable[..., Scarce]
):
    limit = scarce(2)
    started, go = threading.Semaphore(0), threading.Event()

    def script(task: Any, ctx: Any) -> None:
        started.release()
        go.wait(PATIENCE)

    world.script = script
    with working(world, slots=10) as crew:
        assert crew.wait_for_slots(0) == 10
        for _ in range(3):
            world.submit()
        crew.take_in(*world.receive())
        crew.take_in()
        assert limit.refused == 1
        assert crew.wait_for_slots(0) == 0
        go.set()
        for _ in range(3):
            assert started.acquire(timeout=PATIENCE)
        assert crew.wait_for_slots(PATIENCE) > 0


def test_threads_are_tried_again_after_a_while(
    world: World, scarce: Callable[..., Scarce], caplog: pytest.LogCaptureFixture
):
    limit = scarce(1)
    together, started = threading.Barrier(2), threading.Semaphore(0)

    def script(task: Any, ctx: Any) -> None:
        started.release()
        together.wait(PATIENCE)

    world.script = script
    ids = [world.submit(timeout=600, retry=ONCE) for _ in range(2)]
    with working(world) as crew:
        crew.take_in(*world.receive())
        assert started.acquire(timeout=PATIENCE)
        for _ in range(5):
            step(world, crew, 10 * SECOND)
        assert limit.refused == 1, "not once a second"
        limit.most = 1
        step(world, crew, THREADS_AGAIN)
        assert started.acquire(timeout=PATIENCE)

    assert {world.status(task_id) for task_id in ids} == {Status.SUCCEEDED}
    assert len(warnings(caplog)) == 1


def test_crew_grows_again_although_it_takes_in_no_more_than_it_has_threads(
    world: World, scarce: Callable[..., Scarce]
):
    limit = scarce(1)
    go = threading.Event()
    world.script = lambda task, ctx: go.wait(PATIENCE)
    with working(world, slots=4) as crew:
        for _ in range(2):
            world.submit(timeout=600)
        crew.take_in(*world.receive())
        crew.take_in()
        go.set()
        assert crew.wait_for_slots(PATIENCE) == 1
        limit.most = 9
        step(world, crew, THREADS_AGAIN)
        assert crew.wait_for_slots(0) == 2, "one more, to see whether a thread can be had"
        go.clear()
        for _ in range(2):
            offer(world, crew, timeout=600)
        crew.take_in()
        crew.take_in()
        assert crew.wait_for_slots(0) == 2, "all four again"
        go.set()


def test_crew_without_any_thread_fails_before_it_has_leased_anything(
    world: World, scarce: Callable[..., Scarce]
):
    scarce(0)
    task_id = world.submit()
    crew = Crew(world.executor, world.clock, 4)
    crew.offer(world.receive())

    with pytest.raises(RuntimeError, match="can't start new thread"):
        crew.run()
    assert world.status(task_id) is Status.ENQUEUED


def test_calls_side_by_side_are_made_in_the_threads_that_there_are(scarce: Callable[..., Scarce]):
    for most in (0, 2):
        scarce(most, "duetime-aws")
        fan_out = FanOut(8)
        assert fan_out.each(lambda value: value * 2, range(50)) == [2 * n for n in range(50)]
        fan_out.close()


# isolated handlers


@pytest.fixture
def isolated(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    monkeypatch.setattr(registry, "_handlers", {})
    registry.task("isolated.later", isolated=True)(isolated_handlers.later)
    world.executor = Executor(world.ports, {"python": run_handler})

    def run() -> Any:
        target = {"type": "python", "handler": "isolated.later"}
        task_id = world.submit(target=target, retry=ONCE)
        world.deliver()
        return world.task(task_id)

    return run


def test_child_for_which_there_is_no_process_costs_no_attempt(
    world: World, isolated: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
):
    def refused(*_: Any, **__: Any) -> Any:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    with monkeypatch.context() as patched:
        patched.setattr(child, "_start", refused)
        task = isolated()
    assert (task.status, task.current.outcome) == (Status.RETRYING, Outcome.SNOOZED)
    assert "no child could be started" in task.current.error.message

    world.advance_to(task.due_at)
    world.deliver()
    assert result_of(world.task(task.id)) == "async"


def test_child_that_cannot_be_started_for_another_reason_fails(
    isolated: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
):
    def refused(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError(errno.ENOENT, "no such interpreter")

    monkeypatch.setattr(child, "_start", refused)

    assert isolated().status is Status.DEAD
