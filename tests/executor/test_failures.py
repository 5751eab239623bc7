"""Failures and their tracebacks."""

import asyncio
from time import thread_time
from typing import Any

import pytest

from duetime.core.errors import PermanentError, RetryLater, Snooze
from duetime.core.lifecycle import Outcome, Status
from duetime.core.times import SECOND
from duetime.executor.executor import Executor
from duetime.executor.failures import CUT, LINE_LIMIT, TRACEBACK_LIMIT, failure_of, format_traceback
from duetime.executor.targets import TargetFailed
from duetime.executor.targets.python import run_handler
from duetime.handlers import registry
from tests.world import World

FIRST = "Traceback (most recent call last):"


def raised(act: Any) -> BaseException:
    try:
        act()
    except BaseException as error:  # noqa: BLE001
        return error
    raise AssertionError("it did not raise")


def trace_of(act: Any) -> str:
    trace = format_traceback(raised(act))
    assert trace is not None
    assert len(trace) <= TRACEBACK_LIMIT
    trace.encode()
    return trace


def fails() -> None:
    raise ValueError("wrong")


def fails_with_a_cause() -> None:
    try:
        fails()
    except ValueError as error:
        raise KeyError("no such thing") from error


@pytest.fixture
def failed(world: World, monkeypatch: pytest.MonkeyPatch):
    """Returns the error of one attempt of a registered handler."""
    monkeypatch.setattr(registry, "_handlers", {})
    world.executor = Executor(world.ports, {"python": run_handler})

    def run(handler: Any) -> Any:
        registry.task("handler")(handler)
        task_id = world.submit(target={"type": "python", "handler": "handler"})
        world.deliver()
        return world.task(task_id).current.error

    return run


def test_traceback_begins_with_the_handler(failed):
    lines = failed(lambda payload, ctx: fails()).traceback.splitlines()

    assert lines[0] == FIRST
    assert lines[1].endswith("in <lambda>")
    assert lines[-3].endswith("in fails")
    assert lines[-1] == "ValueError: wrong"


def test_traceback_begins_with_an_async_handler(failed):
    async def handler(payload, ctx):
        await asyncio.sleep(0)
        fails()

    lines = failed(handler).traceback.splitlines()

    assert lines[1].endswith("in handler")
    assert lines[-1] == "ValueError: wrong"


def test_permanent_error_has_a_traceback(failed):
    def handler(payload, ctx):
        raise PermanentError("for good")

    assert failed(handler).traceback.endswith("PermanentError: for good")


def test_error_outside_a_handler_has_no_traceback(failed):
    assert failed(lambda payload, ctx: b"x").traceback is None  # BadResult


@pytest.mark.parametrize("error", [TargetFailed("Gone", "no"), RetryLater(1), Snooze(1)], ids=repr)
def test_target_failure_and_requested_delay_have_no_traceback(error):
    def answers():
        raise error

    assert failure_of(raised(answers)).error.traceback is None


def test_traceback_shows_causes_as_python_does():
    text = trace_of(fails_with_a_cause)

    assert text.count(FIRST) == 2
    assert "ValueError: wrong\n\nThe above exception was the direct cause" in text
    assert text.endswith("KeyError: 'no such thing'")


def test_traceback_of_a_group_shows_its_members():
    def groups():
        raise ExceptionGroup("several", [raised(fails), TypeError("other")])

    text = trace_of(groups)

    assert "ValueError: wrong" in text
    assert "TypeError: other" in text


def deep(depth: int = 0) -> None:
    if depth >= 400:
        fails()
    deep(depth + 1)


def test_long_traceback_keeps_whole_lines_from_its_end():
    def says_much():
        raise ValueError("\n".join(f"line {n}" for n in range(1_000)))

    lines = trace_of(says_much).splitlines()

    assert lines[0] == CUT
    assert lines[-1] == "line 999"
    assert lines[1:] == [f"line {n}" for n in range(1_001 - len(lines), 1_000)]


def test_long_line_of_a_traceback_is_cut():
    def says_much():
        raise ValueError("x" * 100_000)

    lines = trace_of(says_much).splitlines()

    assert lines[0] == FIRST
    assert len(lines[-1]) == LINE_LIMIT
    assert lines[-1].startswith("ValueError: xxx")
    assert lines[-1].endswith("x" + CUT)


def test_deep_traceback_keeps_its_end_and_is_cheap():
    lines = trace_of(deep).splitlines()
    assert lines[:2] == [CUT, FIRST]
    assert lines[-3].endswith("in fails")
    assert lines[-1] == "ValueError: wrong"

    def endless():
        endless()

    assert trace_of(endless).splitlines()[-1].startswith("RecursionError: maximum recursion")
    assert cost_of(deep) < 20 * cost_of(fails), "and not 400 times as much"


def cost_of(act: Any) -> float:
    """Returns the best of ten, in CPU time, which a busy machine does not change."""
    error = raised(act)

    def once() -> float:
        began = thread_time()
        format_traceback(error)
        return thread_time() - began

    return min(once() for _ in range(10))


def test_error_with_thousands_of_causes_is_shown_alone():
    def chain():
        error = None
        for n in range(5_000):
            following = ValueError(n)
            following.__cause__ = error
            error = following
        raise error

    lines = trace_of(chain).splitlines()

    assert lines[-1] == "ValueError"
    assert "in chain" in lines[-3]


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit("it cannot even say its name")


class Broken(Exception):
    @property
    def __cause__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("error", "last"),
    [
        (Mute(), "<exception str() failed>"),
        (Broken(), "Broken"),
        (ValueError("lone \ud800"), "ValueError: lone ?"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_error_has_a_traceback(error, last):
    def raises():
        raise error

    assert trace_of(raises).endswith(last)
    assert failure_of(raised(raises)).outcome is Outcome.FAILED


class OddDelay(Snooze):
    def __init__(self) -> None:
        """Does not call the base class, which sets the delay."""


@pytest.mark.parametrize("seconds", [None, "soon", -1, float("nan"), 1e12])
def test_invalid_delay_is_an_ordinary_failure(seconds):
    error = OddDelay()
    error.seconds = seconds

    failure = failure_of(error)

    assert (failure.outcome, failure.delay) == (Outcome.FAILED, None)
    assert failure_of(OddDelay()).delay is None


def test_a_delay_is_kept_to_the_millisecond():
    assert failure_of(RetryLater(0.25)).delay == SECOND // 4
    assert failure_of(Snooze(0)).delay == 0
    assert failure_of(Snooze(0)).outcome is Outcome.SNOOZED


def test_traceback_is_stored_and_read_back(world: World):
    def script(task, ctx):
        fails_with_a_cause()

    world.script = script
    task_id = world.submit()
    world.deliver()

    task = world.task(task_id)
    assert task.status is Status.RETRYING
    assert task.current.error.traceback.endswith("KeyError: 'no such thing'")
