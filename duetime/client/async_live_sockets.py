"""WebSockets for calls of AsyncClient that listen: those of duetime.client.live_sockets with
`await`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from duetime.client.async_transport import AsyncTransport
from duetime.client.calls import Call, Item, Progress
from duetime.client.live_sockets import FAILURES
from duetime.client.live_steps import (
    Close,
    Open,
    Receive,
    SendText,
    SocketLost,
    SocketRefused,
    SocketStep,
)
from duetime.core.errors import DuetimeError


async def iterate(transport: AsyncTransport, call: Call[None]) -> AsyncIterator[Any]:
    async with aclosing(AsyncSockets(transport.server.socket_options())) as sockets:
        progress = Progress(call)
        while (step := progress.step) is not None:
            if isinstance(step, SocketStep):
                await sockets.carry_out(step, progress)
                continue
            if isinstance(step, Item):
                yield step.value
            await transport.carry_out(step, progress)


class AsyncSockets:
    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._open: set[ClientConnection] = set()

    async def carry_out(self, step: SocketStep, progress: Progress[Any]) -> None:
        try:
            answer = await self._answer(step)
        except DuetimeError as error:
            progress.fail(error)
        else:
            progress.go_on(answer)

    async def aclose(self) -> None:
        for socket in self._open:
            await _close(socket)

    async def _answer(self, step: SocketStep) -> Any:
        try:
            match step:
                case Open(url):
                    socket = await connect(url, **self._options)
                    self._open.add(socket)
                    return socket
                case SendText(socket, text):
                    await socket.send(text)
                case Receive(socket, seconds):
                    return await _received(socket, seconds)
                case Close(socket):
                    self._open.discard(socket)
                    await _close(socket)
        except InvalidStatus as refused:
            raise SocketRefused(refused.response.status_code) from refused
        except FAILURES as error:
            raise SocketLost(str(error)) from error
        return None


async def _received(socket: ClientConnection, seconds: float) -> Any:
    try:
        return await asyncio.wait_for(socket.recv(), seconds)
    except TimeoutError:
        return None


async def _close(socket: ClientConnection) -> None:
    with suppress(*FAILURES):
        await socket.close()
