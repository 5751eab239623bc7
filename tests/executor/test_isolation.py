"""Isolated handlers in real child processes."""

import importlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from duetime.core.errors import Stopped
from duetime.core.lifecycle import Outcome, Status
from duetime.core.results import Encoded
from duetime.core.task import Progress
from duetime.core.times import SECOND
from duetime.executor.executor import Executor
from duetime.executor.isolation import supervised_process
from duetime.executor.isolation.parent import Parent
from duetime.executor.isolation.process import _request
from duetime.executor.isolation.protocol import Answer, Question, ReadRequest
from duetime.executor.isolation.template import Template
from duetime.executor.isolation.templates import TEMPLATES
from duetime.executor.run_control import RunControl
from duetime.executor.targets.python import run_handler
from duetime.handlers import registry
from tests.executor import isolated_handlers
from tests.factories import a_running_task, a_spec, result_of
from tests.world import World

PATIENCE = 60.0  # seconds; a wait that long is a failure
ROOT = Path(__file__).parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists them in /proc")


@pytest.fixture(autouse=True)
def _handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins without a template: they were started with other surroundings."""
    monkeypatch.setattr(registry, "_handlers", {})
    importlib.reload(isolated_handlers)
    TEMPLATES.close()
    yield
    TEMPLATES.close()


@pytest.fixture
def ended(world: World) -> Callable[..., Any]:
    """Returns the task after one attempt with this handler."""
    world.executor = Executor(world.ports, {"python": run_handler})

    def run(name: str, payload: Any = None) -> Any:
        task_id = world.submit(target={"type": "python", "handler": name}, payload=payload)
        world.deliver()
        return world.task(task_id)

    return run


class RunningChild:
    """A handler that runs in a child and has sent its first heartbeat."""

    def __init__(self, name: str, payload: Any = None) -> None:
        spec = a_spec(target={"type": "python", "handler": name}, payload=payload)
        self._task = a_running_task(spec=spec)
        renewed = threading.Event()
        self.control = RunControl(self._task, lambda progress: renewed.set())
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert renewed.wait(PATIENCE)

    def _run(self) -> None:
        try:
            self._outcome: Any = run_handler(self._task, self.control)
        except BaseException as error:  # noqa: BLE001
            self._outcome = error

    def outcome(self) -> Any:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return self._outcome


def test_isolated_handler_runs_in_another_process_with_the_same_context(ended, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/as/it/was")
    task = ended("isolated.echo", {"n": [1, None, "ü"]})

    result = result_of(task)
    assert result.pop("pid") != os.getpid()
    assert result == {
        "payload": {"n": [1, None, "ü"]},
        "attempt": 1,
        "key": task.id,
        "deadline": (task.due_at + 60 * SECOND) / SECOND,
        "python_path": "/as/it/was",
    }


def test_progress_and_heartbeat_come_from_the_child(ended):
    task = ended("isolated.reports")

    assert result_of(task) is True
    assert task.progress == Progress(fraction=0.5, message="half")


def test_isolated_handler_may_be_async(ended):
    assert result_of(ended("isolated.later")) == "async"


def test_isolated_handler_prints_to_the_stdout_of_the_executor(ended, capfd):
    ended("isolated.says")

    assert capfd.readouterr() == ("said by a handler\n", "complained by a handler\n")


def test_child_ends_although_the_handler_left_a_thread(ended):
    assert result_of(ended("isolated.leaves_a_thread")) == "done"


@pytest.mark.parametrize(
    ("payload", "outcome", "status", "kind", "message"),
    [
        ("value", Outcome.FAILED, Status.RETRYING, "ValueError", "wrong"),
        ("permanent", Outcome.FAILED, Status.DEAD, "PermanentError", "for good"),
        ("later", Outcome.FAILED, Status.RETRYING, "RetryLater", "busy"),
        ("snooze", Outcome.SNOOZED, Status.RETRYING, "Snooze", "asked to be run again in 300 s"),
        ("exit", Outcome.FAILED, Status.RETRYING, "SystemExit", "3"),
    ],
)
def test_exception_of_an_isolated_handler_becomes_the_outcome(
    ended, payload, outcome, status, kind, message
):
    task = ended("isolated.raises", payload)

    assert (task.current.outcome, task.status) == (outcome, status)
    error = task.current.error
    assert (error.type, error.message) == (kind, message)


@pytest.mark.parametrize(("payload", "delay"), [("later", 30), ("snooze", 300)])
def test_isolated_handler_may_ask_for_a_delay(ended, payload, delay):
    task = ended("isolated.raises", payload)

    assert task.due_at == task.current.finished_at + delay * SECOND
    assert task.current.error.traceback is None


def test_traceback_of_an_isolated_handler_is_recorded(ended):
    lines = ended("isolated.raises", "value").current.error.traceback.splitlines()

    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].endswith(", in raises")
    assert lines[-1] == "ValueError: wrong"


def test_result_of_an_isolated_handler_is_checked_like_any_other(ended):
    assert result_of(ended("isolated.returns", "pair")) == [1, 2]
    assert ended("isolated.returns", "none").result is None
    assert result_of(ended("isolated.returns", "set")) == [1]
    assert result_of(ended("isolated.returns", "day")) == "2026-11-16"
    bad = ended("isolated.returns", "socket")
    assert (bad.status, bad.current.error.type) == (Status.DEAD, "BadResult")
    assert bad.current.error.message.startswith("result.held: a value of type object is not JSON")


@pytest.mark.parametrize(
    ("handler", "payload", "message"),
    [
        ("isolated.dies", "kill", "the child was killed by SIGKILL"),
        ("isolated.dies", "exit", "the child ended with code 3 and no outcome"),
        ("isolated.forks_and_dies", None, "the child ended with code 3 and no outcome"),
    ],
)
def test_a_child_that_dies_fails_the_attempt(ended, handler, payload, message):
    task = ended(handler, payload)

    assert task.status is Status.RETRYING
    assert (task.current.error.type, task.current.error.message) == ("ChildDied", message)
    assert result_of(ended("isolated.later")) == "async", "the next one is not concerned"


def test_module_that_the_child_cannot_import_is_an_unknown_handler(ended, monkeypatch):
    monkeypatch.setattr(isolated_handlers.echo, "__module__", "nowhere.to_be_found")
    error = ended("isolated.echo").current.error

    assert error.type == "UnknownHandler"
    assert error.message == (
        "'nowhere.to_be_found' cannot be imported in a child: No module named 'nowhere'"
    )


def test_module_that_does_not_register_the_handler_is_an_unknown_handler(ended, monkeypatch):
    monkeypatch.setattr(isolated_handlers.echo, "__module__", "json")
    error = ended("isolated.echo").current.error

    assert error.type == "UnknownHandler"
    assert error.message == "'json' registers no handler 'isolated.echo' in a child"


def test_child_converts_payload_and_result_to_their_types(ended):
    task = ended("isolated.typed", {"day": "2026-11-18", "sizes": [1, 2]})
    assert result_of(task) == "2026-11-03"

    bad = ended("isolated.typed", {"day": "soon", "sizes": []})
    assert bad.status is Status.DEAD
    assert bad.current.error.type == "BadPayload"
    assert bad.current.error.message.startswith("day: input should be a valid date")


# stopping


def test_stop_request_reaches_the_child():
    running = RunningChild("isolated.waits")
    running.control.request_stop("cancelled")

    assert running.outcome() == Encoded('"stopped"')


@pytest.mark.parametrize("reason", ["cancelled", "lease_lost", "timed_out", "draining"])
def test_child_sees_the_reason_why_it_should_stop(reason):
    running = RunningChild("isolated.tells_why")
    running.control.request_stop(reason)

    assert running.outcome() == Encoded(f'"{reason}"')


def test_blocked_child_is_killed():
    running = RunningChild("isolated.blocks")
    running.control.force_stop()

    assert isinstance(running.outcome(), Stopped)


def test_programs_that_a_handler_started_end_with_it(tmp_path):
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    running = RunningChild("isolated.starts_another", str(fifo))
    running.control.force_stop()

    assert isinstance(running.outcome(), Stopped)
    assert is_closed(reader)


WAYS = pytest.mark.parametrize("way", ["session", "group", "daemon"])


@pytest.fixture
def fifo(tmp_path: Path) -> tuple[str, int]:
    """Returns a path to open for writing, and the reading end, which shows whether it is open."""
    name = tmp_path / "held"
    os.mkfifo(name)
    return str(name), os.open(name, os.O_RDONLY | os.O_NONBLOCK)


@linux
@WAYS
def test_program_that_left_the_handlers_group_ends_with_it(fifo: tuple[str, int], way: str):
    name, reader = fifo
    running = RunningChild("isolated.escapes", f"{name} {way}")
    running.control.force_stop()

    assert isinstance(running.outcome(), Stopped)
    assert is_closed(reader)


@linux
def test_daemon_of_a_handler_that_succeeded_ends_too(ended, fifo: tuple[str, int]):
    name, reader = fifo

    assert result_of(ended("isolated.leaves_a_daemon", name)) == "done"
    assert is_closed(reader)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_handler_that_signals_its_parent_by_mistake_goes_on(fifo: tuple[str, int], number: int):
    name, reader = fifo
    running = RunningChild("isolated.attacks_its_supervisor", f"{name} {int(number)}")
    running.control.force_stop()

    assert isinstance(running.outcome(), Stopped)
    assert is_closed(reader)


@linux
def test_handler_that_kills_its_supervisor_ends_with_it(ended, fifo: tuple[str, int]):
    name, reader = fifo
    task = ended("isolated.attacks_its_supervisor", f"{name} {int(signal.SIGKILL)}")

    assert task.current.error.type == "ChildDied"
    assert is_closed(reader)


@linux
def test_handler_that_stops_its_supervisor_is_killed_by_the_executor(
    fifo: tuple[str, int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(supervised_process, "SUPERVISOR_TIMEOUT", 0.1)
    name, reader = fifo
    running = RunningChild("isolated.attacks_its_supervisor", f"{name} {int(signal.SIGSTOP)}")
    running.control.force_stop()

    assert isinstance(running.outcome(), Stopped)
    assert is_closed(reader)


def test_child_that_cannot_be_started_leaves_no_descriptor_behind(monkeypatch: pytest.MonkeyPatch):
    def refused(*_: Any) -> Any:
        raise FileNotFoundError("no such interpreter")

    monkeypatch.setattr(supervised_process, "_start", refused)
    before = sorted(os.listdir("/dev/fd"))
    with pytest.raises(FileNotFoundError):
        Template()

    assert sorted(os.listdir("/dev/fd")) == before


def is_closed(reader: int) -> bool:
    """Whether no process has the other end open."""
    hung_up = select.poll()
    hung_up.register(reader, select.POLLHUP)
    closed = bool(hung_up.poll(PATIENCE * 1_000))
    os.close(reader)
    return closed


def test_a_run_that_was_interrupted_before_it_began_does_not_begin():
    spec = a_spec(target={"type": "python", "handler": "isolated.echo"})
    task = a_running_task(spec=spec)
    control = RunControl(task, lambda progress: None)
    control.force_stop()

    with pytest.raises(Stopped):
        run_handler(task, control)


# the end of the executor


def test_child_ends_when_the_executor_closes_the_pipe():
    template = Template()
    fork = template.fork()
    fork.send(a_request("isolated.blocks"))
    while fork.receive() is None:
        pass
    fork._pipe.close()

    assert template.wait_for_end(PATIENCE) == signal.SIGKILL
    template.close()


def test_child_that_gets_no_request_ends_by_itself():
    template = Template()
    template.fork()._pipe.close()
    assert template.wait_for_end(PATIENCE) == 0

    template._control.close()
    assert template.process.wait(PATIENCE) == 0
    template.close()


EXECUTOR = """
import sys

