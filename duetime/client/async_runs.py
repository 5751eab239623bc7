"""Runs with `await`: see duetime.client.runs."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Unpack

from duetime.client import run_calls as calls
from duetime.client import waits
from duetime.client.async_transport import AsyncTransport
from duetime.client.documentation import documented_by
from duetime.client.runs import Callbacks, Runs
from duetime.client.submissions import Retries
from duetime.client.types import Json
from duetime.client.waits import Patience
from duetime.client.workflow_types import (
    Checked,
    MapItem,
    Run,
    RunFields,
    RunFilter,
    RunPage,
    SubmittedRun,
)


@documented_by(Runs)
class AsyncRuns:
    """Newest first.

    >>> run = client.runs.submit(workflow="etl", input={"day": "2027-01-04"})
    >>> client.runs.wait(run["id"])["status"]
    'SUCCEEDED'
    """

    def __init__(self, transport: AsyncTransport, retries: Retries, patience: Patience) -> None:
        self._transport = transport
        self._retries = retries
        self._patience = patience

    async def submit(self, /, **fields: Unpack[RunFields]) -> Run:
        return (await self.submit_once(**fields)).run

    async def submit_once(self, /, **fields: Unpack[RunFields]) -> SubmittedRun:
        return await self._transport.run(calls.submit(fields, self._retries))

    async def check(self, /, **fields: Unpack[RunFields]) -> Checked:
        return await self._transport.run(calls.check(fields))

    async def get(self, run_id: str) -> Run:
        return await self._transport.run(calls.get(run_id))

    async def page(
        self, *, limit: int | None = None, cursor: str | None = None, **which: Unpack[RunFilter]
    ) -> RunPage:
        return await self._transport.run(calls.page(which, limit=limit, cursor=cursor))

    def list(self, **which: Unpack[RunFilter]) -> AsyncIterator[Run]:
        return self._transport.iterate(calls.every(which))

    async def cancel(self, run_id: str) -> Run:
        return await self._transport.run(calls.cancel(run_id))

    async def retry(self, run_id: str, steps: Sequence[str] | None = None) -> Run:
        return await self._transport.run(calls.retry(run_id, steps))

    def items(self, run_id: str, step: str) -> AsyncIterator[MapItem]:
        return self._transport.iterate(calls.map_items(run_id, step))

    def follow(
        self, run_id: str, *, timeout: float | None = None, poll: float = 0.5
    ) -> AsyncIterator[Run]:
        call = waits.follow(waits.run(run_id), self._patience, timeout=timeout, poll=poll)
        return self._transport.iterate(call)

    async def wait(
        self, run_id: str, *, timeout: float | None = None, poll: float | None = None
    ) -> Run:
        call = waits.wait(waits.run(run_id), self._patience, timeout=timeout, poll=poll)
        found: Run = await self._transport.run(call)
        return found


@documented_by(Callbacks)
class AsyncCallbacks:
    """Completes steps that wait for a callback."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def complete(
        self, token: str, *, result: Any = None, error: str | Json | None = None
    ) -> Json:
        return await self._transport.run(calls.complete_callback(token, result=result, error=error))
