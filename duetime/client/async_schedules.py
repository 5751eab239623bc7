"""Schedules with `await`: see duetime.client.schedules."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Unpack
from uuid import UUID

from duetime.client import schedule_calls as calls
from duetime.client.async_transport import AsyncTransport
from duetime.client.documentation import documented_by
from duetime.client.schedule_calls import Created
from duetime.client.schedule_types import (
    Backfill,
    Expected,
    LedgerPage,
    Overlap,
    RuleFields,
    Schedule,
    ScheduleFields,
    SchedulePage,
    SyncPlan,
    Upcoming,
)
from duetime.client.schedules import Schedules
from duetime.client.types import Moment, Submitted, Task


@documented_by(Schedules)
class AsyncSchedules:
    """Newest first."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self, /, *, idempotency_key: str | UUID | None = None, **fields: Unpack[ScheduleFields]
    ) -> Schedule:
        return (await self.create_once(idempotency_key=idempotency_key, **fields)).schedule

    async def create_once(
        self, /, *, idempotency_key: str | UUID | None = None, **fields: Unpack[ScheduleFields]
    ) -> Created:
        return await self._transport.run(calls.create(fields, idempotency_key))

    async def get(self, schedule_id: str) -> Schedule:
        return await self._transport.run(calls.get(schedule_id))

    async def get_by_name(self, name: str, *, namespace: str | None = None) -> Schedule:
        return await self._transport.run(calls.get_by_name(name, namespace))

    async def put(
        self, name: str, /, *, namespace: str | None = None, **fields: Unpack[ScheduleFields]
    ) -> Schedule:
        return await self._transport.run(calls.put(name, namespace, fields))

    async def delete_by_name(self, name: str, *, namespace: str | None = None) -> None:
        await self._transport.run(calls.delete_by_name(name, namespace))

    async def sync(
        self,
        schedules: Sequence[Mapping[str, Any]],
        *,
        app: str,
        generation: int | None = None,
        prune: bool = False,
        allow_empty: bool = False,
        retire: bool = False,
        dry_run: bool = False,
    ) -> SyncPlan:
        body = {"app": app, "generation": generation, "schedules": list(schedules)}
        flags = {"prune": prune, "allow_empty": allow_empty, "retire": retire, "dry_run": dry_run}
        return await self._transport.run(calls.sync({**body, **flags}))

    async def generation(self, app: str) -> int:
        return await self._transport.run(calls.generation(app))

    async def detach(self, schedule_id: str) -> Schedule:
        return await self._transport.run(calls.detach(schedule_id))

    async def page(
        self,
        *,
        namespace: str | None = None,
        status: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> SchedulePage:
        query = {"namespace": namespace, "status": status, "limit": limit, "cursor": cursor}
        return await self._transport.run(calls.page(query))

    def list(
        self, *, namespace: str | None = None, status: str | None = None
    ) -> AsyncIterator[Schedule]:
        return self._transport.iterate(calls.every({"namespace": namespace, "status": status}))

    async def update(self, schedule_id: str, /, **fields: Unpack[ScheduleFields]) -> Schedule:
        return await self._transport.run(calls.update(schedule_id, fields))

    async def delete(self, schedule_id: str) -> None:
        await self._transport.run(calls.delete(schedule_id))

    async def pause(self, schedule_id: str, note: str | None = None) -> Schedule:
        return await self._transport.run(calls.set_status(schedule_id, "pause", note))

    async def resume(self, schedule_id: str, note: str | None = None) -> Schedule:
        return await self._transport.run(calls.set_status(schedule_id, "resume", note))

    async def trigger(self, schedule_id: str, *, idempotency_key: str | UUID | None = None) -> Task:
        return (await self.trigger_once(schedule_id, idempotency_key=idempotency_key)).task

    async def trigger_once(
        self, schedule_id: str, *, idempotency_key: str | UUID | None = None
    ) -> Submitted:
        return await self._transport.run(calls.trigger(schedule_id, idempotency_key))

    async def backfill(
        self,
        schedule_id: str,
        *,
        start: Moment,
        until: Moment,
        overlap: Overlap | None = None,
        per_minute: float | None = None,
    ) -> Backfill:
        body = {"from": start, "to": until, "overlap": overlap, "per_minute": per_minute}
        return await self._transport.run(calls.backfill(schedule_id, body))

    async def upcoming(self, schedule_id: str, *, count: int | None = None) -> Upcoming:
        return await self._transport.run(calls.upcoming(schedule_id, count))

    async def preview(
        self,
        *,
        after: Moment | None = None,
        count: int | None = None,
        **rules: Unpack[RuleFields],
    ) -> Upcoming:
        return await self._transport.run(calls.preview({**rules, "after": after, "count": count}))

    async def ledger_page(
        self, schedule_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> LedgerPage:
        return await self._transport.run(calls.ledger_page(schedule_id, limit, cursor))

    def ledger(self, schedule_id: str) -> AsyncIterator[Expected]:
        return self._transport.iterate(calls.ledger(schedule_id))
