"""Live updates through the proxy: the page connects here, and frames pass both ways."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from duetime.api.http import Problem
from duetime.client.auth import LOOPBACK

TICKETS = 100  # kept until they are used; the API lets them expire after 30 seconds
GOING_AWAY = 1001
TRY_AGAIN = 1013

UNKNOWN = Problem(
    403, "forbidden", "The ticket is not valid", "POST /v1/live/tickets returns a new one."
)


class LiveRelay:
    """Keeps the address of each ticket, since a page may connect only to its own origin."""

    def __init__(self) -> None:
        self._addresses: dict[str, str] = {}

    def own_ticket(self, body: bytes, host: str) -> bytes:
        """Returns the answer to a request for a ticket, with a URL of this server."""
        answer = json.loads(body)
        address = answer["url"]
        ticket = parse_qs(urlsplit(address).query)["ticket"][0]
        while len(self._addresses) >= TICKETS:
            self._addresses.pop(next(iter(self._addresses)))
        self._addresses[ticket] = address
        return json.dumps({**answer, "url": f"ws://{host}/v1/live?ticket={ticket}"}).encode()

    def address_of(self, ticket: str | None) -> str:
        """Returns the address of a ticket, once. Raises Problem."""
        address = self._addresses.pop(ticket or "", None)
        if address is None:
            raise UNKNOWN
        return address

    async def relay(self, socket: WebSocket, address: str) -> None:
        await socket.accept()
        local = urlsplit(address).hostname in LOOPBACK  # which no proxy of the network reaches
        try:
            async with connect(address, proxy=None if local else True) as upstream:
                await _first(
                    _pass(socket.receive_text, upstream.send),
                    _pass(upstream.recv, socket.send_text),
                )
        except (OSError, TimeoutError, WebSocketException):
            await _close(socket, TRY_AGAIN)
        else:
            await _close(socket, GOING_AWAY)


async def _pass(
    receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
) -> None:
    """Passes frames on until either side hangs up."""
    with suppress(ConnectionClosed, WebSocketDisconnect):
        while True:
            await send(await receive())


async def _first(*directions: Awaitable[None]) -> None:
    """Ends both directions as soon as one has ended."""
    tasks = [asyncio.ensure_future(each) for each in directions]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _close(socket: WebSocket, code: int) -> None:
    with suppress(RuntimeError):  # the page has closed it
        await socket.close(code)
