"""Putting and running a workflow with the current client: see duetime.client.current."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from duetime.client.async_client import AsyncClient
from duetime.client.client import Client
from duetime.client.current import current_client, is_async, sync_client
from duetime.client.workflow_types import Checked, Run
from duetime.client.workflow_types import Workflow as StoredWorkflow
from duetime.core.errors import WaitInsideHandler
from duetime.handlers.context import running

if TYPE_CHECKING:
    from duetime.workflows.builder import Workflow


class RunSubmission:
    """A run that was submitted. Its methods use the client that submitted it; those that begin with
    `a` are for `async` code."""

    def __init__(self, run: Run, client: Client | AsyncClient) -> None:
        self.id = run["id"]
        self._client = client

    def get(self) -> Run:
        """Returns the run as it is now."""
        return self._sync().runs.get(self.id)

    def status(self) -> str:
        """Reads the status of the run: RUNNING, SUCCEEDED, FAILED, …"""
        return self.get()["status"]

    def wait(self, timeout: float | None = None) -> Run:
        """Returns the run once it is over, whatever its status.

        Raises WaitTimeout if that takes longer than `timeout` seconds. Inside a running handler it
        raises WaitInsideHandler at once."""
        _refuse_inside_handler()
        return self._sync().runs.wait(self.id, timeout=timeout)

    def cancel(self) -> Run:
        return self._sync().runs.cancel(self.id)

    def retry(self, steps: Sequence[str] | None = None) -> Run:
        """Resumes the run if it has FAILED: see `client.runs.retry`."""
        return self._sync().runs.retry(self.id, steps)

    async def aget(self) -> Run:
        return await self._async("get")

    async def astatus(self) -> str:
        return (await self.aget())["status"]

    async def await_(self, timeout: float | None = None) -> Run:
        """Like `wait`. The underscore is there because `await` is a keyword."""
        _refuse_inside_handler()
        return await self._async("wait", timeout=timeout)

    async def acancel(self) -> Run:
        return await self._async("cancel")

    async def aretry(self, steps: Sequence[str] | None = None) -> Run:
        return await self._async("retry", steps)

    def _sync(self) -> Client:
        return _plain() if isinstance(self._client, AsyncClient) else self._client

    async def _async(self, call: str, *arguments: Any, **more: Any) -> Run:
        run: Run = await _awaited(self._client, "runs", call, self.id, *arguments, **more)
        return run

    def __repr__(self) -> str:
        return f"<run {self.id}>"


def put(workflow: "Workflow") -> StoredWorkflow:
    return _plain().workflows.put(workflow.name, **_definition(workflow))


def check(workflow: "Workflow") -> Checked:
    return _plain().workflows.check(workflow.name, **_definition(workflow))


def submit(workflow: "Workflow", fields: Mapping[str, Any]) -> RunSubmission:
    client = _plain()
    return RunSubmission(client.runs.submit(**_run(workflow, fields)), client)


async def aput(workflow: "Workflow") -> StoredWorkflow:
    given = _definition(workflow)
    put: StoredWorkflow = await _awaited(_current(), "workflows", "put", workflow.name, **given)
    return put


async def acheck(workflow: "Workflow") -> Checked:
    given = _definition(workflow)
    found: Checked = await _awaited(_current(), "workflows", "check", workflow.name, **given)
    return found


async def asubmit(workflow: "Workflow", fields: Mapping[str, Any]) -> RunSubmission:
    client = _current()
    run = await _awaited(client, "runs", "submit", **_run(workflow, fields))
    return RunSubmission(run, client)


async def _awaited(
    client: Client | AsyncClient, part: str, call: str, /, *arguments: Any, **more: Any
) -> Any:
    """Calls a method of `client.runs` or `client.workflows`; a plain client in a thread."""
    method = getattr(getattr(client, part), call)
    if isinstance(client, AsyncClient):
        return await method(*arguments, **more)
    return await asyncio.to_thread(method, *arguments, **more)


def _definition(workflow: "Workflow") -> Any:
    return {**workflow.definition(), "namespace": workflow.namespace}


def _run(workflow: "Workflow", fields: Mapping[str, Any]) -> Any:
    namespace = {} if workflow.namespace is None else {"namespace": workflow.namespace}
    return {"workflow": workflow.name, **namespace, **fields}


def _plain() -> Client:
    return cast(Client, _with_workflows(sync_client()))


def _current() -> Client | AsyncClient:
    client = _with_workflows(current_client())
    return cast(AsyncClient, client) if is_async(client) else cast(Client, client)


def _with_workflows(client: Any) -> Any:
    """A client for tests may serve tasks alone."""
    if not hasattr(client, "workflows"):
        raise RuntimeError(f"{type(client).__name__} has no workflows: use a duetime.Client")
    return client


def _refuse_inside_handler() -> None:
    if running() is not None:
        from duetime.handlers.children import NO_WAIT

        raise WaitInsideHandler(NO_WAIT)
