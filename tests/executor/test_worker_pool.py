"""The crew, with real threads. Time is stepped; an empty offer makes the bookkeeper look up."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import pytest

from lambdas import registry
from lambdas.core.delivery import Message
from lambdas.core.lanes import Lane
from lambdas.core.lease import HEARTBEAT, LENGTH
from lambdas.core.lifecycle import Outcome, Status
from lambdas.core.retry import RetryPolicy
from lambdas.core.steps.cancel import request_cancel
from lambdas.core.steps.record import lease_expired
from lambdas.core.times import SECOND
from lambdas.executor.books import STOP_GRACE
from lambdas.executor.crew import Crew
from lambdas.executor.executor import Executor
from lambdas.executor.runs import Ended, Run
from lambdas.executor.stopping import Stopped
from lambdas.executor.targets.python import run_handler
from tests.executor import isolated_handlers
from tests.factories import result_of
from tests.world import RULES, World

PATIENCE = 60.0  # seconds; whoever waits that long has failed
ONCE = RetryPolicy(max_attempts=1)


class Recorded:
    """An event for every outcome that the executor has recorded."""

    def __init__(self, world: World) -> None:
        self._real = world.executor.advance
        self._done: dict[str, threading.Event] = {}
        world.executor.advance = self._advance

    def wait(self, task_id: str) -> None:
        assert self._event(task_id).wait(PATIENCE), f"no outcome of {task_id}"

    def _advance(self, *, ended: Any, due: Any) -> list[Run]:
        runs = self._real(ended=ended, due=due)
        for end in ended:
            self._event(end.run.task.id).set()
        return runs

    def _event(self, task_id: str) -> threading.Event:
        return self._done.setdefault(task_id, threading.Event())


class Observed(Crew):
    """A crew whose rounds can be waited for."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._rounds = 0
        self._round_begins = threading.Condition()

    def take_in(self, *messages: Message) -> None:
        """Offer messages, and wait until the bookkeeper is through with them."""
        begun = self._rounds
        self.offer(messages)
        for rounds in (1, 2):  # it may have been in the middle of one
            with self._round_begins:
                seen = lambda: self._rounds >= begun + rounds  # noqa: B023, E731
                assert self._round_begins.wait_for(seen, PATIENCE)
            self.offer([])

    def _arrivals(self) -> list[Ended]:
        with self._round_begins:
            self._rounds += 1
            self._round_begins.notify_all()
        return super()._arrivals()


@contextmanager
def working(world: World, slots: int = 4) -> Iterator[Observed]:
    crew = Observed(world.executor, world.clock, slots)
    bookkeeper = threading.Thread(target=crew.run, daemon=True)
    bookkeeper.start()
    yield crew
    crew.close()
    bookkeeper.join(PATIENCE)
    assert not bookkeeper.is_alive()


def offer(world: World, crew: Crew, **fields: Any) -> str:
    task_id = world.submit(**fields)
    crew.offer(world.receive())
    return task_id


def step(world: World, crew: Observed, by: int) -> None:
    world.advance(by)
    crew.take_in()


def comes_early(world: World) -> Message:
    """The message that was sent last, as a queue with a clock of its own may hand it out."""
    world.lanes.lanes._lanes[Lane.MEDIUM]._fresh[0] = (0, 0, world.lanes.sent[-1])
    [message] = world.receive()
    return message


def test_attempts_run_side_by_side(world: World):
    together = threading.Barrier(3)
    world.script = lambda task, ctx: together.wait(PATIENCE)
    with working(world) as crew:
        ids = [world.submit() for _ in range(3)]
        crew.offer(world.receive())

    assert [world.status(task_id) for task_id in ids] == [Status.SUCCEEDED] * 3


def test_more_than_there_are_slots_run_one_after_the_other_in_few_threads(world: World):
    names = set()
    world.script = lambda task, ctx: names.add(threading.current_thread().name)
    recorded = Recorded(world)
    with working(world, slots=1) as crew:
        for _ in range(5):
            recorded.wait(offer(world, crew))

    assert names == {"crew-0"}


def test_a_slot_is_taken_until_the_outcome_is_in(world: World):
    go = threading.Event()
    world.script = lambda task, ctx: go.wait(PATIENCE)
    with working(world, slots=2) as crew:
        assert crew.wait_for_slots(0) == 2
        offer(world, crew)
        assert crew.wait_for_slots(0) == 1
        offer(world, crew)
        assert crew.wait_for_slots(0) == 0
        go.set()
        assert crew.wait_for_slots(PATIENCE) >= 1

    assert crew.wait_for_slots(0) == 2


