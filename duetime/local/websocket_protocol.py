"""The WebSocket protocol of the local runner, with a limit for clients that do not read.

uvicorn waits for ever until such a client has read what is written to it, even after a close.
"""

from asyncio import TimerHandle
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MAX_MESSAGE = 64 * 1024  # bytes; a longer one closes the connection with 1009
UNREAD_TIME = 15.0  # seconds, until a client that reads nothing is cut off


class LimitedWebSocket(WebSocketsSansIOProtocol):
    _unread: TimerHandle | None = None

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True  # or uvicorn logs a handshake that was refused as broken

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(UNREAD_TIME, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        super().connection_lost(exc)

    def _cancel_timer(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
