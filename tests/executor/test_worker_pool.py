"""The worker pool with real threads. Tests advance the clock; an empty offer wakes the loop."""

import gc
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import pytest

from duetime.core.delivery import Message
from duetime.core.errors import Stopped
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Outcome, Status
from duetime.core.retry import RetryPolicy
from duetime.core.steps.cancel import request_cancel
from duetime.core.steps.lease import HEARTBEAT, LENGTH
from duetime.core.steps.record import lease_expired
from duetime.core.steps.submit import submit
from duetime.core.task import Task
from duetime.core.times import SECOND
from duetime.executor import worker_pool
from duetime.executor.attempt_loop import STOP_GRACE
from duetime.executor.executor import Executor
from duetime.executor.new_tasks import NewTasks
from duetime.executor.run_control import RunControl
from duetime.executor.runs import Ended, Run
from duetime.executor.targets.python import run_handler
from duetime.executor.worker_pool import WorkerPool
from duetime.handlers import registry
from tests.executor import isolated_handlers
from tests.factories import a_spec, result_of
from tests.world import WAKE_POLICY, World

PATIENCE = 60.0  # seconds; a wait that long is a failure
ONCE = RetryPolicy(max_attempts=1)


class Recorded:
    """An event for every outcome that the executor has recorded."""

    def __init__(self, world: World) -> None:
        self._real = world.executor.record_and_lease
        self._done: dict[str, threading.Event] = {}
        world.executor.record_and_lease = self._record_and_lease

    def wait(self, task_id: str) -> None:
        assert self._event(task_id).wait(PATIENCE), f"no outcome of {task_id}"

    def _record_and_lease(self, *, ended: Any, due: Any, new: Any) -> list[Run]:
        runs = self._real(ended=ended, due=due, new=new)
        for end in ended:
            self._event(end.run.task.id).set()
        return runs

    def _event(self, task_id: str) -> threading.Event:
        return self._done.setdefault(task_id, threading.Event())


class Observed(WorkerPool):
    """A pool whose loop iterations a test can wait for."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._rounds = 0
        self._ended = False
        self._round_begins = threading.Condition()

    def take_in(self, *messages: Message) -> None:
        """Offer messages, and wait until the loop thread has processed them, or has ended, as it
        does when a drain is over."""
        before = self._rounds
        self.offer(messages)
        for rounds in (1, 2):  # an iteration may have been under way
            with self._round_begins:
                seen = lambda: self._ended or self._rounds >= before + rounds  # noqa: B023, E731
                assert self._round_begins.wait_for(seen, PATIENCE)
            self.offer([])

    def run(self) -> None:
        try:
            super().run()
        finally:
            with self._round_begins:
                self._ended = True
                self._round_begins.notify_all()

    def _wait_for_arrivals(self) -> list[Ended]:
        with self._round_begins:
            self._rounds += 1
            self._round_begins.notify_all()
        return super()._wait_for_arrivals()


@contextmanager
def working(world: World, slots: int = 4) -> Iterator[Observed]:
    pool = Observed(world.executor, world.clock, slots)
    loop_thread = threading.Thread(target=pool.run, daemon=True)
    loop_thread.start()
    yield pool
    pool.close()
    loop_thread.join(PATIENCE)
    assert not loop_thread.is_alive()


def offer(world: World, pool: WorkerPool, **fields: Any) -> str:
    task_id = world.submit(**fields)
    pool.offer(world.receive())
    return task_id


def step(world: World, pool: Observed, by: int) -> None:
    world.advance(by)
    pool.take_in()


def comes_early(world: World) -> Message:
    """Returns the last message that was sent, as a queue with a clock ahead may deliver it."""
    world.lanes.port.purge()
    world.lanes.port._queues[Queue(Lane.MEDIUM)].push(world.lanes.sent[-1], 0)
    [message] = world.receive()
    return message


def test_pool_runs_attempts_in_parallel(world: World):
    together = threading.Barrier(3)
    world.script = lambda task, ctx: together.wait(PATIENCE)
    with working(world) as pool:
        ids = [world.submit() for _ in range(3)]
        pool.offer(world.receive())

    assert [world.status(task_id) for task_id in ids] == [Status.SUCCEEDED] * 3


class Inbox(SimpleQueue):
    """Says when something has arrived that the loop has not seen."""

    def __init__(self) -> None:
        self.arrived = threading.Event()

    def put(self, *args: Any) -> None:
        super().put(*args)
        self.arrived.set()


class Pauses:
    """The pauses of a loop that waits for more outcomes: in each of them another handler ends."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch, slots: int) -> None:
        self._ends = {number: threading.Event() for number in range(slots)}
        self._monkeypatch = monkeypatch
        self._running = threading.Barrier(slots + 1)
        self.pool: WorkerPool
        self.count = 0
        self.writes: list[int] = []
        self._twice = threading.Event()
        self._real = world.executor.record_and_lease
        world.executor.record_and_lease = self._record_and_lease
        world.script = self._run

    def _run(self, task: Any, ctx: Any) -> None:
        self._running.wait(PATIENCE)
        assert self._ends[task.spec.payload].wait(PATIENCE)

    def _record_and_lease(self, *, ended: Any, due: Any, new: Any) -> Any:
        if ended:
            self.writes.append(len(ended))
            if len(self.writes) == 1:
                self._end_next()
            else:
                self._twice.set()
        return self._real(ended=ended, due=due, new=new)

    def _end_next(self) -> None:
        self._ends[sum(event.is_set() for event in self._ends.values())].set()

    def pause(self, seconds: float) -> None:
        assert 0 < seconds <= worker_pool.LOOK_EVERY / SECOND
        self.count += 1
        if self._twice.is_set():
            return
        inbox = self.pool._inbox
        inbox.arrived.clear()
        self._end_next()
        assert inbox.arrived.wait(PATIENCE)

    def run(self, world: World, slots: int) -> None:
        self._monkeypatch.setattr(worker_pool, "sleep", self.pause)
        self.pool = WorkerPool(world.executor, world.clock, slots)
        self.pool._inbox = Inbox()
        loop = threading.Thread(target=self.pool.run, daemon=True)
        loop.start()
        for number in range(slots):
            world.submit(payload=number)
        self.pool.offer(world.receive())
        self._running.wait(PATIENCE)
        self._end_next()
        assert self._twice.wait(PATIENCE)
        for event in self._ends.values():
            event.set()
        self.pool.close()
        loop.join(PATIENCE)


