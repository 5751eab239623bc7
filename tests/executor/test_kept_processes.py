"""Processes of isolated handlers that run one attempt after another."""

import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any

import pytest

from duetime.core.errors import Stopped
from duetime.executor.executor import Executor
from duetime.executor.handler_processes.protocol import read_task
from duetime.executor.isolation import template as templates_of_isolated_handlers
from duetime.executor.isolation.handler_process import MOST_ATTEMPTS, Attempt, Listener
from duetime.executor.isolation.process import SENT_AHEAD, IsolatedAttempt, _request, _run
from duetime.executor.isolation.protocol import (
    PreviousRequest,
    Question,
    StopNotice,
    Succeeded,
)
from duetime.executor.isolation.template import Template
from duetime.executor.isolation.templates import TEMPLATES
from duetime.executor.run_control import RunControl
from duetime.executor.targets.python import run_handler
from duetime.handlers import registry
from duetime.logs import formatting
from tests.executor import kept_handlers
from tests.executor.test_isolation import (
    EXECUTOR,
    PATIENCE,
    RunningChild,
    an_executor,
    fifo,  # noqa: F401
    is_closed,
)
from tests.factories import a_running_task, a_spec, result_of
from tests.world import World

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process is kept")


@pytest.fixture(autouse=True)
def _handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_handlers", {})
    importlib.reload(kept_handlers)
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


@pytest.fixture
def result(ended: Callable[..., Any]) -> Callable[..., Any]:
    return lambda name, payload=None: result_of(ended(name, payload))


def test_next_attempt_runs_in_the_same_process(result):
    first, second = result("kept.counts"), result("kept.counts")

    assert first == {"pid": first["pid"], "calls": 1}
    assert second == {"pid": first["pid"], "calls": 2}


def test_handler_that_asks_for_it_gets_a_fresh_process_for_each_attempt(result):
    kept, fresh, another = result("kept.counts"), result("kept.fresh"), result("kept.fresh")

    assert len({kept["pid"], fresh["pid"], another["pid"]}) == 3
    assert (fresh["calls"], another["calls"]) == (1, 1)
    assert result("kept.counts")["calls"] == 1, "none of those processes was kept"


def test_isolated_is_true_or_false_or_fresh():
    with pytest.raises(ValueError, match='isolated is True, False or "fresh"'):
        registry.task("kept.for_ever", isolated="kept")  # type: ignore[arg-type]


def test_process_is_kept_after_an_exception(ended, result):
    ended("kept.raises")

    assert result("kept.counts")["calls"] == 2


def test_process_that_its_handler_wants_to_exit_is_not_kept(ended, result):
    ended("kept.raises", "exit")

    assert result("kept.counts")["calls"] == 1


@pytest.mark.parametrize("what", kept_handlers.CHANGES)
def test_process_in_which_an_attempt_left_something_behind_is_not_kept(result, what: str):
    first = result("kept.changes", what)["pid"]

    assert result("kept.counts")["pid"] != first
    assert is_gone(first)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_process_whose_threads_and_programs_have_ended_is_kept():
    """The kernel may take longer to end a thread than the process waits, on a busy machine."""
    pids = [called("kept.works")["pid"] for _ in range(20)]

    assert len(set(pids)) < len(pids)


def test_process_ends_after_a_number_of_attempts():
    pids = [called("kept.counts")["pid"] for _ in range(MOST_ATTEMPTS + 1)]

    assert len(set(pids[:MOST_ATTEMPTS])) == 1
    assert pids[MOST_ATTEMPTS] != pids[0]


def called(name: str, payload: Any = None) -> Any:
    """Returns the result of one attempt, without a store."""
    task = a_running_task(spec=a_spec(target={"type": "python", "handler": name}, payload=payload))
    encoded = run_handler(task, RunControl(task, lambda _: None))
    return encoded and json.loads(encoded)


def test_process_of_an_attempt_that_was_asked_to_stop_is_not_kept(result):
    running = RunningChild("kept.waits")
    running.control.request_stop("cancelled")
    stopped = json.loads(running.outcome())

    assert result("kept.counts")["pid"] != stopped["pid"]


def test_request_to_stop_that_comes_after_the_end_does_not_reach_the_next_attempt():
    template = Template()
    fork = template.fork()
    fork.send(a_request("kept.counts"))
    assert received(fork).kept

    fork.send(StopNotice(reason="cancelled"))
    fork.send(a_request("kept.reason"))

    outcome = received(fork)
    assert isinstance(outcome, Succeeded)
    assert (outcome.result, outcome.kept) == (None, True)
    fork.dismiss()
    template.close()


def test_request_to_stop_reaches_a_handler_that_asks_nothing():
    template = Template()
    fork = template.fork()
    for _ in range(2):
        fork.send(a_request("kept.waits_silently"))
        fork.send(StopNotice(reason="cancelled"))
        assert isinstance(received(fork), Succeeded)
        fork.send(a_request("kept.counts"))
        assert received(fork).kept, "the process reads requests as before"
    fork.dismiss()
    template.close()


def test_request_is_not_lost_that_arrives_before_the_main_thread_waits_for_it():
    """The listener, which has read for the attempt before, reads it."""
    ours, theirs = Pipe()
    listener = Listener(theirs)
    listener.start()
    listener.begin(Attempt(a_request("kept.counts"), listener))
    listener.send(Question(number=1, request=PreviousRequest()))
    listener.end()
    ours.send(a_request("kept.reason"))
    while listener._requests.empty():
        threading.Event().wait(0.001)

    for name in ("kept.reason", "kept.marks"):
        request = listener.next_request(PATIENCE)
        assert request is not None
        assert read_task(request.task).handler == name
        listener.begin(Attempt(request, listener))
        listener.end()
        ours.send(a_request("kept.marks"))
    ours.close()


