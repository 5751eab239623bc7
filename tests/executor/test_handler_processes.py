"""Handler processes: plain handlers in real child processes."""

import errno
import importlib
import os
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import pytest

from duetime.core.errors import Stopped
from duetime.core.lifecycle import Outcome
from duetime.core.task import Progress
from duetime.engine.clock import SystemClock
from duetime.executor.executor import Executor
from duetime.executor.handler_processes.inbox import Inbox
from duetime.executor.handler_processes.pool import HandlerProcesses
from duetime.executor.handler_processes.process_setup import setup_of
from duetime.executor.handler_processes.questions import MAX_THREADS, Questions
from duetime.executor.handler_processes.returned import Returned
from duetime.executor.handler_processes.running_processes import RunningProcesses
from duetime.executor.isolation.templates import TEMPLATES
from duetime.executor.run_control import RunControl
from duetime.executor.targets.python import handlers_in
from duetime.handlers import registry
from tests.executor import process_handlers
from tests.executor.test_isolation import ROOT, fifo, is_closed, linux  # noqa: F401
from tests.factories import a_running_task, a_spec, result_of
from tests.world import World

PATIENCE = 60.0  # seconds; a wait that long is a failure
MODULE = process_handlers.__name__


@pytest.fixture(autouse=True)
def _handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_handlers", {})
    importlib.reload(process_handlers)
    yield
    TEMPLATES.close()


Start = Callable[..., HandlerProcesses]


@pytest.fixture
def start() -> Iterator[Start]:
    started = []

    def start(count: int = 1, threads: int = 4, **options: Any) -> HandlerProcesses:
        processes = HandlerProcesses(count, threads, SystemClock(), **options)
        processes.start()
        started.append(processes)
        return processes

    yield start
    for processes in started:
        processes.close()


class Running:
    """A handler in a process. `begun` is set by its heartbeat."""

    def __init__(self, processes: HandlerProcesses, name: str, payload: Any = None) -> None:
        spec = a_spec(target={"type": "python", "handler": name}, payload=payload)
        self.task = a_running_task(spec=spec)
        self.begun = threading.Event()
        self.control = RunControl(self.task, lambda progress: self.begun.set())
        self._returned: SimpleQueue[Returned] = SimpleQueue()
        processes.call(self.task, MODULE, self.control, self._returned.put)

    def wait_until_begun(self) -> "Running":
        assert self.begun.wait(PATIENCE)
        return self

    def returned(self) -> Returned:
        return self._returned.get(timeout=PATIENCE)

    def result(self) -> Any:
        return self.returned().value()

    def failure(self) -> Any:
        failure = self.returned().failure
        assert failure is not None
        return failure


@pytest.fixture
def ended(world: World, start: Start) -> Callable[..., Any]:
    """Returns the task after one attempt."""
    processes = start()
    world.executor = Executor(world.ports, {"python": handlers_in(processes)})

    def run(name: str, payload: Any = None) -> Any:
        task_id = world.submit(target={"type": "python", "handler": name}, payload=payload)
        world.deliver()
        return world.task(task_id)

    return run


def test_handler_runs_in_another_process_with_the_same_context(ended):
    task = ended("process.echo", {"n": [1, None, "ü", 2**70]})

    result = result_of(task)
    assert result.pop("pid") != os.getpid()
    assert result == {"payload": {"n": [1, None, "ü", 2**70]}, "attempt": 1, "id": task.id}


def test_progress_heartbeat_and_previous_run_come_from_the_executor(ended):
    task = ended("process.reports")

    assert task.current.error.type == "NoSuchMap", "what the executor raises is raised there"
    assert task.progress == Progress(fraction=0.5, message="half")


def test_child_is_submitted_by_the_executor(ended, world: World):
    child = result_of(ended("process.submits", "tea"))

    assert world.task(child).spec.payload == "tea"


def test_async_handlers_and_forks_of_handlers_work_in_a_process(ended):
    assert result_of(ended("process.later")) == "async"
    assert result_of(ended("process.forks")) == 0
    assert result_of(ended("process.later")) == "async", "the fork has not taken the pipe along"


def test_failure_has_the_traceback_of_the_handler(ended):
    error = ended("process.fails").current.error

    assert (error.type, error.message) == ("ValueError", "wrong")
    assert error.traceback.splitlines()[1].endswith(", in fails")


