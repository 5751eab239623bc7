"""The transport of AsyncClient: that of Client with `await`."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import httpx

from duetime.client.calls import Call, Item, Pause, Progress, Step
from duetime.client.requests import Request
from duetime.client.responses import Answer
from duetime.client.transport import Server
from duetime.core.errors import DuetimeError

T = TypeVar("T")


class AsyncTransport:
    def __init__(
        self,
        server: Server,
        transport: httpx.AsyncBaseTransport | None,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.server = server
        self._http = httpx.AsyncClient(transport=transport, **server.http_options())
        self._sleep = sleep

    async def run(self, call: Call[T]) -> T:
        """Carries out the steps of a call and returns its value."""
        progress = Progress(call)
        while (step := progress.step) is not None:
            await self.carry_out(step, progress)
        return progress.value

    async def iterate(self, call: Call[None]) -> AsyncIterator[Any]:
        """Carries out the steps of a call and yields its items."""
        progress = Progress(call)
        while (step := progress.step) is not None:
            if isinstance(step, Item):
                yield step.value
            await self.carry_out(step, progress)

    async def carry_out(self, step: Step, progress: Progress[Any]) -> None:
        answer = None
        match step:
            case Request():
                try:
                    answer = await self._send(step)
                except DuetimeError as error:
                    progress.fail(error)
                    return
            case Pause(seconds):
                await self._sleep(seconds)
        progress.go_on(answer)

    async def _send(self, request: Request) -> Answer:
        options = self.server.request_options(request)
        try:
            response = await self._http.request(request.method, request.target(), **options)
        except httpx.TransportError as reason:
            raise self.server.unreachable(reason) from reason
        return self.server.answer(response, request)

    async def aclose(self) -> None:
        await self._http.aclose()
