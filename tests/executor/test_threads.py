"""A machine on which no more threads can be started: runs wait for the existing threads."""

import errno
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from duetime.aws.parallel import ParallelCalls
from duetime.core.lifecycle import Outcome, Status
from duetime.core.retry import RetryPolicy
from duetime.core.times import MINUTE, SECOND, to_datetime
from duetime.executor.executor import Executor
from duetime.executor.isolation import supervised_process as child
from duetime.executor.isolation.templates import TEMPLATES
from duetime.executor.targets.python import run_handler
from duetime.executor.worker_pool import THREAD_RETRY_DELAY, WorkerPool
from duetime.handlers import registry
from tests.executor import isolated_handlers
from tests.executor.test_worker_pool import PATIENCE, offer, step, working
from tests.factories import result_of
from tests.world import World

ONCE = RetryPolicy(max_attempts=1)


class Scarce:
    """Lets `most` threads with a name prefix start, and refuses more."""

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
    return lambda most, prefix="executor": Scarce(monkeypatch, prefix, most)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelname == "WARNING"]


def test_all_tasks_run_in_the_threads_that_could_be_started(
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
    with working(world, slots=100) as pool:
        pool.offer(world.receive())
        for _ in range(3):
            assert started.acquire(timeout=PATIENCE)
        go.set()

    tasks = [world.task(task_id) for task_id in ids]
    assert {(task.status, task.attempt) for task in tasks} == {(Status.SUCCEEDED, 1)}
    assert names == {"executor-0", "executor-1", "executor-2"}
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
    with working(world) as pool:
        long = offer(world, pool, name="long", timeout=600)
        assert started.wait(PATIENCE)
        pool.take_in()  # the loop has put all wake-ups for the first run
        wake_ups = pool._wake_ups.qsize()
        short = world.submit(timeout=5, retry=ONCE)
        pool.take_in(*world.receive())
        for _ in range(6):
            step(world, pool, 10 * SECOND)
        step(world, pool, 3 * SECOND)  # less than its timeout, which then begins anew
        assert world.status(short) is Status.RUNNING
        assert world.task(short).lease_until > world.clock.now(), "its lease is kept"
        assert pool._wake_ups.qsize() == wake_ups, "a busy thread is not woken"
        go.set()

    assert [world.status(task_id) for task_id in (long, short)] == [Status.SUCCEEDED] * 2
    assert deadlines[1] == to_datetime(world.clock.now() + 5 * SECOND)


def test_run_that_has_waited_for_a_thread_has_its_whole_timeout(
    world: World, scarce: Callable[..., Scarce]
):
    scarce(1)
    events = {name: (threading.Event(), threading.Event()) for name in ("first", "second")}

    def script(task: Any, ctx: Any) -> None:
        started, go = events[task.spec.name]
        started.set()
        assert go.wait(PATIENCE)

    world.script = script
    with working(world) as pool:
        offer(world, pool, name="first", timeout=600)
        assert events["first"][0].wait(PATIENCE)
        second = world.submit(name="second", timeout=5, retry=ONCE)
        pool.take_in(*world.receive())
        step(world, pool, MINUTE)
        events["first"][1].set()
        assert events["second"][0].wait(PATIENCE)
        step(world, pool, 5 * SECOND)
        assert world.status(second) is Status.RUNNING, "it gets a moment to come back"
        events["second"][1].set()

    assert world.task(second).current.outcome is Outcome.TIMED_OUT


def test_pool_has_no_more_slots_than_threads_when_threads_are_scarce(
    world: World, scarce: Callable[..., Scarce]
):
    limit = scarce(2)
    started, go = threading.Semaphore(0), threading.Event()

    def script(task: Any, ctx: Any) -> None:
        started.release()
        go.wait(PATIENCE)

    world.script = script
    with working(world, slots=10) as pool:
        assert pool.wait_for_slots(0) == 10
        for _ in range(3):
            world.submit()
        pool.take_in(*world.receive())
        pool.take_in()
        assert limit.refused == 1
        assert pool.wait_for_slots(0) == 0
        go.set()
        for _ in range(3):
            assert started.acquire(timeout=PATIENCE)
        assert pool.wait_for_slots(PATIENCE) > 0


def test_pool_tries_to_start_threads_again_after_a_while(
    world: World, scarce: Callable[..., Scarce], caplog: pytest.LogCaptureFixture
):
    limit = scarce(1)
    together, started = threading.Barrier(2), threading.Semaphore(0)

    def script(task: Any, ctx: Any) -> None:
        started.release()
        together.wait(PATIENCE)

    world.script = script
    ids = [world.submit(timeout=600, retry=ONCE) for _ in range(2)]
    with working(world) as pool:
        pool.take_in(*world.receive())
        assert started.acquire(timeout=PATIENCE)
        for _ in range(5):
            step(world, pool, 10 * SECOND)
        assert limit.refused == 1, "not once a second"
        limit.most = 1
        step(world, pool, THREAD_RETRY_DELAY)
        assert started.acquire(timeout=PATIENCE)

    assert {world.status(task_id) for task_id in ids} == {Status.SUCCEEDED}
    assert len(warnings(caplog)) == 1


def test_pool_grows_again_although_it_has_no_more_slots_than_threads(
    world: World, scarce: Callable[..., Scarce]
):
    limit = scarce(1)
    go = threading.Event()
    world.script = lambda task, ctx: go.wait(PATIENCE)
    with working(world, slots=4) as pool:
        for _ in range(2):
            world.submit(timeout=600)
        pool.take_in(*world.receive())
        pool.take_in()
        go.set()
        assert pool.wait_for_slots(PATIENCE) == 1
        limit.most = 9
        step(world, pool, THREAD_RETRY_DELAY)
        assert pool.wait_for_slots(0) == 2, "one more, to see whether a thread can be had"
        go.clear()
        for _ in range(2):
            offer(world, pool, timeout=600)
        pool.take_in()
        pool.take_in()
        assert pool.wait_for_slots(0) == 2, "all four again"
        go.set()


def test_pool_without_any_thread_fails_before_it_leases_anything(
    world: World, scarce: Callable[..., Scarce]
):
    scarce(0)
    task_id = world.submit()
    pool = WorkerPool(world.executor, world.clock, 4)
    pool.offer(world.receive())

    with pytest.raises(RuntimeError, match="can't start new thread"):
        pool.run()
    assert world.status(task_id) is Status.ENQUEUED


def test_parallel_calls_use_the_threads_that_could_be_started(scarce: Callable[..., Scarce]):
    for most in (0, 2):
        scarce(most, "duetime-aws")
        fan_out = ParallelCalls(8)
        assert fan_out.each(lambda value: value * 2, range(50)) == [2 * n for n in range(50)]
        fan_out.close()


# isolated handlers


@pytest.fixture
def isolated(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Any]]:
    TEMPLATES.close()
    monkeypatch.setattr(registry, "_handlers", {})
    registry.task("isolated.later", isolated=True)(isolated_handlers.later)
    world.executor = Executor(world.ports, {"python": run_handler})

    def run() -> Any:
        target = {"type": "python", "handler": "isolated.later"}
        task_id = world.submit(target=target, retry=ONCE)
        world.deliver()
        return world.task(task_id)

    yield run
    TEMPLATES.close()


def test_isolated_handler_without_a_free_process_costs_no_attempt(
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