from duetime.executor.isolation.protocol import Answer, Question, ReadRequest
from duetime.executor.isolation.template import Template
from duetime.executor.isolation.templates import TEMPLATES
from duetime.executor.run_control import RunControl
from duetime.executor.targets.python import run_handler
from tests.executor import isolated_handlers
from tests.factories import a_running_task, a_spec, result_of

name, payload = sys.argv[1:]
spec = a_spec(target={"type": "python", "handler": name}, payload=payload)
task = a_running_task(spec=spec)
run_handler(task, RunControl(task, lambda progress: print("it runs", flush=True)))
"""


# Forks once the handler runs, as another handler in the same process may.
COPIES_ITSELF = """
import os, threading, time

def fork_when_it_runs(progress):
    print("it runs", flush=True)
    copy = os.fork()
    if copy == 0:
        os.closerange(0, 3)
        time.sleep(3600)
    print(copy, flush=True)

"""


def an_executor(
    handler: str, payload: str = "", source: str = EXECUTOR
) -> "subprocess.Popen[bytes]":
    """Starts an executor in another process, in which the handler runs."""
    command = [sys.executable, "-c", source, handler, payload]
    executor = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert executor.stdout is not None
    assert executor.stdout.readline() == b"it runs\n"
    return executor


def test_a_child_ends_with_its_executor():
    executor = an_executor("isolated.blocks")
    executor.kill()

    printed, _ = executor.communicate(timeout=PATIENCE)  # until the child has closed it
    assert printed == b""


def test_programs_that_a_handler_started_end_with_the_executor(tmp_path):
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    executor = an_executor("isolated.starts_another", str(fifo))
    executor.kill()
    executor.communicate(timeout=PATIENCE)

    assert is_closed(reader)


@linux
@WAYS
def test_program_that_left_the_handlers_group_ends_with_the_executor_too(
    fifo: tuple[str, int], way: str
):
    name, reader = fifo
    executor = an_executor("isolated.escapes", f"{name} {way}")
    executor.kill()
    executor.communicate(timeout=PATIENCE)

    assert is_closed(reader)


def test_child_ends_with_its_executor_although_a_copy_of_that_lives_on(fifo: tuple[str, int]):
    """A handler that forks in the executor inherits every descriptor."""
    name, reader = fifo
    copying = COPIES_ITSELF + EXECUTOR.replace(
        'lambda progress: print("it runs", flush=True)', "fork_when_it_runs"
    )
    executor = an_executor("isolated.starts_another", name, copying)
    copy = int(executor.stdout.readline())  # type: ignore[union-attr]
    executor.kill()
    executor.wait(PATIENCE)

    assert is_closed(reader)
    os.kill(copy, signal.SIGKILL)


def a_request(name: str) -> Any:
    handler = registry.find(name)
    assert handler is not None
    task = a_running_task(spec=a_spec(target={"type": "python", "handler": name}))
    return _request(handler, task, RunControl(task, lambda _: None))


class InterruptedPipe:
    """A pipe to an executor whose answer to the first question arrives after the second one."""

    def __init__(self) -> None:
        self.parent = Parent(cast(Any, self))
        self._questions: list[Question] = []

    def send(self, question: Question) -> None:
        self._questions.append(question)
        if len(self._questions) == 1:
            raise InterruptedError("by a signal handler, once the question is sent")
        for one in self._questions:
            request = cast(ReadRequest, one.request)
            self.parent._answers.put(Answer(number=one.number, value=request.task_id))


def test_answer_that_a_signal_handler_interrupted_is_not_taken_for_the_next():
    parent = InterruptedPipe().parent

    with pytest.raises(InterruptedError):
        parent.read("first")
    assert parent.read("second") == "second"