def test_result_is_checked_like_any_other(ended):
    assert result_of(ended("process.returns", "set")) == [1]
    assert ended("process.returns", "socket").current.error.type == "BadResult"


def test_isolated_handler_still_has_a_process_of_its_own(ended):
    assert isinstance(result_of(ended("process.isolated")), int)


def test_handler_that_a_process_cannot_import_is_unknown_there(start: Start, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "MODULE", "nowhere.to_be_found")
    registry._handlers.clear()
    error = Running(start(), "process.echo").failure().error

    assert error.type == "UnknownHandler"


def test_process_logs_with_the_ids_of_the_task(start: Start, capfd):
    Running(start(), "process.says").result()

    assert "said by a handler" in capfd.readouterr().out


def test_handlers_in_one_process_run_at_the_same_time(start: Start):
    processes = start(threads=3)
    waiting = [Running(processes, "process.waits").wait_until_begun() for _ in range(3)]
    for one in waiting:
        one.control.request_stop("draining")

    assert [one.result() for one in waiting] == ['"draining"'] * 3


# death


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ("exit", "the handler process ended with code 3 and no outcome"),
        ("kill", "the handler process was killed by SIGKILL"),
    ],
)
def test_handler_process_that_dies_fails_what_it_ran(start: Start, payload: str, message: str):
    processes = start()
    beside = Running(processes, "process.waits").wait_until_begun()
    dies = Running(processes, "process.exits", payload)

    for one in (dies, beside):
        failure = one.failure()
        assert (failure.outcome, failure.error.type) == (Outcome.FAILED, "HandlerProcessDied")
        assert failure.error.message == message
    assert Running(processes, "process.later").result() == '"async"', "another replaces it"


def test_task_of_a_dead_process_that_had_not_begun_runs_in_another(start: Start):
    processes = start(threads=1)
    first = Running(processes, "process.waits").wait_until_begun()
    second = Running(processes, "process.echo")
    os.kill(processes.pids()[0], signal.SIGKILL)

    assert first.failure().error.type == "HandlerProcessDied"
    assert b"process" not in second.result().encode()


def test_process_that_dies_takes_only_its_own_attempts_along(start: Start):
    processes = start(2, threads=1)
    both = [Running(processes, "process.waits").wait_until_begun() for _ in range(2)]
    os.kill(processes.pids()[0], signal.SIGKILL)
    ended: SimpleQueue[Any] = SimpleQueue()
    for one in both:
        threading.Thread(target=lambda o=one: ended.put((o, o.returned())), daemon=True).start()
    failed, returned = ended.get(timeout=PATIENCE)
    [other] = [one for one in both if one is not failed]
    other.control.request_stop("cancelled")

    assert returned.failure.error.type == "HandlerProcessDied"
    assert ended.get(timeout=PATIENCE)[1].value() == '"cancelled"'


# stopping


def test_interrupt_reaches_the_thread_of_the_handler(start: Start):
    processes = start()
    beside = Running(processes, "process.waits").wait_until_begun()
    running = Running(processes, "process.loops").wait_until_begun()
    [pid] = processes.pids()
    running.control.force_stop()

    returned = running.returned()
    assert returned.stopped
    assert ", in loops" in returned.failure.error.traceback
    with pytest.raises(Stopped):
        returned.value()
    assert processes.pids() == [pid], "the process goes on"
    beside.control.request_stop("cancelled")
    assert beside.result() == '"cancelled"'


def test_handler_that_does_not_stop_is_killed_and_what_ran_beside_it_is_interrupted(start: Start):
    processes = start(kill_after=100)
    beside = Running(processes, "process.waits").wait_until_begun()
    blocked = Running(processes, "process.blocks").wait_until_begun()
    blocked.control.force_stop()

    assert blocked.returned().stopped
    assert beside.failure().outcome is Outcome.INTERRUPTED
    assert Running(processes, "process.later").result() == '"async"'


def test_handler_that_is_interrupted_before_it_begins_does_not_begin(start: Start):
    processes = start(threads=1)
    first = Running(processes, "process.waits").wait_until_begun()
    second = Running(processes, "process.echo")
    second.control.force_stop()

    assert second.returned().stopped
    first.control.request_stop("cancelled")
    assert first.result() == '"cancelled"'


