"""The client with `await`: see duetime.client.client."""

import asyncio
import builtins
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Self, Unpack

import httpx

from duetime.client import run_calls, submissions, task_calls, waits
from duetime.client.async_dead_letters import AsyncDeadLetters
from duetime.client.async_limits import AsyncLimits
from duetime.client.async_live import AsyncLive
from duetime.client.async_runs import AsyncCallbacks, AsyncRuns
from duetime.client.async_schedules import AsyncSchedules
from duetime.client.async_transport import AsyncTransport
from duetime.client.async_workflows import AsyncWorkflows
from duetime.client.bulk import BulkResult, OnPart, bulk, ignore
from duetime.client.client import Client
from duetime.client.documentation import documented_by
from duetime.client.filters import filter_body
from duetime.client.purge import purge_parts, purge_total
from duetime.client.submissions import Retries
from duetime.client.system import AsyncSystem
from duetime.client.transport import Server
from duetime.client.types import (
    Attempt,
    BatchResult,
    ChangeFields,
    Fields,
    Json,
    Order,
    Purged,
    Seconds,
    Submitted,
    Task,
    TaskFields,
    TaskFilter,
    TaskPage,
)
from duetime.client.waits import Patience
from duetime.core.errors import DuetimeError


@documented_by(Client)
class AsyncClient(AsyncSystem):
    """A client of the Duetime at `url`; by default at DUETIME_URL, or else on this machine.

    >>> async with AsyncClient() as client:
    ...     task = await client.submit(target={"type": "python", "handler": "duetime.hello"})
    ...     (await client.wait(task["id"]))["status"]
    'SUCCEEDED'
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        sign: str | None = None,
        token: str | None = None,
        timeout: float = 10.0,
        retries: int = 3,
        transport: httpx.AsyncBaseTransport | None = None,
        patience: float = 30.0,
        reason: str | None = None,
        on_silence: Callable[[DuetimeError], None] = lambda _: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        server = Server(url, timeout, sign, token, reason)
        self._transport = AsyncTransport(server, transport, sleep)
        self.dead_letters = AsyncDeadLetters(self._transport)
        self.limits = AsyncLimits(self._transport)
        self.schedules = AsyncSchedules(self._transport)
        self._retries = Retries(times=retries, chance=chance)
        self._patience = Patience(seconds=patience, on_silence=on_silence, clock=clock)
        self.workflows = AsyncWorkflows(self._transport)
        self.runs = AsyncRuns(self._transport, self._retries, self._patience)
        self.live = AsyncLive(self._transport, self._patience, chance)
        self.callbacks = AsyncCallbacks(self._transport)

    @property
    def url(self) -> str:
        return self._transport.server.url

    async def submit(self, /, **fields: Unpack[TaskFields]) -> Task:
        return (await self.submit_once(**fields)).task

    async def submit_once(self, /, **fields: Unpack[TaskFields]) -> Submitted:
        return await self._transport.run(submissions.submit(fields, self._retries))

    async def submit_batch(self, tasks: Sequence[TaskFields]) -> "builtins.list[BatchResult]":
        return await self._transport.run(submissions.submit_batch(tasks, self._retries))

    async def submit_many(
        self, tasks: Iterable[TaskFields], *, concurrency: int = 4
    ) -> "builtins.list[BatchResult]":
        """Submits any number of tasks, in batches, and returns one result for each, in order.
        `concurrency` is how many batches are under way at a time.

        If one is refused, the others are still stored. If you may repeat the call after an error,
        give each task an `id` (`duetime.client.make_id()`): what is stored already is not stored
        again."""
        results: dict[int, builtins.list[BatchResult]] = {}
        batches = enumerate(submissions.batches(tasks))

        async def submit_batches() -> None:
            for number, batch in batches:
                results[number] = await self._transport.run(batch.submit(self._retries))

        workers = [asyncio.create_task(submit_batches()) for _ in range(concurrency)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return [result for number in sorted(results) for result in results[number]]

    async def get(self, task_id: str) -> Task:
        return await self._transport.run(task_calls.get(task_id))

    async def cancel(self, task_id: str) -> Task:
        return await self._transport.run(task_calls.cancel(task_id))

    async def change(self, task_id: str, /, **fields: Unpack[ChangeFields]) -> Task:
        return await self._transport.run(task_calls.change(task_id, fields))

    async def run(self, task_id: str) -> Task:
        return await self._transport.run(task_calls.act(task_id, "run"))

    async def retry(self, task_id: str) -> Task:
        return await self._transport.run(task_calls.act(task_id, "retry"))

    async def complete(
        self, task_id: str, *, result: Any = None, error: str | Json | None = None
    ) -> Task:
        call = run_calls.complete_task(task_id, result=result, error=error)
        return await self._transport.run(call)

    async def cancel_many(
        self,
        *,
        dry_run: bool = False,
        cursor: str | None = None,
        on_part: OnPart = ignore,
        **which: Unpack[TaskFilter],
    ) -> BulkResult:
        return await self._bulk(
            "cancel", filter_body(which), dry_run=dry_run, cursor=cursor, on_part=on_part
        )

    async def retry_many(
        self,
        *,
        dry_run: bool = False,
        cursor: str | None = None,
        on_part: OnPart = ignore,
        **which: Unpack[TaskFilter],
    ) -> BulkResult:
        return await self._bulk(
            "retry", filter_body(which), dry_run=dry_run, cursor=cursor, on_part=on_part
        )

    async def shift_many(
        self,
        *,
        by: Seconds,
        key: str | None = None,
        dry_run: bool = False,
        cursor: str | None = None,
        on_part: OnPart = ignore,
        **which: Unpack[TaskFilter],
    ) -> BulkResult:
        shift = {"by": by, "idempotency_key": key or os.urandom(16).hex()}
        fields = {**filter_body(which), **shift}
        return await self._bulk("shift", fields, dry_run=dry_run, cursor=cursor, on_part=on_part)

    async def _bulk(
        self,
        operation: str,
        fields: Any,
        *,
        dry_run: bool,
        cursor: str | None,
        on_part: OnPart,
    ) -> BulkResult:
        call = bulk(operation, fields, dry_run=dry_run, cursor=cursor, on_part=on_part)
        return await self._transport.run(call)

    async def attempts(self, task_id: str) -> "builtins.list[Attempt]":
        return [found async for found in self._transport.iterate(task_calls.attempts(task_id))]

    async def payload(self, task_id: str) -> Any:
        return await self._transport.run(task_calls.text(task_id, "payload"))

    async def result(self, task_id: str) -> Any:
        return await self._transport.run(task_calls.text(task_id, "result"))

    async def page(
        self,
        *,
        order: Order | None = None,
        fields: Fields | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **which: Unpack[TaskFilter],
    ) -> TaskPage:
        call = task_calls.page(which, order=order, fields=fields, limit=limit, cursor=cursor)
        return await self._transport.run(call)

    def list(
        self,
        *,
        order: Order | None = None,
        fields: Fields | None = None,
        **which: Unpack[TaskFilter],
    ) -> AsyncIterator[Task]:
        return self._transport.iterate(task_calls.every(which, order=order, fields=fields))

    def follow(
        self, task_id: str, *, timeout: float | None = None, poll: float = 0.5
    ) -> AsyncIterator[Task]:
        call = waits.follow(waits.task(task_id), self._patience, timeout=timeout, poll=poll)
        return self._transport.iterate(call)

    async def wait(
        self, task_id: str, *, timeout: float | None = None, poll: float | None = None
    ) -> Task:
        call = waits.wait(waits.task(task_id), self._patience, timeout=timeout, poll=poll)
        found: Task = await self._transport.run(call)
        return found

    async def purge(
        self,
        *,
        older_than: float,
        status: Sequence[str] | None = None,
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> Purged:
        parts = self.purge_in_parts(
            older_than=older_than, status=status, namespace=namespace, dry_run=dry_run
        )
        return purge_total([part async for part in parts], dry_run=dry_run)

    def purge_in_parts(
        self,
        *,
        older_than: float,
        status: Sequence[str] | None = None,
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> AsyncIterator[Purged]:
        call = purge_parts(
            older_than=older_than, status=status, namespace=namespace, dry_run=dry_run
        )
        return self._transport.iterate(call)

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        reason: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
