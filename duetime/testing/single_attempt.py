"""One attempt of a handler. The tasks that it submits go to the world that is open."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from duetime.client.current import clients_in_test
from duetime.core.codec import from_json, to_json
from duetime.core.lifecycle import Status
from duetime.core.results import encode_result
from duetime.core.task import Attempt, Spec, Task
from duetime.core.times import Millis
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.executor.call_handler import call_handler
from duetime.executor.run_control import RunControl
from duetime.handlers.handler import Handler
from duetime.testing.targets import outside_loop

if TYPE_CHECKING:
    from duetime.testing.driver import Driver

R = TypeVar("R")

TIMEOUT = 60.0  # seconds; the default of the API
NO_WORLD = (
    "perform has no world for the tasks that a handler submits: take the fixture duetime_world, or"
    " open a world around the call: with world() as w: …"
)


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

    Inside of a world, the tasks that the handler submits are submitted there, as children of a task
    that is made for this call and not stored. Without one, `submit` raises RuntimeError.

    Args:
        attempt: The number of the attempt, from 1.
        cancelled: Whether the task is cancelled: `ctx.cancelled` is True from the start."""
    if attempt < 1:
        raise ValueError(f"attempt: must be at least 1, not {attempt}")
    payload = from_json(to_json(handler.payload(*args, **parameters)))
    world = _open_world()
    if world is None:
        now = SystemClock().now()
        task = _task(handler, payload, attempt, SystemRandom().new_id(now), now)
        control = RunControl(task, _renew, children=_NoWorld())
    else:
        task = _task(handler, payload, attempt, world.new_id(), world.now())
        control = RunControl(task, _renew, children=world.children_of(task))
    if cancelled:
        control.request_stop("cancelled")
    stored = encode_result(
        outside_loop(lambda: call_handler(handler, payload, control)), large=True
    )
    if world is not None:
        world.run_inline()
    return cast(R, handler.result_of(None if stored is None else from_json(stored)))


def _open_world() -> "Driver | None":
    clients = clients_in_test()
    if not clients:
        return None
    from duetime.testing.clients import WorldClient

    return next(client._driver for client in clients if isinstance(client, WorldClient))


def _renew(_: object) -> None:
    """The attempt has no lease, and its progress is not kept."""


class _NoWorld:
    """Refuses what a handler submits while no world is open."""

    def submit(self, tasks: Sequence[Mapping[str, Any]]) -> NoReturn:  # noqa: ARG002
        raise RuntimeError(NO_WORLD)

    def read(self, task_id: str) -> NoReturn:  # noqa: ARG002
        raise RuntimeError(NO_WORLD)


def _task(
    handler: Handler[..., Any], payload: Any, attempt: int, task_id: str, now: Millis
) -> Task:
    return Task(
        id=task_id,
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
        holder="perform",
        current=Attempt(number=attempt, started_at=now, drift_ms=0),
    )
