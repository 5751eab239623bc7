"""One attempt of a handler, without a world."""

from typing import Any, TypeVar, cast

from duetime.core.codec import from_json, to_json
from duetime.core.lifecycle import Status
from duetime.core.results import encode_result
from duetime.core.task import Attempt, Spec, Task
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.executor.call_handler import call_handler
from duetime.executor.run_control import RunControl
from duetime.handlers.handler import Handler
from duetime.testing.targets import outside_loop

R = TypeVar("R")

TIMEOUT = 60.0  # seconds; the default of the API


def perform(
    handler: Handler[..., R],
    /,
    *args: Any,
    attempt: int = 1,
    cancelled: bool = False,
    **parameters: Any,
) -> R:
    """Runs one attempt as the executor would, and returns its result. The parameters become JSON
    and back, and so does the result. What the handler raises is raised as it is.

    Args:
        attempt: The number of the attempt, from 1.
        cancelled: Whether the task is cancelled: `ctx.cancelled` is True from the start."""
    if attempt < 1:
        raise ValueError(f"attempt: must be at least 1, not {attempt}")
    payload = from_json(to_json(handler.payload(*args, **parameters)))
    control = RunControl(_task(handler, payload, attempt), lambda _: None)
    if cancelled:
        control.request_stop(cancelled=True)
    stored = encode_result(
        outside_loop(lambda: call_handler(handler, payload, control)), large=True
    )
    return cast(R, handler.result_of(None if stored is None else from_json(stored)))


def _task(handler: Handler[..., Any], payload: Any, attempt: int) -> Task:
    now, chance = SystemClock().now(), SystemRandom()
    return Task(
        id=chance.new_id(now),
        spec=Spec(
            target={"type": "python", "handler": handler.name},
            run_at=now,
            payload=payload,
            timeout=handler.defaults.get("timeout", TIMEOUT),
        ),
        status=Status.RUNNING,
        token="",
        due_at=now,
        wake=None,
        created_at=now,
        updated_at=now,
        budget=attempt,
        attempt=attempt,
        holder=chance.nonce(),
        current=Attempt(number=attempt, started_at=now, drift_ms=0),
    )
