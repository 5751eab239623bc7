"""What is kept of a traceback."""

import asyncio
from time import thread_time
from typing import Any

import pytest

from lambdas import registry
from lambdas.core.errors import PermanentError, RetryLater, Snooze
from lambdas.core.lifecycle import Outcome, Status
from lambdas.core.times import SECOND
from lambdas.executor.executor import Executor
from lambdas.executor.failures import failure_of
from lambdas.executor.targets import TargetFailed
from lambdas.executor.targets.python import run_handler
from lambdas.executor.traces import CUT, LIMIT, LINE_LIMIT, told_trace
from tests.world import World

FIRST = "Traceback (most recent call last):"


def raised(act: Any) -> BaseException:
    try:
        act()
    except BaseException as error:  # noqa: BLE001
        return error
    raise AssertionError("it did not raise")


def trace_of(act: Any) -> str:
    trace = told_trace(raised(act))
    assert trace is not None
    assert len(trace) <= LIMIT
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
    """The error of one attempt of a registered handler."""
    monkeypatch.setattr(registry, "_handlers", {})
    world.executor = Executor(world.ports, {"python": run_handler})

    def run(handler: Any) -> Any:
        registry.task("handler")(handler)
        task_id = world.submit(target={"type": "python", "handler": "handler"})
        world.deliver()
        return world.task(task_id).current.error

    return run


def test_it_begins_with_the_handler(failed):
    lines = failed(lambda payload, ctx: fails()).traceback.splitlines()

    assert lines[0] == FIRST
    assert lines[1].endswith("in <lambda>")
    assert lines[-3].endswith("in fails")
    assert lines[-1] == "ValueError: wrong"


def test_it_begins_with_an_async_handler_too(failed):
    async def handler(payload, ctx):
        await asyncio.sleep(0)
        fails()

    lines = failed(handler).traceback.splitlines()

    assert lines[1].endswith("in handler")
    assert lines[-1] == "ValueError: wrong"


def test_a_permanent_error_has_one(failed):
    def handler(payload, ctx):
        raise PermanentError("for good")

    assert failed(handler).traceback.endswith("PermanentError: for good")


def test_what_no_handler_has_raised_has_none(failed):
    assert failed(lambda payload, ctx: b"x").traceback is None  # BadResult


@pytest.mark.parametrize("error", [TargetFailed("Gone", "no"), RetryLater(1), Snooze(1)], ids=repr)
def test_an_answer_has_none(error):
    def answers():
        raise error

    assert failure_of(raised(answers)).error.traceback is None


def test_causes_are_told_as_python_tells_them():
    told = trace_of(fails_with_a_cause)

    assert told.count(FIRST) == 2
    assert "ValueError: wrong\n\nThe above exception was the direct cause" in told
    assert told.endswith("KeyError: 'no such thing'")


def test_a_group_is_told_with_its_members():
    def groups():
        raise ExceptionGroup("several", [raised(fails), TypeError("other")])

    told = trace_of(groups)

    assert "ValueError: wrong" in told
    assert "TypeError: other" in told


def deep(depth: int = 0) -> None:
    if depth >= 400:
        fails()
    deep(depth + 1)


def test_of_a_long_one_the_end_is_kept_from_the_start_of_a_line():
    def says_much():
        raise ValueError("\n".join(f"line {n}" for n in range(1_000)))

    lines = trace_of(says_much).splitlines()

    assert lines[0] == CUT
    assert lines[-1] == "line 999"
    assert lines[1:] == [f"line {n}" for n in range(1_001 - len(lines), 1_000)]


def test_a_long_line_is_cut():
    def says_much():
        raise ValueError("x" * 100_000)

    lines = trace_of(says_much).splitlines()

    assert lines[0] == FIRST
    assert len(lines[-1]) == LINE_LIMIT
    assert lines[-1].startswith("ValueError: xxx")
    assert lines[-1].endswith("x" + CUT)


def test_a_deep_one_is_told_by_its_end_and_cheaply():
    lines = trace_of(deep).splitlines()
    assert lines[:2] == [CUT, FIRST]
    assert lines[-3].endswith("in fails")
    assert lines[-1] == "ValueError: wrong"

    def endless():
        endless()

    assert trace_of(endless).splitlines()[-1].startswith("RecursionError: maximum recursion")
    assert cost_of(deep) < 20 * cost_of(fails), "and not 400 times as much"


def cost_of(act: Any) -> float:
    """In CPU time, which a busy machine does not stretch; the best of ten."""
    error = raised(act)

    def once() -> float:
        began = thread_time()
        told_trace(error)
        return thread_time() - began

    return min(once() for _ in range(10))


def test_one_with_thousands_of_causes_is_told_alone():
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
def test_whatever_is_raised_can_be_told(error, last):
    def raises():
        raise error

    assert trace_of(raises).endswith(last)
    assert failure_of(raised(raises)).outcome is Outcome.FAILED


class OddDelay(Snooze):
    def __init__(self) -> None:
        """Without what a snooze is made of."""


@pytest.mark.parametrize("seconds", [None, "soon", -1, float("nan"), 1e12])
def test_a_delay_that_is_none_is_a_failure_like_any_other(seconds):
    error = OddDelay()
    error.seconds = seconds

    failure = failure_of(error)

    assert (failure.outcome, failure.delay) == (Outcome.FAILED, None)
    assert failure_of(OddDelay()).delay is None


def test_a_delay_is_kept_to_the_millisecond():
    assert failure_of(RetryLater(0.25)).delay == SECOND // 4
    assert failure_of(Snooze(0)).delay == 0
    assert failure_of(Snooze(0)).outcome is Outcome.SNOOZED


def test_a_traceback_comes_back_from_the_store(world: World):
    def script(task, ctx):
        fails_with_a_cause()

    world.script = script
    task_id = world.submit()
    world.deliver()

    task = world.task(task_id)
    assert task.status is Status.RETRYING
    assert task.current.error.traceback.endswith("KeyError: 'no such thing'")