def test_what_comes_to_nothing_frees_its_slot(world: World):
    recorded = Recorded(world)
    with working(world, slots=3) as crew:
        task_id = offer(world, crew)
        recorded.wait(task_id)
        spent = world.lanes.deleted[0].delivery
        world.lanes.send([spent], world.clock.now())
        crew.take_in(*world.receive())  # its token is spent
        assert crew.wait_for_slots(0) == 3

        early = world.submit(due_in=2 * SECOND + 1)
        crew.take_in(comes_early(world))  # it is handed back
        assert crew.wait_for_slots(0) == 3
        world.advance(SECOND + 1)
        assert [message.delivery.task_id for message in world.receive()] == [early]

    assert world.starts == [task_id]


def test_a_message_that_is_a_little_early_is_waited_for(world: World):
    recorded = Recorded(world)
    with working(world) as crew:
        task_id = world.submit(due_in=2 * SECOND)
        crew.take_in(comes_early(world))
        assert crew.wait_for_slots(0) == 3
        step(world, crew, 2 * SECOND - 1)
        assert world.status(task_id) is Status.ENQUEUED
        step(world, crew, 1)
        recorded.wait(task_id)

    assert world.task(task_id).current.drift_ms == 0


def test_a_timeout_is_recorded_and_the_handler_is_told(world: World):
    started, go, told = threading.Event(), threading.Event(), []

    def script(task, ctx):
        started.set()
        go.wait(PATIENCE)
        told.append(ctx.cancelled)
        return "too late"

    world.script = script
    recorded = Recorded(world)
    with working(world, slots=1) as crew:
        task_id = offer(world, crew, timeout=5, retry=ONCE)
        assert started.wait(PATIENCE)
        step(world, crew, 5 * SECOND - 1)
        assert world.status(task_id) is Status.RUNNING
        step(world, crew, 1)
        assert crew.running == 1, "the handler gets a moment to come back"
        step(world, crew, STOP_GRACE)
        recorded.wait(task_id)
        assert crew.running == 0
        assert crew.wait_for_slots(0) == 0, "the handler still has its thread"
        go.set()
        assert crew.wait_for_slots(PATIENCE) == 1

    task = world.task(task_id)
    assert (task.status, task.current.outcome) == (Status.DEAD, Outcome.TIMED_OUT)
    assert task.current.error.message == "not done after its timeout of 5 s"
    assert told == [True]
    assert task.result is None
    assert (len(world.lanes.buried), world.lanes.deleted) == (1, [])


def test_the_books_keep_the_leases_of_long_runs(world: World):
    started, go = threading.Event(), threading.Event()

    def script(task, ctx):
        started.set()
        go.wait(PATIENCE)

    world.script = script
    renewed = threading.Semaphore(0)
    renew = world.executor.renew
    world.executor.renew = lambda runs: (renew(runs), renewed.release())
    with working(world) as crew:
        task_id = offer(world, crew, timeout=600)
        assert started.wait(PATIENCE)
        for _ in range(6):
            step(world, crew, HEARTBEAT)
            assert renewed.acquire(timeout=PATIENCE)
        assert world.task(task_id).lease_until == world.clock.now() + LENGTH
        go.set()

    assert world.status(task_id) is Status.SUCCEEDED


def test_a_cancel_is_recorded_at_the_next_heartbeat_and_the_handler_is_told(world: World):
    started, go, told = threading.Event(), threading.Event(), SimpleQueue()

    def script(task, ctx):
        started.set()
        go.wait(PATIENCE)
        told.put(ctx.cancelled)
        return "too late"

    world.script = script
    recorded = Recorded(world)
    with working(world) as crew:
        task_id = offer(world, crew)
        assert started.wait(PATIENCE)
        world.store.apply([request_cancel(task_id, now=world.clock.now())])
        step(world, crew, HEARTBEAT)
        recorded.wait(task_id)
        go.set()
        assert told.get(timeout=PATIENCE)

    assert world.status(task_id) is Status.CANCELLED
    assert world.task(task_id).current.outcome is Outcome.CANCELLED


def test_closing_lets_what_was_offered_finish(world: World):
    started, go = threading.Event(), threading.Event()

    def script(task, ctx):
        started.set()
        go.wait(PATIENCE)
        return "finished"

    world.script = script
    crew = Crew(world.executor, world.clock, 4)
    bookkeeper = threading.Thread(target=crew.run, daemon=True)
    bookkeeper.start()
    task_id = offer(world, crew)
    assert started.wait(PATIENCE)
    crew.close()
    assert crew.running == 1
    go.set()
    bookkeeper.join(PATIENCE)

    assert not bookkeeper.is_alive()
    assert result_of(world.task(task_id)) == "finished"


def test_a_crew_with_nothing_to_do_closes_at_once(world: World):
    with working(world) as crew:
        assert crew.running == 0