@linux
def test_programs_that_a_handler_started_end_with_its_process(start: Start, fifo):  # noqa: F811
    name, reader = fifo
    running = Running(start(kill_after=0), "process.starts_another", name).wait_until_begun()
    running.control.force_stop()

    assert running.returned().stopped
    assert is_closed(reader)


def test_drain_interrupts_what_has_not_begun_and_kill_ends_the_rest(start: Start):
    processes = start(threads=1)
    first = Running(processes, "process.blocks").wait_until_begun()
    second = Running(processes, "process.echo")
    processes.drain()
    assert second.failure().outcome is Outcome.INTERRUPTED

    processes.kill()
    assert first.failure().outcome is Outcome.INTERRUPTED
    assert processes.pids() == []


def test_payload_that_no_message_can_carry_fails_its_own_call(start: Start):
    processes = start()
    with pytest.raises(ValueError, match="unmarshallable"):
        Running(processes, "process.echo", object())

    assert Running(processes, "process.later").result() == '"async"'


# the end of the executor

EXECUTOR = """
import sys, threading
from duetime.engine.clock import SystemClock
from duetime.executor.handler_processes.pool import HandlerProcesses
from duetime.executor.isolation.templates import TEMPLATES
from duetime.executor.run_control import RunControl
from tests.executor import process_handlers
from tests.factories import a_running_task, a_spec

name, payload = sys.argv[1:]
processes = HandlerProcesses(2, 4, SystemClock())
processes.start()
spec = a_spec(target={"type": "python", "handler": name}, payload=payload)
task = a_running_task(spec=spec)
control = RunControl(task, lambda progress: print("it runs", flush=True))
processes.run(task, process_handlers.__name__, control)
"""


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_processes_and_programs_of_handlers_end_with_the_executor(fifo, number: int):  # noqa: F811
    name, reader = fifo
    command = [sys.executable, "-c", EXECUTOR, "process.starts_another", name]
    executor = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert executor.stdout is not None
    assert executor.stdout.readline() == b"it runs\n"
    executor.send_signal(number)

    printed, _ = executor.communicate(timeout=PATIENCE)  # until every process has closed it
    assert printed == b""
    assert is_closed(reader)


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


@linux
def test_closed_pool_leaves_no_descriptor_open(start: Start):
    start(2).close()  # opens what is opened once
    before = descriptors()
    processes = start(2)
    assert Running(processes, "process.echo").returned()
    opened = descriptors() - before
    processes.close()
    processes.drain()  # is not delivered

    assert opened
    assert opened & descriptors() == set()


@linux
def test_pool_that_never_started_leaves_no_descriptor_open():
    before = descriptors()
    processes = HandlerProcesses(1, 1, SystemClock())
    opened = descriptors() - before
    processes.close()
    processes.close()

    assert opened
    assert opened & descriptors() == set()


class FullSelector(selectors.DefaultSelector):
    """Registers the inbox, and one end of a process, but not the other."""

    def register(self, fileobj: Any, events: int, data: Any = None) -> Any:
        if len(self.get_map()) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().register(fileobj, events, data)


@linux
def test_process_that_cannot_be_watched_is_ended_and_not_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(selectors, "DefaultSelector", FullSelector)
    inbox = Inbox()
    running = RunningProcesses(inbox, lambda *_: None, lambda _: None)
    setup = setup_of((), threads=1)
    before = descriptors()

    with pytest.raises(OSError, match="No space left"):
        running.start(1, setup, places=8)

    assert dict(running) == {}
    assert descriptors() <= before
    assert running.wait(0) is None
    running.close_all()
    inbox.close()


def test_questions_are_answered_at_the_same_time_by_a_limited_number_of_threads():
    questions, answered = Questions(), SimpleQueue[str]()
    for _ in range(3):
        together = threading.Barrier(MAX_THREADS, timeout=PATIENCE)

        def answer(together: threading.Barrier = together) -> None:
            together.wait()
            answered.put(threading.current_thread().name)

        for _ in range(MAX_THREADS):
            questions.ask(answer)
        names = {answered.get(timeout=PATIENCE) for _ in range(MAX_THREADS)}
        assert names == {f"handler-answers-{number}" for number in range(MAX_THREADS)}
    questions.close()
