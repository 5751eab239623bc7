"""Whatever a handler does, it ends as an outcome of its attempt."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from lambdas import registry
from lambdas.core.errors import PermanentError
from lambdas.core.lifecycle import Outcome, Status
from lambdas.core.results import SIZE_LIMIT
from lambdas.core.task import Progress
from lambdas.core.times import SECOND, to_datetime
from lambdas.executor.context import Context
from lambdas.executor.executor import Executor
from lambdas.executor.runs import timed_out
from lambdas.executor.stopping import Stopped
from lambdas.executor.targets.python import run_handler
from tests.factories import result_of
from tests.world import World


def ended(world: World, script: Any) -> Any:
    """The task after one attempt with this handler."""
    world.script = script
    task_id = world.submit()
    world.deliver()
    return world.task(task_id)


def raising(error: BaseException) -> Any:
    def script(task, ctx):
        raise error

    return script


def test_drift_is_measured_when_the_target_is_called(world: World):
    """Whatever came between asking for the lease and the call counts, in the wall clock's words
    though somebody has set it meanwhile."""
    task_id = world.submit()
    world.advance(30)
    [run] = world.lease()
    leased = world.task(task_id).current
    assert (leased.started_at, leased.drift_ms) == (run.task.due_at + 30, 30)

    world.advance(400)
    world.clock.set_by(-3_600 * SECOND)
    end = world.executor.execute(run)
    world.clock.set_by(3_600 * SECOND)
    world.advance(5)
    world.record([end])

    ran = world.task(task_id).current
    assert (ran.started_at, ran.drift_ms) == (run.task.due_at + 430, 430)
    assert ran.finished_at == ran.started_at + 5


@pytest.mark.parametrize("error", [ValueError("wrong"), PermanentError("never")])
def test_drift_of_an_attempt_that_failed_is_that_of_its_call_too(world: World, error: Exception):
    world.script = raising(error)
    task_id = world.submit()
    [run] = world.lease()
    world.advance(400)
    world.record([world.executor.execute(run)])

    assert world.task(task_id).current.drift_ms == 400


def test_drift_of_an_attempt_whose_target_was_never_called_is_that_of_its_lease(world: World):
    task_id = world.submit()
    world.advance(30)
    [run] = world.lease()
    world.advance(60 * SECOND)
    world.record([timed_out(run)])

    assert world.task(task_id).current.drift_ms == 30


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("it cannot even say its name")


@pytest.mark.parametrize(
    ("error", "name", "message"),
    [
        (ValueError("wrong"), "ValueError", "wrong"),
        (SystemExit(3), "SystemExit", "3"),
        (KeyboardInterrupt(), "KeyboardInterrupt", ""),
        (GeneratorExit(), "GeneratorExit", ""),
        (asyncio.CancelledError(), "CancelledError", ""),
        (ValueError("x" * 5_000), "ValueError", "x" * 1_000),
        (ValueError("lone \ud800"), "ValueError", "lone ?"),
        (Mute(), "Mute", "an error that cannot say what it is"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_is_raised_fails_the_attempt(world: World, error, name, message, caplog):
    # Half a character in a log cannot be handed from one process of the tests to another.
    caplog.set_level(logging.WARNING, logger="lambdas.executor.executor")
    task = ended(world, raising(error))

    assert task.status is Status.RETRYING
    assert task.current.outcome is Outcome.FAILED
    assert (task.current.error.type, task.current.error.message) == (name, message)


@pytest.mark.parametrize(
    ("why", "passed", "status", "message"),
    [
        ({"asked": True}, 0, Status.CANCELLED, "the task was cancelled"),
        ({"lost": True}, 0, Status.RETRYING, "the lease was lost"),
        ({}, 30 * SECOND, Status.RETRYING, "the heartbeats were not answered"),
        ({}, 60 * SECOND, Status.RETRYING, "its time was up"),
    ],
)
def test_a_handler_that_was_made_to_stop_says_why(world: World, why, passed, status, message):
    def script(task, ctx):
        world.advance(passed)
        ctx.stop(**why)
        raise Stopped

    task = ended(world, script)

    assert task.status is status
    assert (task.current.error.type, task.current.error.message) == ("Stopped", message)
    assert task.current.error.traceback.endswith("Stopped")


def test_an_attribute_of_some_error_does_not_make_it_permanent(world: World):
    error = ValueError("wrong")
    error.permanent = True

    assert ended(world, raising(error)).status is Status.RETRYING


@pytest.mark.parametrize(
    "result",
    [None, 0, "", "text", 1.5, True, [1, [2]], {"a": {"b": None}}, "ü" * 1_000, (1, 2)],
    ids=repr,
)
def test_json_is_a_result(world: World, result):
    task = ended(world, lambda task, ctx: result)

    assert task.status is Status.SUCCEEDED
    assert result_of(task) == (list(result) if isinstance(result, tuple) else result)


def nested(depth: int) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value]
    return value


def circular() -> Any:
    value: list = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "result",
    [
        object(),
        b"bytes",
        float("nan"),
        float("inf"),
        "lone \ud800",
        {"\udfff": 1},
    ],
    ids=["object", "bytes", "nan", "inf", "surrogate", "surrogate key"],
)
def test_what_is_not_json_fails_for_good_and_says_so(world: World, result):
    task = ended(world, lambda task, ctx: result)

    assert task.status is Status.DEAD
    assert task.current.error.type == "BadResult"
    assert task.current.error.message.startswith("result: ")
    assert "not JSON" in task.current.error.message
    assert task.current.error.traceback is None


@pytest.mark.parametrize("result", [nested(101), nested(100_000), circular()])
def test_result_nested_too_deep_fails_for_good_and_says_so(world: World, result):
    task = ended(world, lambda task, ctx: result)

    assert (task.status, task.current.error.type) == (Status.DEAD, "BadResult")
    assert "nested more than 100 levels deep" in task.current.error.message


@pytest.mark.parametrize(
    ("result", "stored"),
    [
        ({"at": datetime(2026, 11, 16, tzinfo=UTC)}, {"at": "2026-11-16T00:00:00+00:00"}),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        ([Decimal("9.90"), timedelta(minutes=5)], ["9.90", 300.0]),
        ({"seen": {1}}, {"seen": [1]}),
    ],
    ids=repr,
)
def test_result_of_other_types_is_stored_in_the_usual_way(world: World, result, stored):
    """The work is done: a datetime must not kill the task."""
    task = ended(world, lambda task, ctx: result)

    assert task.status is Status.SUCCEEDED
    assert result_of(task) == stored


def test_hint_names_the_place_in_the_result(world: World):
    task = ended(world, lambda task, ctx: {"items": [1, {"raw": b"x"}]})

    assert task.current.error.message == (
        "result.items.1.raw: bytes are not JSON; use decode() of them, or base64 text"
    )


def test_result_whose_class_raises_fails_for_good(world: World):
    class Model:
        @property
        def model_dump(self):
            raise LookupError("no such thing")

    task = ended(world, lambda task, ctx: Model())

    assert (task.status, task.current.error.type) == (Status.DEAD, "BadResult")
    assert "LookupError('no such thing')" in task.current.error.message


def test_a_result_may_have_64_kib_and_no_more(world: World):
    quotes = 2
    fits = "x" * (SIZE_LIMIT - quotes)

    assert result_of(ended(world, lambda task, ctx: fits)) == fits
    too_long = ended(world, lambda task, ctx: fits + "x")
    assert (too_long.status, too_long.current.error.type) == (Status.DEAD, "BadResult")
    in_bytes = ended(world, lambda task, ctx: "ü" * (SIZE_LIMIT // 2))
    assert in_bytes.status is Status.DEAD


def test_an_unknown_type_of_target_is_a_failure_of_the_attempt(world: World):
    task_id = world.submit(target={"type": "carrier pigeon"})
    world.deliver()

    assert world.task(task_id).current.error.type == "KeyError"


# the context


def test_what_a_handler_knows(world: World):
    seen: list[Context] = []
    world.script = lambda task, ctx: seen.append(ctx)
    task_id = world.submit(timeout=30, payload={"n": 1})
    world.deliver()

    [ctx] = seen
    assert (ctx.task_id, ctx.idempotency_key, ctx.attempt, ctx.fencing_token) == (
        *(task_id, task_id),
        *(1, 1),
    )
    assert ctx.deadline == to_datetime(world.task(task_id).due_at + 30 * SECOND)
    assert not ctx.cancelled


def test_progress_is_seen_from_outside_and_keeps_the_lease(world: World):
    seen = []

    def script(task, ctx):
        world.advance(20 * SECOND)
        ctx.progress(0.25, "a quarter")
        seen.append(world.task(task.id))

    task = ended(world, script)

    assert seen[0].progress == task.progress == Progress(fraction=0.25, message="a quarter")
    assert seen[0].lease_until == world.clock.now() + 45 * SECOND


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan")])
def test_progress_is_between_0_and_1(world: World, fraction):
    task = ended(world, lambda task, ctx: ctx.progress(fraction))

    assert task.current.error.type == "ValueError"


def test_a_message_of_progress_is_made_storable(world: World):
    task = ended(world, lambda task, ctx: ctx.progress(1, "\ud800" + "x" * 1_000))

    assert task.progress.message == "?" + "x" * 255


# Python handlers


@pytest.fixture
def python(world: World, monkeypatch: pytest.MonkeyPatch):
    """Runs a registered handler, and returns its task."""
    monkeypatch.setattr(registry, "_handlers", {})
    world.executor = Executor(world.ports, {"python": run_handler})

    def run(name: str, payload: Any = None) -> Any:
        task_id = world.submit(target={"type": "python", "handler": name}, payload=payload)
        world.deliver()
        return world.task(task_id)

    return run


def test_a_registered_handler_gets_payload_and_context(python):
    @registry.task("double")
    def double(payload, ctx):
        return [payload * 2, ctx.attempt]

    assert result_of(python("double", 21)) == [42, 1]


def test_a_handler_may_be_async(python):
    @registry.task("later")
    async def later(payload, ctx):
        await asyncio.sleep(0)
        return payload

    @registry.task("broken")
    async def broken(payload, ctx):
        raise ValueError("async")

    assert result_of(python("later", "payload")) == "payload"
    assert python("broken").current.error.message == "async"


def test_a_handler_that_is_not_here_may_be_known_elsewhere(python):
    task = python("nobody")

    assert task.status is Status.RETRYING
    assert task.current.error.type == "UnknownHandler"