def test_a_handler_that_ends_its_thread_does_not_end_the_crew(world: World):
    def script(task, ctx):
        if ctx.attempt == 1 and task.spec.name == "exits":
            raise SystemExit(1)
        return "done"

    world.script = script
    recorded = Recorded(world)
    with working(world, slots=1) as crew:
        exits = offer(world, crew, name="exits", retry=ONCE)
        recorded.wait(exits)
        after = offer(world, crew)
        recorded.wait(after)

    assert world.status(exits) is Status.DEAD
    assert world.status(after) is Status.SUCCEEDED


# Handlers that do not stop when they are told.


@pytest.fixture
def python(world: World, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What makes a task run a handler that is registered under `stubborn`."""
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
    with working(world, slots=1) as crew:
        task_id = offer(world, crew, timeout=5, payload="for ever", **python)
        assert started.wait(PATIENCE)
        step(world, crew, 5 * SECOND)
        recorded.wait(task_id)
        assert crew.wait_for_slots(PATIENCE) == 1
        after = offer(world, crew, **python)
        recorded.wait(after)

    attempt = world.task(task_id).current
    assert (attempt.outcome, attempt.error.type) == (Outcome.TIMED_OUT, "TimedOut")
    assert "in spins" in attempt.error.traceback, "where it was is worth knowing"
    assert world.status(after) is Status.SUCCEEDED
    assert threads[0] is threads[1]


def test_a_busy_handler_of_a_cancelled_task_is_told_and_then_stopped(world, python):
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
    with working(world, slots=1) as crew:
        task_id = offer(world, crew, timeout=600, **python)
        assert started.wait(PATIENCE)
        world.store.apply([request_cancel(task_id, now=world.clock.now())])
        step(world, crew, HEARTBEAT)
        recorded.wait(task_id)
        step(world, crew, STOP_GRACE - 1)
        assert not stopped.is_set()
        step(world, crew, 1)
        assert stopped.wait(PATIENCE)
        assert crew.wait_for_slots(PATIENCE) == 1

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
    execute = world.executor.execute
    world.executor.execute = lambda run: (end := execute(run), outcomes.put(end))[0]
    with working(world, slots=1) as crew:
        task_id = offer(world, crew, timeout=600, **python)
        assert started.wait(PATIENCE)
        task = world.task(task_id)
        draw = world.chance.draw()
        world.store.apply([lease_expired(RULES, task, now=world.clock.now(), draw=draw)])
        step(world, crew, HEARTBEAT)
        end = outcomes.get(timeout=PATIENCE)

    assert end.failure is not None
    error = end.failure.error
    assert (error.type, error.message) == ("Stopped", "the lease was lost")
    assert "in spins" in (error.traceback or "")


def test_a_child_that_is_blocked_is_killed_by_its_timeout(world, python):
    registry.task("isolated.blocks", isolated=True)(isolated_handlers.blocks)
    python["target"]["handler"] = "isolated.blocks"
    beaten = threading.Event()
    renew = world.executor.renew
    world.executor.renew = lambda *args: (renew(*args), beaten.set())
    recorded = Recorded(world)
    with working(world, slots=1) as crew:
        task_id = offer(world, crew, timeout=5, **python)
        assert beaten.wait(PATIENCE)
        step(world, crew, 5 * SECOND)
        recorded.wait(task_id)
        assert crew.wait_for_slots(PATIENCE) == 1

    assert world.task(task_id).current.outcome is Outcome.TIMED_OUT


def test_a_crew_that_fails_leaves_no_thread_behind(world: World):
    world.submit()
    crew = Crew(world.executor, world.clock, 1, name="failing")
    crew.offer(world.receive())
    world.executor.advance = lambda **_: 1 / 0

    with pytest.raises(ZeroDivisionError):
        crew.run()

    for thread in threading.enumerate():
        if thread.name.startswith("failing"):
            thread.join(PATIENCE)
    assert not [t for t in threading.enumerate() if t.name.startswith("failing")]


def failure_of(crew: Crew) -> BaseException:
    """What its bookkeeper ends with."""
    ended: SimpleQueue[BaseException] = SimpleQueue()

    def run() -> None:
        try:
            crew.run()
        except BaseException as error:  # noqa: BLE001 - it is what a test asks for
            ended.put(error)

    threading.Thread(target=run, daemon=True).start()
    return ended.get(timeout=PATIENCE)


def test_crew_whose_guard_fails_ends_instead_of_going_on_without_it(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """Without the guard a handler could outlive its lease."""
    monkeypatch.setattr("lambdas.executor.crew.GUARD_EVERY", 0.001)
    crew = Crew(world.executor, world.clock, 1)
    crew._books.guard = lambda: 1 / 0

    assert isinstance(failure_of(crew), ZeroDivisionError)


def test_crew_whose_thread_fails_outside_a_run_ends_instead_of_losing_a_slot(world: World):
    crew = Crew(world.executor, world.clock, 1)
    world.executor.execute = lambda run: 1 / 0
    world.submit()
    crew.offer(world.receive())

    assert isinstance(failure_of(crew), ZeroDivisionError)