def test_pool_records_outcomes_together_while_enough_other_runs_go_on(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    slots = worker_pool.CORES + 3 * worker_pool.ENOUGH_RUNS
    pauses = Pauses(world, monkeypatch, slots)
    pauses.run(world, slots)

    assert pauses.writes[1] > 1


def test_pool_records_an_outcome_at_once_if_few_other_runs_go_on(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    slots = worker_pool.CORES + worker_pool.ENOUGH_RUNS
    pauses = Pauses(world, monkeypatch, slots)
    pauses.run(world, slots)

    assert pauses.writes[:2] == [1, 1]
    assert pauses.count == 0


def test_pool_with_one_slot_runs_all_tasks_in_one_thread(world: World):
    names = set()
    world.script = lambda task, ctx: names.add(threading.current_thread().name)
    recorded = Recorded(world)
    with working(world, slots=1) as pool:
        for _ in range(5):
            recorded.wait(offer(world, pool))

    assert names == {"executor-0"}


def test_slot_is_used_until_the_handler_has_returned(world: World):
    go = threading.Event()
    world.script = lambda task, ctx: go.wait(PATIENCE)
    with working(world, slots=2) as pool:
        assert pool.wait_for_slots(0) == 2
        offer(world, pool)
        assert pool.wait_for_slots(0) == 1
        offer(world, pool)
        assert pool.wait_for_slots(0) == 0
        go.set()
        assert pool.wait_for_slots(PATIENCE) >= 1
        assert pool.wait_for_slots(PATIENCE, 2) == 2

    assert pool.wait_for_slots(0) == 2


def test_message_that_starts_nothing_frees_its_slot(world: World):
    recorded = Recorded(world)
    with working(world, slots=3) as pool:
        task_id = offer(world, pool)
        recorded.wait(task_id)
        spent = world.lanes.deleted[0].delivery
        world.lanes.send([spent], world.clock.now())
        pool.take_in(*world.receive())  # its token is spent
        assert pool.wait_for_slots(0) == 3

        early = world.submit(due_in=2 * SECOND + 1)
        pool.take_in(comes_early(world))  # it is handed back
        assert pool.wait_for_slots(0) == 3
        world.advance(SECOND + 1)
        assert [message.delivery.task_id for message in world.receive()] == [early]

    assert world.starts == [task_id]


def test_pool_waits_for_a_message_that_is_a_little_early(world: World):
    recorded = Recorded(world)
    with working(world) as pool:
        task_id = world.submit(due_in=2 * SECOND)
        pool.take_in(comes_early(world))
        assert pool.wait_for_slots(0) == 3
        step(world, pool, 2 * SECOND - 1)
        assert world.status(task_id) is Status.ENQUEUED
        step(world, pool, 1)
        recorded.wait(task_id)

    assert world.task(task_id).current.drift_ms == 0


def test_timeout_is_recorded_and_the_handler_is_asked_to_stop(world: World):
    started, go, stop_seen = threading.Event(), threading.Event(), []

    def script(task, ctx):
        started.set()
        go.wait(PATIENCE)
        stop_seen.append(ctx.cancelled)
        return "too late"

    world.script = script
    recorded = Recorded(world)
    with working(world, slots=1) as pool:
        task_id = offer(world, pool, timeout=5, retry=ONCE)
        assert started.wait(PATIENCE)
        step(world, pool, 5 * SECOND - 1)
        assert world.status(task_id) is Status.RUNNING
        step(world, pool, 1)
        assert pool.running == 1, "the handler gets a moment to come back"
        step(world, pool, STOP_GRACE)
        recorded.wait(task_id)
        assert pool.running == 0
        assert pool.wait_for_slots(0) == 0, "the handler still has its thread"
        go.set()
        assert pool.wait_for_slots(PATIENCE) == 1

    task = world.task(task_id)
    assert (task.status, task.current.outcome) == (Status.DEAD, Outcome.TIMED_OUT)
    assert task.current.error.message == "not done after its timeout of 5 s"
    assert stop_seen == [True]
    assert task.result is None
    assert (len(world.lanes.buried), world.lanes.deleted) == (1, [])


def test_pool_renews_the_leases_of_long_runs(world: World):
    started, go = threading.Event(), threading.Event()

    def script(task, ctx):
        started.set()
        go.wait(PATIENCE)

    world.script = script
    renewed = threading.Semaphore(0)
    renew = world.executor.renew
    world.executor.renew = lambda runs: (renew(runs), renewed.release())
    with working(world) as pool:
        task_id = offer(world, pool, timeout=600)
        assert started.wait(PATIENCE)
        for _ in range(6):
            step(world, pool, HEARTBEAT)
            assert renewed.acquire(timeout=PATIENCE)
        assert world.task(task_id).lease_until == world.clock.now() + LENGTH
        go.set()

    assert world.status(task_id) is Status.SUCCEEDED


def test_cancel_is_recorded_at_the_next_heartbeat_and_the_handler_is_asked_to_stop(world: World):
    started, go, stop_seen = threading.Event(), threading.Event(), SimpleQueue()

    def script(task, ctx):
        started.set()
        go.wait(PATIENCE)
        stop_seen.put(ctx.cancelled)
        return "too late"

    world.script = script
    recorded = Recorded(world)
    with working(world) as pool:
        task_id = offer(world, pool)
        assert started.wait(PATIENCE)
        world.store.apply([request_cancel(task_id, now=world.clock.now())])
        step(world, pool, HEARTBEAT)
        recorded.wait(task_id)
        go.set()
        assert stop_seen.get(timeout=PATIENCE)

    assert world.status(task_id) is Status.CANCELLED
    assert world.task(task_id).current.outcome is Outcome.CANCELLED


def test_pool_that_closes_finishes_what_was_offered(world: World):
    started, go = threading.Event(), threading.Event()

    def script(task, ctx):
        started.set()
        go.wait(PATIENCE)
        return "finished"

    world.script = script
    pool = WorkerPool(world.executor, world.clock, 4)
    loop_thread = threading.Thread(target=pool.run, daemon=True)
    loop_thread.start()
    task_id = offer(world, pool)
    assert started.wait(PATIENCE)
    pool.close()
    assert pool.running == 1
    go.set()
    loop_thread.join(PATIENCE)

    assert not loop_thread.is_alive()
    assert result_of(world.task(task_id)) == "finished"


def test_pool_leases_what_fills_a_free_slot_with_the_write_that_freed_it(world: World):
    writes: list[tuple[int, int]] = []
    real = world.executor.record_and_lease

    def record_and_lease(*, ended: Any, due: Any, new: Any) -> Any:
        writes.append((len(ended), len(due)))
        return real(ended=ended, due=due, new=new)

    world.executor.record_and_lease = record_and_lease
    ids = [world.submit() for _ in range(4)]
    messages = world.receive()
    with working(world, slots=1) as pool:
        pool.refill = lambda: pool.offer([messages.pop(0)] if messages else [])
        pool.offer([messages.pop(0)])

    assert [world.status(task_id) for task_id in ids] == [Status.SUCCEEDED] * 4
    assert writes == [(0, 1), (1, 1), (1, 1), (1, 1), (1, 0)]


def test_idle_pool_closes_at_once(world: World):
    with working(world) as pool:
        assert pool.running == 0


def test_handler_that_raises_systemexit_does_not_end_the_pool(world: World):
    def script(task, ctx):
        if ctx.attempt == 1 and task.spec.name == "exits":
            raise SystemExit(1)
        return "done"

    world.script = script
    recorded = Recorded(world)
    with working(world, slots=1) as pool:
        exits = offer(world, pool, name="exits", retry=ONCE)
        recorded.wait(exits)
        after = offer(world, pool)
        recorded.wait(after)

    assert world.status(exits) is Status.DEAD
    assert world.status(after) is Status.SUCCEEDED


# Handlers that do not stop when asked.


@pytest.fixture
def python(world: World, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Returns what makes a task run a handler registered as `stubborn`."""
    monkeypatch.setattr(registry, "_handlers", {})
    world.executor = Executor(world.ports, {"python": run_handler})
    return {"target": {"type": "python", "handler": "stubborn"}, "retry": ONCE}


def test_a_busy_handler_is_stopped_by_its_timeout_and_its_slot_is_free_again(world, python):
    started, threads = threading.Event(), []

    @registry.task("stubborn")
    def spins(payload, ctx):
        threads.append(threading.current_thread())
        started.set()
        while payload == "for ever":
            pass

    recorded = Recorded(world)
    with working(world, slots=1) as pool:
        task_id = offer(world, pool, timeout=5, payload="for ever", **python)
        assert started.wait(PATIENCE)
        step(world, pool, 5 * SECOND)
        recorded.wait(task_id)
        assert pool.wait_for_slots(PATIENCE) == 1
        after = offer(world, pool, **python)
        recorded.wait(after)

    attempt = world.task(task_id).current
    assert (attempt.outcome, attempt.error.type) == (Outcome.TIMED_OUT, "TimedOut")
    assert "in spins" in attempt.error.traceback, "where it was is worth knowing"
    assert world.status(after) is Status.SUCCEEDED
    assert threads[0] is threads[1]


def test_busy_handler_of_a_cancelled_task_is_asked_to_stop_and_then_interrupted(world, python):
    started, stopped, seen = threading.Event(), threading.Event(), []

    @registry.task("stubborn")
    def spins(payload, ctx):
        started.set()
        try:
            while True:
                pass
        except Stopped:
            seen.append(ctx.cancelled)
            stopped.set()
            raise

    recorded = Recorded(world)
    with working(world, slots=1) as pool:
        task_id = offer(world, pool, timeout=600, **python)
        assert started.wait(PATIENCE)
        world.store.apply([request_cancel(task_id, now=world.clock.now())])
        step(world, pool, HEARTBEAT)
        recorded.wait(task_id)
        step(world, pool, STOP_GRACE - 1)
        assert not stopped.is_set()
        step(world, pool, 1)
        assert stopped.wait(PATIENCE)
        assert pool.wait_for_slots(PATIENCE) == 1

    assert world.status(task_id) is Status.CANCELLED
    assert seen == [True]


def test_a_handler_that_has_lost_its_lease_is_stopped(world, python):
    started = threading.Event()

    @registry.task("stubborn")
    def spins(payload, ctx):
        started.set()
        while True:
            pass

    outcomes: SimpleQueue[Ended] = SimpleQueue()
    execute = world.executor.run_target
    world.executor.run_target = lambda run: (end := execute(run), outcomes.put(end))[0]
    with working(world, slots=1) as pool:
        task_id = offer(world, pool, timeout=600, **python)
        assert started.wait(PATIENCE)
        task = world.task(task_id)
        draw = world.chance.draw()
        world.store.apply([lease_expired(WAKE_POLICY, task, now=world.clock.now(), draw=draw)])
        step(world, pool, HEARTBEAT)
        end = outcomes.get(timeout=PATIENCE)

    assert end.failure is not None
    error = end.failure.error
    assert (error.type, error.message) == ("Stopped", "the lease was lost")
    assert "in spins" in (error.traceback or "")


def test_a_child_that_is_blocked_is_killed_by_its_timeout(world, python):
    registry.task("isolated.blocks", isolated=True)(isolated_handlers.blocks)
    python["target"]["handler"] = "isolated.blocks"
    renewed = threading.Event()
    renew = world.executor.renew
    world.executor.renew = lambda *args: (renew(*args), renewed.set())
    recorded = Recorded(world)
    with working(world, slots=1) as pool:
        task_id = offer(world, pool, timeout=5, **python)
        assert renewed.wait(PATIENCE)
        step(world, pool, 5 * SECOND)
        recorded.wait(task_id)
        assert pool.wait_for_slots(PATIENCE) == 1

    assert world.task(task_id).current.outcome is Outcome.TIMED_OUT


def test_pool_that_fails_leaves_no_thread_behind(world: World):
    world.submit()
    pool = WorkerPool(world.executor, world.clock, 1, name="failing")
    pool.offer(world.receive())
    world.executor.record_and_lease = lambda **_: 1 / 0

    with pytest.raises(ZeroDivisionError):
        pool.run()

    for thread in threading.enumerate():
        if thread.name.startswith("failing"):
            thread.join(PATIENCE)
    assert not [t for t in threading.enumerate() if t.name.startswith("failing")]


def failure_of(pool: WorkerPool) -> BaseException:
    """Returns the exception that ends the loop thread."""
    ended: SimpleQueue[BaseException] = SimpleQueue()

    def run() -> None:
        try:
            pool.run()
        except BaseException as error:  # noqa: BLE001 - it is what a test asks for
            ended.put(error)

    threading.Thread(target=run, daemon=True).start()
    return ended.get(timeout=PATIENCE)


def test_pool_whose_lease_guard_fails_ends(world: World, monkeypatch: pytest.MonkeyPatch):
    """Without the lease guard a handler could outlive its lease."""
    monkeypatch.setattr("duetime.executor.worker_pool.LEASE_GUARD_INTERVAL", 0.001)
    pool = WorkerPool(world.executor, world.clock, 1)
    pool._loop.check_leases = lambda: 1 / 0

    assert isinstance(failure_of(pool), ZeroDivisionError)


def test_pool_whose_worker_fails_outside_a_run_ends_instead_of_losing_a_slot(world: World):
    pool = WorkerPool(world.executor, world.clock, 1)
    world.executor.run_target = lambda run: 1 / 0
    world.submit()
    pool.offer(world.receive())

    assert isinstance(failure_of(pool), ZeroDivisionError)


def test_run_that_has_ended_leaves_no_cycle(world: World):
    controls: list[weakref.ref[RunControl]] = []
    real = world.executor._start

    def start(*args: Any) -> Run:
        run = real(*args)
        controls.append(weakref.ref(run.control))
        return run

    world.executor._start = start
    world.script = lambda task, ctx: ctx.progress(0.5)
    gc.collect()
    gc.disable()
    try:
        with working(world) as pool:
            task_id = offer(world, pool)
        del pool
        assert [control() for control in controls] == [None]
    finally:
        gc.enable()
    assert world.status(task_id) is Status.SUCCEEDED


def a_submission(world: World, count: int = 1) -> NewTasks:
    """New tasks that are stored as the embedded store stores them."""
    now = world.clock.now()
    spec = a_spec(run_at=now)
    tasks = [
        submit(WAKE_POLICY, world.chance.new_id(now), spec, now=now, draw=world.chance.draw())
        for _ in range(count)
    ]

    def write(leased: Sequence[Task]) -> Any:
        return lambda: bool(world.store.put([*leased, *tasks[len(leased) :]]))

    return NewTasks(tasks, write)


def offered(pool: Observed, new: NewTasks) -> threading.Thread:
    """Offers new tasks in a thread, and returns once the loop has looked at them."""
    looked = threading.Event()
    real = pool._take_for

    def take_for(one: NewTasks) -> bool:
        try:
            return real(one)
        finally:
            if one is new:
                looked.set()

    pool._take_for = take_for  # type: ignore[method-assign]
    thread = threading.Thread(target=pool.store, args=[new], daemon=True)
    thread.start()
    assert looked.wait(PATIENCE)
    return thread


def test_pool_with_free_slots_stores_new_tasks_with_their_leases_and_runs_them(world: World):
    new = a_submission(world, count=3)
    recorded = Recorded(world)
    with working(world, slots=4) as pool:
        pool.store(new)
        assert (new.stored, new.started) == (True, 3)
        for task in new.tasks:
            recorded.wait(task.id)
        assert pool.wait_for_slots(0) == 4

    assert [world.status(task.id) for task in new.tasks] == [Status.SUCCEEDED] * 3
    assert sorted(world.starts) == sorted(task.id for task in new.tasks)


def test_new_tasks_wait_for_slots_that_are_about_to_be_free(world: World):
    begun, go = threading.Event(), threading.Event()
    world.script = lambda task, ctx: begun.set() or go.wait(PATIENCE)
    first, second = a_submission(world), a_submission(world, count=2)
    with working(world, slots=2) as pool:
        pool.store(first)
        assert begun.wait(PATIENCE)
        waiting = offered(pool, second)
        assert not second.answered.is_set()
        go.set()
        waiting.join(PATIENCE)

        assert (second.stored, second.started) == (True, 2)


def test_new_tasks_that_wait_for_too_long_are_left_to_their_submission(world: World):
    begun, go = threading.Event(), threading.Event()
    world.script = lambda task, ctx: begun.set() or go.wait(PATIENCE)
    first, second = a_submission(world), a_submission(world)
    with working(world, slots=1) as pool:
        pool.store(first)
        assert begun.wait(PATIENCE)
        waiting = offered(pool, second)
        world.clock.advance(worker_pool.PATIENCE)
        pool.offer([])
        waiting.join(PATIENCE)

        assert (second.stored, second.started, second.answered.is_set()) == (None, 0, True)
        go.set()

    assert world.store.get([second.tasks[0].id]) == {}


def test_new_tasks_do_not_wait_for_slots_that_runs_have_had_for_long(world: World):
    begun, go = threading.Event(), threading.Event()
    world.script = lambda task, ctx: begun.set() or go.wait(PATIENCE)
    first, second = a_submission(world), a_submission(world, count=3)
    with working(world, slots=3) as pool:
        pool.store(first)
        assert begun.wait(PATIENCE)
        world.clock.advance(worker_pool.PATIENCE + 1)
        pool.store(second)

        assert (second.stored, second.started) == (True, 2)
        go.set()

    assert world.status(second.tasks[2].id) is Status.ENQUEUED  # its submission sends it


def test_new_tasks_do_not_start_before_messages_that_are_ready(world: World):
    new = a_submission(world)
    with working(world) as pool:
        pool.take_for_new = lambda most: 0
        waiting = offered(pool, new)
        world.clock.advance(worker_pool.PATIENCE)
        pool.offer([])
        waiting.join(PATIENCE)

    assert new.stored is None


def test_pool_that_closes_leaves_new_tasks_to_their_submission(world: World):
    begun, go = threading.Event(), threading.Event()
    world.script = lambda task, ctx: begun.set() or go.wait(PATIENCE)
    first, second = a_submission(world), a_submission(world)
    with working(world, slots=1) as pool:
        pool.store(first)
        assert begun.wait(PATIENCE)
        waiting = offered(pool, second)
        pool.close()
        waiting.join(PATIENCE)
        assert (second.stored, second.answered.is_set()) == (None, True)
        go.set()


def test_pool_that_has_ended_leaves_new_tasks_to_their_submission(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(worker_pool, "LEASE_GUARD_INTERVAL", 0.01)
    new = a_submission(world)
    with working(world) as pool:
        pass
    pool.store(new)

    assert new.stored is None


def test_new_tasks_that_a_failing_pool_may_have_stored_are_not_stored_again(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """Their submission gets an error: it must not store them once more, with other ids."""
    monkeypatch.setattr(worker_pool, "LEASE_GUARD_INTERVAL", 0.01)
    new = a_submission(world)
    real = world.executor.record_and_lease

    def fail_after_the_write(**given: Any) -> None:
        real(**given)
        new.stored = None
        raise MemoryError

    world.executor.record_and_lease = fail_after_the_write
    pool = WorkerPool(world.executor, world.clock, 4)
    submission = threading.Thread(target=pool.store, args=[new], daemon=True)
    submission.start()
    with pytest.raises(MemoryError):
        pool.run()
    submission.join(PATIENCE)

    assert (new.stored, str(new.error)) == (None, "the worker pool has ended")
