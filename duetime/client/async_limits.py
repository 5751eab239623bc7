"""Limits with `await`: see duetime.client.limits."""

from collections.abc import AsyncIterator

from duetime.client import limit_calls as calls
from duetime.client.async_transport import AsyncTransport
from duetime.client.documentation import documented_by
from duetime.client.limit_types import Limit, LimitPage, LimitRateFields
from duetime.client.limits import Limits


@documented_by(Limits)
class AsyncLimits:
    """Each method takes the `namespace` of the limit: `default` if it is left out."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def put(
        self,
        name: str,
        *,
        rate: LimitRateFields | None = None,
        concurrency: int | None = None,
        namespace: str | None = None,
    ) -> Limit:
        call = calls.put(name, rate=rate, concurrency=concurrency, namespace=namespace)
        return await self._transport.run(call)

    async def get(
        self, name: str, *, key: str | None = None, namespace: str | None = None
    ) -> Limit:
        return await self._transport.run(calls.get(name, key=key, namespace=namespace))

    async def page(
        self,
        *,
        namespace: str | None = None,
        key: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> LimitPage:
        call = calls.page(namespace=namespace, key=key, limit=limit, cursor=cursor)
        return await self._transport.run(call)

    def list(self, *, namespace: str | None = None, key: str | None = None) -> AsyncIterator[Limit]:
        return self._transport.iterate(calls.every(namespace=namespace, key=key))

    async def delete(self, name: str, *, drain: bool = False, namespace: str | None = None) -> None:
        await self._transport.run(calls.delete(name, drain=drain, namespace=namespace))
