"""A task that a handler's `submit` has submitted, and the result that it will have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from duetime.client.current import (
    AsyncTaskClient,
    TaskClient,
    as_sync,
    async_client,
    sync_client,
)
from duetime.client.errors import (
    FieldError,
    TaskCancelled,
    TaskDead,
    TaskExpired,
    TaskFailed,
)
from duetime.client.types import BatchResult, Task
from duetime.core.errors import WaitInsideHandler
from duetime.handlers.context import running

if TYPE_CHECKING:
    from duetime.handlers.parameters import Parameters

R = TypeVar("R")
C = TypeVar("C", TaskClient, AsyncTaskClient)
Client = TaskClient | AsyncTaskClient
Fields = dict[str, Any]

SUCCEEDED = "SUCCEEDED"
FAILURES: dict[str, type[TaskFailed]] = {
    "DEAD": TaskDead,
    "CANCELLED": TaskCancelled,
    "EXPIRED": TaskExpired,
}


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why one task of `submit_many` was not stored; `status` is the HTTP status."""

    status: int
    title: str
    detail: str | None
    errors: tuple[FieldError, ...]

    def __str__(self) -> str:
        why = "; ".join(str(error) for error in self.errors) or self.detail
        return f"{self.title}: {why}" if why else self.title


class Submission(Generic[R]):
    """A submitted task. `id` is the id of the task; `R` is the type of its result."""

    def __init__(
        self, task_id: str, parameters: "Parameters", client: Client | None = None
    ) -> None:
        self.id = task_id
        self._parameters = parameters
        self._client = client

    def status(self) -> str:
        """Reads the status of the task: PENDING, RUNNING, SUCCEEDED, …"""
        return self._sync().get(self.id)["status"]

    def wait(self, timeout: float | None = None) -> R:
        """Returns the result once the task has succeeded.

        Raises TaskDead, TaskCancelled or TaskExpired if it ends otherwise, and WaitTimeout, a
        TimeoutError, if it has not ended within `timeout` seconds. Inside a running handler it
        raises RuntimeError at once."""
        client = self._waiting(self._sync())
        task = client.wait(self.id, timeout=timeout)
        result = client.result(self.id) if _is_left_out(task) else _result(task)
        return self._typed(result)

    async def astatus(self) -> str:
        return (await self._async().get(self.id))["status"]

    async def await_(self, timeout: float | None = None) -> R:
        """Like `wait`. The underscore is there because `await` is a keyword."""
        client = self._waiting(self._async())
        task = await client.wait(self.id, timeout=timeout)
        result = await client.result(self.id) if _is_left_out(task) else _result(task)
        return self._typed(result)

    def _typed(self, result: Any) -> R:
        return cast(R, self._parameters.result(result))

    def _sync(self) -> TaskClient:
        return as_sync(self._client) or _child_client() or sync_client()

    def _async(self) -> AsyncTaskClient:
        return async_client(self._client or _child_client())

    def _waiting(self, client: C) -> C:
        """Returns the client. Raises WaitInsideHandler inside a running handler."""
        if running() is not None:
            from duetime.handlers.children import NO_WAIT

            raise WaitInsideHandler(NO_WAIT)
        return client

    def __repr__(self) -> str:
        return f"<submission {self.id}>"


def _child_client() -> TaskClient | None:
    """Returns what submits inside a running handler: its executor. None outside."""
    ctx = running()
    if ctx is None:
        return None
    from duetime.handlers.children import ChildClient

    return ChildClient(ctx)


def _submitting(tasks: Sequence[Fields]) -> TaskClient | None:
    """Like _child_client. Raises ValueError for a step outside of a running handler."""
    client = _child_client()
    if client is None and any("step" in task for task in tasks):
        raise ValueError("step: names a submission of a running handler; none runs here")
    return client


def send(task: Fields, parameters: "Parameters") -> Submission[Any]:
    client = _submitting([task]) or sync_client()
    return Submission(client.submit(**task)["id"], parameters, client)


async def asend(task: Fields, parameters: "Parameters") -> Submission[Any]:
    client = async_client(_submitting([task]))
    return Submission((await client.submit(**task))["id"], parameters, client)


def send_many(tasks: Sequence[Fields], parameters: "Parameters") -> list[Submission[Any] | Problem]:
    client = _submitting(tasks) or sync_client()
    return [_submitted(result, parameters, client) for result in client.submit_many(tasks)]


async def asend_many(
    tasks: Sequence[Fields], parameters: "Parameters"
) -> list[Submission[Any] | Problem]:
    client = async_client(_submitting(tasks))
    return [_submitted(result, parameters, client) for result in await client.submit_many(tasks)]


def _submitted(
    result: BatchResult, parameters: "Parameters", client: Client
) -> Submission[Any] | Problem:
    if "task" in result:
        return Submission(result["task"]["id"], parameters, client)
    error: Mapping[str, Any] = result.get("error", {})
    return Problem(
        status=result["status"],
        title=str(error.get("title", f"HTTP {result['status']}")),
        detail=error.get("detail"),
        errors=tuple(FieldError(e["field"], e["message"]) for e in error.get("errors") or ()),
    )


def _result(task: Task) -> Any:
    """Returns the result of a task that has ended. Raises TaskFailed for one without."""
    if task["status"] != SUCCEEDED:
        raise FAILURES.get(task["status"], TaskFailed)(task)
    return task["result"]


def _is_left_out(task: Task) -> bool:
    """Whether the result is too large for the answer."""
    return task["status"] == SUCCEEDED and "result" in (task.get("not_shown") or {})