def test_process_that_was_handed_on_has_the_request_of_the_next_attempt():
    template = TEMPLATES.take()
    template.kept = template.fork()
    attempt = an_attempt("kept.counts")
    attempt.begin(template)

    assert template.kept is None
    assert attempt.fork is not None
    assert received(attempt.fork).kept
    attempt.fork.dismiss()
    TEMPLATES.give_back(template)


@pytest.mark.parametrize("why", ["interrupted", "fresh", "large"])
def test_attempt_is_not_begun_in_a_process_that_was_handed_on(why: str):
    template = TEMPLATES.take()
    template.kept = kept = template.fork()
    attempt = an_attempt("kept.fresh" if why == "fresh" else "kept.counts", large=why == "large")
    if why == "interrupted":
        attempt.control.force_stop()
    attempt.begin(template)

    assert attempt.fork is None
    assert template.kept is kept
    TEMPLATES.give_back(template)


def test_attempt_that_is_interrupted_after_it_was_begun_ends_with_its_process():
    template = TEMPLATES.take()
    template.kept = template.fork()
    attempt = an_attempt("kept.waits_silently")
    attempt.begin(template)
    attempt.control.force_stop()

    with pytest.raises(Stopped):
        _run(template, attempt)
    assert not template.usable
    TEMPLATES.give_back(template)
    assert template.process.poll() is not None


def an_attempt(name: str, *, large: bool = False) -> IsolatedAttempt:
    handler = registry.find(name)
    assert handler is not None
    payload = "a" * SENT_AHEAD if large else None
    task = a_running_task(spec=a_spec(target={"type": "python", "handler": name}, payload=payload))
    control = RunControl(task, lambda _: None)
    return IsolatedAttempt(_request(handler, task, control), control)


def a_request(name: str) -> Any:
    handler = registry.find(name)
    assert handler is not None
    task = a_running_task(spec=a_spec(target={"type": "python", "handler": name}))
    return _request(handler, task, RunControl(task, lambda _: None))


def received(fork: Any) -> Any:
    while (message := fork.receive()) is None:
        pass
    return message


def test_context_variables_of_an_attempt_are_not_there_in_the_next(result):
    first, second = result("kept.marks", "by the first"), result("kept.marks", "by the second")

    assert second == {"pid": first["pid"], "found": ""}


def test_unfinished_line_of_an_attempt_ends_with_it(ended, monkeypatch, capfd):
    settings = formatting.LogSettings(format="json", level="warning")
    monkeypatch.setattr(formatting, "_installed", settings)
    tasks = [ended("kept.prints", text) for text in ("one", "two")]

    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [(line["message"], line["task_id"]) for line in lines] == [
        ("one", tasks[0].id),
        ("two", tasks[1].id),
    ]


def test_output_of_an_attempt_is_there_when_it_has_ended(ended, monkeypatch, capfd):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    ended("kept.prints", "without an end of line")

    assert capfd.readouterr().out == "without an end of line"


def test_context_of_an_ended_attempt_cannot_report_for_the_next(ended):
    assert ended("kept.holds_its_context").progress is not None

    late = ended("kept.holds_its_context")
    assert result_of(late) == "the attempt has ended"
    assert late.progress is None


# the end of a kept process


def test_attempt_gets_another_process_if_the_kept_one_was_killed(result):
    first = result("kept.counts")["pid"]
    os.kill(first, signal.SIGKILL)
    assert TEMPLATES._idle[-1].wait_for_end(PATIENCE) == signal.SIGKILL

    assert result("kept.counts")["pid"] != first


def test_kept_process_without_an_attempt_ends_by_itself(monkeypatch):
    monkeypatch.setattr(templates_of_isolated_handlers, "IDLE_TIMEOUT", 0.0)
    called("kept.counts")

    assert TEMPLATES._idle[-1].wait_for_end(PATIENCE) == 0
    assert called("kept.counts")["calls"] == 1


def test_attempts_run_once_although_the_kept_processes_end_all_the_time(monkeypatch):
    monkeypatch.setattr(templates_of_isolated_handlers, "IDLE_TIMEOUT", 0.0)
    results = [called("kept.counts") for _ in range(20)]

    for number, found in enumerate(results):
        earlier = [one for one in results[:number] if one["pid"] == found["pid"]]
        assert found["calls"] == len(earlier) + 1


def test_attempt_whose_request_crosses_the_end_of_its_process_runs_in_another(monkeypatch):
    """The template, which is stopped, does not say that its fork has ended."""
    monkeypatch.setattr(templates_of_isolated_handlers, "IDLE_TIMEOUT", 0.0)
    monkeypatch.setattr(templates_of_isolated_handlers, "EXIT_TIMEOUT", 0.01)
    called("kept.stops_its_template")

    assert called("kept.counts")["calls"] == 1


def test_kept_process_ends_with_its_executor(fifo: tuple[str, int]):  # noqa: F811
    name, reader = fifo
    source = EXECUTOR.replace("isolated_handlers", "kept_handlers") + (
        "print('it runs', flush=True)\nsys.stdin.read()\n"
    )
    executor = an_executor("kept.holds_a_file", name, source)
    executor.kill()
    executor.wait(PATIENCE)

    assert is_closed(reader)


def test_exit_functions_of_a_kept_process_run_when_it_ends(tmp_path: Path):
    file = tmp_path / "written"
    called("kept.writes_at_its_end", str(file))
    assert not file.exists()

    TEMPLATES.close()
    assert file.read_text() == "ended"
