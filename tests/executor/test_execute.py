"""Everything that a handler returns or raises becomes the outcome of its attempt."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from duetime.core.errors import PermanentError, Stopped
from duetime.core.lifecycle import Outcome, Status
from duetime.core.results import SIZE_LIMIT
from duetime.core.task import Progress
from duetime.core.times import SECOND, to_datetime
from duetime.executor.executor import Executor
from duetime.executor.runs import timed_out
from duetime.executor.targets.python import run_handler
from duetime.handlers import registry
from duetime.handlers.context import Context
from tests.factories import result_of
from tests.world import World


def ended(world: World, script: Any) -> Any:
    """Returns the task after one attempt with this handler."""
    world.script = script
    task_id = world.submit()
    world.deliver()
    return world.task(task_id)


def raising(error: BaseException) -> Any:
    def script(task, ctx):
        raise error

    return script


def test_drift_is_measured_when_the_target_is_called(world: World):
    """The time between asking for the lease and the call counts. It is reported as a time of the
    wall clock, even if that was set meanwhile."""
    task_id = world.submit()
    world.advance(30)
    [run] = world.lease()
    leased = world.task(task_id).current
    assert (leased.started_at, leased.drift_ms) == (run.task.due_at + 30, 30)

    world.advance(400)
    world.clock.set_by(-3_600 * SECOND)
    end = world.executor.run_target(run)
    world.clock.set_by(3_600 * SECOND)
    world.advance(5)
    world.record([end])

    ran = world.task(task_id).current
    assert (ran.started_at, ran.drift_ms) == (run.task.due_at + 430, 430)
    assert ran.finished_at == ran.started_at + 5


@pytest.mark.parametrize("error", [ValueError("wrong"), PermanentError("never")])
def test_drift_of_a_failed_attempt_is_measured_at_the_call(world: World, error: Exception):
    world.script = raising(error)
    task_id = world.submit()
    [run] = world.lease()
    world.advance(400)
    world.record([world.executor.run_target(run)])

    assert world.task(task_id).current.drift_ms == 400


def test_drift_of_an_attempt_without_a_call_is_measured_at_the_lease(world: World):
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
        (Mute(), "Mute", "the error has no message: its __str__ failed"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_exception_fails_the_attempt(world: World, error, name, message, caplog):
    # pytest-xdist cannot pass half a surrogate pair from one process to another.
    caplog.set_level(logging.WARNING, logger="duetime.executor.target_runner")
    task = ended(world, raising(error))

    assert task.status is Status.RETRYING
    assert task.current.outcome is Outcome.FAILED
    assert (task.current.error.type, task.current.error.message) == (name, message)


@pytest.mark.parametrize(
    ("why", "passed", "status", "message"),
    [
        ("cancelled", 0, Status.CANCELLED, "the task was cancelled"),
        ("lease_lost", 30 * SECOND, Status.RETRYING, "the heartbeats were not answered"),
        ("timed_out", 60 * SECOND, Status.RETRYING, "its time was up"),
        ("draining", 30 * SECOND, Status.RETRYING, "its worker was stopped"),
    ],
)
def test_interrupted_handler_records_why_it_was_stopped(world: World, why, passed, status, message):
    def script(task, ctx):
        world.advance(passed)
        ctx._control.request_stop(why)
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
def test_json_result_is_stored(world: World, result):
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
def test_result_that_is_not_json_is_a_permanent_failure_with_a_hint(world: World, result):
    task = ended(world, lambda task, ctx: result)

    assert task.status is Status.DEAD
    assert task.current.error.type == "BadResult"
    assert task.current.error.message.startswith("result: ")
    assert "not JSON" in task.current.error.message
    assert task.current.error.traceback is None


@pytest.mark.parametrize("result", [nested(101), nested(100_000), circular()])
def test_result_nested_too_deep_is_a_permanent_failure_with_a_hint(world: World, result):
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
def test_result_of_common_types_becomes_json(world: World, result, stored):
    """The work is done, so a datetime in the result must not fail the task."""
    task = ended(world, lambda task, ctx: result)

    assert task.status is Status.SUCCEEDED
    assert result_of(task) == stored


def test_hint_names_the_place_in_the_result(world: World):
    task = ended(world, lambda task, ctx: {"items": [1, {"raw": b"x"}]})

    assert task.current.error.message == (
        "result.items.1.raw: bytes are not JSON; use decode() of them, or base64 text"
    )


def test_result_whose_class_raises_is_a_permanent_failure(world: World):
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


def test_context_has_the_ids_and_the_deadline_of_the_attempt(world: World):
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


def test_progress_message_is_made_storable(world: World):
    task = ended(world, lambda task, ctx: ctx.progress(1, "\ud800" + "x" * 1_000))

    assert task.progress.message == "?" + "x" * 255


# Python handlers


@pytest.fixture
def python(world: World, monkeypatch: pytest.MonkeyPatch):
    """Runs a registered handler and returns its task."""
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


def test_unknown_handler_is_retried_because_another_executor_may_have_it(python):
    task = python("missing")

    assert task.status is Status.RETRYING
    assert task.current.error.type == "UnknownHandler"
