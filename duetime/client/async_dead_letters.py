"""Dead letters with `await`: see duetime.client.dead_letters."""

from collections.abc import AsyncIterator, Sequence
from typing import Unpack

from duetime.client import dead_letter_calls as calls
from duetime.client.async_transport import AsyncTransport
from duetime.client.bulk import BulkResult, OnPart, ignore
from duetime.client.dead_letter_types import DeadFilter, DeadGroups, Redriven
from duetime.client.dead_letters import DeadLetters
from duetime.client.documentation import documented_by
from duetime.client.types import Task, TaskPage


@documented_by(DeadLetters)
class AsyncDeadLetters:
    """The task that died last comes first."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def page(
        self, *, limit: int | None = None, cursor: str | None = None, **which: Unpack[DeadFilter]
    ) -> TaskPage:
        return await self._transport.run(calls.page(which, limit=limit, cursor=cursor))

    def list(self, **which: Unpack[DeadFilter]) -> AsyncIterator[Task]:
        return self._transport.iterate(calls.every(which))

    async def groups(self, *, cursor: str | None = None, **which: Unpack[DeadFilter]) -> DeadGroups:
        return await self._transport.run(calls.groups(which, cursor=cursor))

    async def redrive(
        self,
        *,
        ids: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
        **which: Unpack[DeadFilter],
    ) -> Redriven:
        parts = self.redrive_in_parts(ids=ids, everything=everything, dry_run=dry_run, **which)
        return calls.redrive_total([part async for part in parts], dry_run=dry_run)

    def redrive_in_parts(
        self,
        *,
        ids: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
        **which: Unpack[DeadFilter],
    ) -> AsyncIterator[Redriven]:
        call = calls.redrive_parts(which, ids=ids, everything=everything, dry_run=dry_run)
        return self._transport.iterate(call)

    async def discard(
        self,
        *,
        ids: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
        cursor: str | None = None,
        on_part: OnPart = ignore,
        **which: Unpack[DeadFilter],
    ) -> BulkResult:
        call = calls.discard(
            which, ids=ids, everything=everything, dry_run=dry_run, cursor=cursor, on_part=on_part
        )
        return await self._transport.run(call)
