"""Workflows: named graphs of steps. Each run of one is in duetime.client.runs."""

from collections.abc import Iterator, Sequence
from typing import Unpack

from duetime.client import workflow_calls as calls
from duetime.client.transport import Transport
from duetime.client.types import Json
from duetime.client.workflow_types import (
    Checked,
    StepFields,
    Workflow,
    WorkflowFields,
    WorkflowPage,
)


class Workflows:
    """Each method takes the `namespace` of the workflow: `default` if it is left out."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def put(
        self,
        name: str,
        /,
        *,
        steps: Sequence[StepFields | Json],
        namespace: str | None = None,
        **fields: Unpack[WorkflowFields],
    ) -> Workflow:
        """Creates a workflow, or stores its next version. The same steps and fields change nothing,
        so an application can put its workflows at every start."""
        return self._transport.run(calls.put(name, steps, fields, namespace))

    def check(
        self,
        name: str,
        /,
        *,
        steps: Sequence[StepFields | Json],
        namespace: str | None = None,
        **fields: Unpack[WorkflowFields],
    ) -> Checked:
        """Checks a workflow and stores nothing. Returns the names of the steps, level by level,
        under `order`. Raises Invalid for a workflow that `put` would refuse."""
        return self._transport.run(calls.check(name, steps, fields, namespace))

    def get(
        self, name: str, *, version: int | None = None, namespace: str | None = None
    ) -> Workflow:
        """Returns a workflow: its current version, or this one."""
        return self._transport.run(calls.get(name, version=version, namespace=namespace))

    def page(
        self,
        *,
        namespace: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> WorkflowPage:
        """Returns one page of workflows, without their steps."""
        call = calls.page(namespace=namespace, limit=limit, cursor=cursor)
        return self._transport.run(call)

    def list(self, *, namespace: str | None = None) -> Iterator[Workflow]:
        """Yields every workflow by its name, without its steps; reads page by page."""
        return self._transport.iterate(calls.every(namespace=namespace))

    def delete(self, name: str, *, namespace: str | None = None) -> None:
        """Deletes a workflow: it takes no new runs. Runs under way go on."""
        self._transport.run(calls.delete(name, namespace=namespace))
