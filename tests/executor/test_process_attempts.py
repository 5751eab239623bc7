"""Attempts in handler processes, from the message to the recorded outcome. Tests advance the
clock; the processes are real."""

import importlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from duetime.core.lifecycle import Outcome, Status
from duetime.core.times import SECOND, Millis
from duetime.executor.executor import Executor
from duetime.executor.handler_processes.dispatch import KILL_AFTER
from duetime.executor.handler_processes.pool import HandlerProcesses
from duetime.executor.handler_processes.readiness import LONGEST_IMPORT, Readiness
from duetime.executor.targets.python import handlers_in
from duetime.executor.worker_pool import WorkerPool
from duetime.handlers import registry
from tests.executor import process_handlers
from tests.executor.test_isolation import fifo, is_closed, linux  # noqa: F401
from tests.executor.test_worker_pool import PATIENCE, Recorded
from tests.factories import result_of
from tests.world import World

LONG_AGO: Millis = 3_600 * SECOND


class Begun:
    """Waits for the first heartbeat of the next handler."""

    def __init__(self, executor: Executor) -> None:
        self._renewed = threading.Semaphore(0)
        renew = executor.renew

        def noted(runs: Any, progress: Any = None) -> None:
            renew(runs, progress)
            self._renewed.release()

        executor.renew = noted  # type: ignore[method-assign]

    def wait(self) -> None:
        assert self._renewed.acquire(timeout=PATIENCE)


class Attempts:
    def __init__(self, world: World, kill_after: Millis) -> None:
        self.world = world
        self.processes = HandlerProcesses(1, 4, world.clock, kill_after=kill_after)
        world.executor = Executor(
            world.ports, {"python": handlers_in(self.processes)}, processes=self.processes
        )
        self.recorded = Recorded(world)
        self.begun = Begun(world.executor)
        self.pool = WorkerPool(world.executor, world.clock, 4, processes=self.processes)
        self.thread = threading.Thread(target=self.pool.run, daemon=True)
        self.thread.start()

    def offer(self, name: str, payload: Any = None, **fields: Any) -> str:
        target = {"type": "python", "handler": name}
        task_id = self.world.submit(target=target, payload=payload, **fields)
        self.pool.offer(self.world.receive())
        return task_id

    def advance(self, by: Millis) -> None:
        self.world.advance(by)
        self.pool.offer([])

    def ended(self, task_id: str) -> Any:
        self.recorded.wait(task_id)
        return self.world.task(task_id)


@pytest.fixture
def start(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Attempts]]:
    monkeypatch.setattr(registry, "_handlers", {})
    importlib.reload(process_handlers)
    started = []

    def start(kill_after: Millis = KILL_AFTER) -> Attempts:
        started.append(Attempts(world, kill_after))
        return started[-1]

    yield start
    for attempts in started:
        attempts.pool.close()
        attempts.thread.join(PATIENCE)
        assert not attempts.thread.is_alive()
        assert attempts.processes.pids() == []


def test_tasks_run_in_a_process_and_their_results_are_recorded(start):
    attempts = start()
    ids = [attempts.offer("process.echo", number) for number in range(20)]

    tasks = [attempts.ended(task_id) for task_id in ids]
    assert [result_of(task)["payload"] for task in tasks] == list(range(20))
    assert len({result_of(task)["pid"] for task in tasks}) == 1


@linux
def test_pool_takes_nothing_until_a_process_has_imported_the_handlers(world: World, tmp_path: Path):
    gate, handlers = tmp_path / "gate", tmp_path / "slow_handlers.py"
    os.mkfifo(gate)
    handlers.write_text(f"open({str(gate)!r}).close()\n")
    processes = HandlerProcesses(1, 4, world.clock, load=[str(handlers)])
    pool = WorkerPool(world.executor, world.clock, 4, processes=processes)
    thread = threading.Thread(target=pool.run, daemon=True)
    thread.start()
    try:
        assert pool.wait_for_slots(0) == 0
        with gate.open("w"):  # waits until the process imports them
            assert pool.wait_for_slots(0) == 0
        assert pool.wait_for_slots(PATIENCE) == 4
    finally:
        pool.close()
        thread.join(PATIENCE)


def test_attempts_begin_in_any_case_if_no_process_will_be_ready_soon():
    readiness = Readiness()

    readiness.note(0, ready=False, expected=True)
    assert not readiness.wait(0)
    readiness.note(LONGEST_IMPORT, ready=False, expected=True)
    assert readiness.wait(0)
    readiness.note(LONGEST_IMPORT + 1, ready=True, expected=True)
    readiness.note(LONGEST_IMPORT + 2, ready=False, expected=True)  # reloaded, or died
    assert not readiness.wait(0)
    readiness.note(LONGEST_IMPORT + 3, ready=False, expected=False)
    assert readiness.wait(0)


def test_failed_attempt_of_a_dead_process_is_retried(start):
    task = (attempts := start()).ended(attempts.offer("process.exits", "kill"))

    assert (task.status, task.current.outcome) == (Status.RETRYING, Outcome.FAILED)
    assert task.current.error.type == "HandlerProcessDied"


@linux
def test_timed_out_handler_that_does_not_stop_is_recorded_once_its_process_is_killed(
    start,
    fifo,  # noqa: F811
):
    name, reader = fifo
    attempts = start(kill_after=0)
    task_id = attempts.offer("process.starts_another", name, timeout=30.0)
    attempts.begun.wait()
    attempts.advance(30 * SECOND)

    task = attempts.ended(task_id)
    assert (task.status, task.current.outcome) == (Status.RETRYING, Outcome.TIMED_OUT)
    assert is_closed(reader)


def test_nothing_is_recorded_while_a_timed_out_handler_may_still_be_killed(start):
    attempts = start(kill_after=LONG_AGO)
    task_id = attempts.offer("process.blocks", timeout=30.0)
    attempts.begun.wait()
    attempts.advance(30 * SECOND)
    other = attempts.offer("process.later")
    attempts.advance(KILL_AFTER + SECOND)

    assert attempts.ended(other).status is Status.SUCCEEDED
    assert attempts.world.status(task_id) is Status.RUNNING
    attempts.processes.kill()
    assert attempts.ended(task_id).current.outcome is Outcome.TIMED_OUT


def test_what_ran_beside_a_killed_handler_is_interrupted_and_uses_up_no_attempt(start):
    attempts = start(kill_after=0)
    beside = attempts.offer("process.waits", timeout=600.0)
    attempts.begun.wait()
    attempts.offer("process.blocks", timeout=30.0)
    budget = attempts.world.task(beside).budget
    attempts.begun.wait()
    attempts.advance(30 * SECOND)

    task = attempts.ended(beside)
    assert (task.status, task.current.outcome) == (Status.RETRYING, Outcome.INTERRUPTED)
    assert task.budget == budget + 1


def test_drain_kills_what_outlasts_its_grace_and_then_records_it_as_interrupted(start):
    attempts = start()
    task_id = attempts.offer("process.blocks", timeout=600.0)
    attempts.begun.wait()
    attempts.pool.drain(0.0)

    task = attempts.ended(task_id)
    assert (task.status, task.current.outcome) == (Status.RETRYING, Outcome.INTERRUPTED)


def test_handler_in_a_process_sees_the_drain(start):
    attempts = start()
    task_id = attempts.offer("process.waits", timeout=600.0)
    attempts.begun.wait()
    attempts.pool.drain(600.0)

    assert result_of(attempts.ended(task_id)) == "draining"
