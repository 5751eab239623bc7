"""Workflows with `await`: see duetime.client.workflows."""

from collections.abc import AsyncIterator, Sequence
from typing import Unpack

from duetime.client import workflow_calls as calls
from duetime.client.async_transport import AsyncTransport
from duetime.client.documentation import documented_by
from duetime.client.types import Json
from duetime.client.workflow_types import (
    Checked,
    StepFields,
    Workflow,
    WorkflowFields,
    WorkflowPage,
)
from duetime.client.workflows import Workflows


@documented_by(Workflows)
class AsyncWorkflows:
    """Each method takes the `namespace` of the workflow: `default` if it is left out."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def put(
        self,
        name: str,
        /,
        *,
        steps: Sequence[StepFields | Json],
        namespace: str | None = None,
        **fields: Unpack[WorkflowFields],
    ) -> Workflow:
        return await self._transport.run(calls.put(name, steps, fields, namespace))

    async def check(
        self,
        name: str,
        /,
        *,
        steps: Sequence[StepFields | Json],
        namespace: str | None = None,
        **fields: Unpack[WorkflowFields],
    ) -> Checked:
        return await self._transport.run(calls.check(name, steps, fields, namespace))

    async def get(
        self, name: str, *, version: int | None = None, namespace: str | None = None
    ) -> Workflow:
        return await self._transport.run(calls.get(name, version=version, namespace=namespace))

    async def page(
        self,
        *,
        namespace: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> WorkflowPage:
        call = calls.page(namespace=namespace, limit=limit, cursor=cursor)
        return await self._transport.run(call)

    def list(self, *, namespace: str | None = None) -> AsyncIterator[Workflow]:
        return self._transport.iterate(calls.every(namespace=namespace))

    async def delete(self, name: str, *, namespace: str | None = None) -> None:
        await self._transport.run(calls.delete(name, namespace=namespace))
