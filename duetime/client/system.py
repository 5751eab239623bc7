"""The methods of the clients about Duetime itself."""

from duetime.client import system_calls as calls
from duetime.client.async_transport import AsyncTransport
from duetime.client.documentation import documented_by
from duetime.client.system_calls import HandlerDescription, Me, Stuck
from duetime.client.transport import Transport


class System:
    _transport: Transport

    def me(self) -> Me:
        """Returns who you are for the API, what you may do, and what the API can do."""
        return self._transport.run(calls.me())

    def stuck(self, *, namespace: str | None = None, limit: int | None = None) -> Stuck:
        """Returns the tasks that should have started over a minute ago, or whose executor has died,
        and why."""
        return self._transport.run(calls.stuck(namespace, limit))

    def handlers(self) -> list[HandlerDescription]:
        """Returns the Python handlers that tasks may name, by name."""
        return self._transport.run(calls.handlers())


@documented_by(System)
class AsyncSystem:
    _transport: AsyncTransport

    async def me(self) -> Me:
        return await self._transport.run(calls.me())

    async def stuck(self, *, namespace: str | None = None, limit: int | None = None) -> Stuck:
        return await self._transport.run(calls.stuck(namespace, limit))

    async def handlers(self) -> list[HandlerDescription]:
        return await self._transport.run(calls.handlers())
