"""The WebSocket `/v1/live`: the handshake, and the two directions of one connection."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from starlette.responses import Response as AsgiResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from duetime.api.http import Problem, Request
from duetime.core.live.frames import Bye
from duetime.core.live.limits import CONNECTIONS
from duetime.core.live.tickets import LiveTickets, Ticket, hash_of
from duetime.core.times import Millis
from duetime.local.live_connection import LiveConnection
from duetime.local.live_hub import LiveHub
from duetime.local.sessions import has_other_origin, other_origin

PATH = "/v1/live"
DRAIN_TIME = 10.0  # seconds in which a client must read the next frame
CLOSE_TIME = 1.0  # seconds to send the last frame to a client that may not read

NO_TICKET = Problem(
    401, "unauthorized", "A ticket is required", "POST /v1/live/tickets returns one in a URL."
)
BAD_TICKET = Problem(
    403,
    "forbidden",
    "The ticket is not valid",
    "It was used, or is older than 30 seconds. POST /v1/live/tickets returns a new one.",
)
TOO_MANY = Problem(
    429,
    "too-many-connections",
    "Too many connections",
    f"There are {CONNECTIONS} live connections, the most. Read again from time to time instead.",
    headers={"retry-after": "30"},
)
NO_UPGRADE = Problem(
    426,
    "upgrade-required",
    "This is a WebSocket",
    "Connect to it with a WebSocket client.",
    headers={"upgrade": "websocket", "connection": "upgrade"},
)


def socket_address(request: Request) -> str:
    """Returns the URL of the WebSocket, at the host that the client has called."""
    scheme = "wss" if request.headers.get("x-forwarded-proto") == "https" else "ws"
    return f"{scheme}://{request.headers.get('host', 'localhost')}{PATH}"


class LiveSocket:
    """Accepts clients of the hub. `ticket_required`: a client without a ticket is refused."""

    def __init__(
        self,
        hub: LiveHub,
        tickets: LiveTickets,
        now: Callable[[], Millis],
        *,
        ticket_required: bool,
    ) -> None:
        self._hub = hub
        self._tickets = tickets
        self._now = now
        self._ticket_required = ticket_required

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        try:
            connection = self._connection(socket)
        except Problem as problem:
            await refuse(socket, problem)
            return
        try:
            await socket.accept()
            await _run(socket, connection)
        finally:
            self._hub.disconnect(connection)

    def _connection(self, socket: WebSocket) -> LiveConnection:
        connection = self._hub.connect(self._ticket(socket))
        if connection is None:
            raise TOO_MANY
        return connection

    def _ticket(self, socket: WebSocket) -> Ticket | None:
        """A browser lets the pages of any site connect, and sends their Origin. Such a page cannot
        read the answer that has a ticket."""
        text = socket.query_params.get("ticket")
        if text is None:
            if self._ticket_required:
                raise NO_TICKET
            if has_other_origin(socket.headers):
                raise other_origin()
            return None
        ticket = self._tickets.take(hash_of(text), self._now())
        if ticket is None:
            raise BAD_TICKET
        return ticket


async def refuse(socket: WebSocket, problem: Problem) -> None:
    """Answers the handshake with a problem."""
    if "websocket.http.response" not in socket.scope.get("extensions", {}):
        await socket.close()
        return
    response = problem.response()
    denial = AsgiResponse(response.encoded(), response.status, dict(response.headers))
    await socket.send_denial_response(denial)


async def _run(socket: WebSocket, connection: LiveConnection) -> None:
    """Reads and writes until the client hangs up, or is to be sent away."""
    reading = asyncio.ensure_future(_read(socket, connection))
    writing = asyncio.ensure_future(_write(socket, connection))
    try:
        done, _ = await asyncio.wait((reading, writing), return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            each.result()
    finally:
        reading.cancel()
        writing.cancel()
        await asyncio.gather(reading, writing, return_exceptions=True)


async def _read(socket: WebSocket, connection: LiveConnection) -> None:
    while (message := await socket.receive())["type"] == "websocket.receive":
        text = message.get("text")
        connection.receive(message["bytes"] if text is None else text)


async def _write(socket: WebSocket, connection: LiveConnection) -> None:
    with suppress(WebSocketDisconnect):
        try:
            while (frame := await connection.next()) is not None:
                await asyncio.wait_for(socket.send_text(frame), DRAIN_TIME)
        except TimeoutError:
            connection.close(Bye.TOO_SLOW)
        with suppress(TimeoutError):
            await asyncio.wait_for(socket.close(connection.close_code), CLOSE_TIME)
