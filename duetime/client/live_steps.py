"""The steps of a call that listens to a WebSocket, beside those of duetime.client.calls."""

from dataclasses import dataclass
from typing import Any

from duetime.core.errors import DuetimeError


@dataclass(frozen=True, slots=True)
class Open:
    """Opens a WebSocket; its answer is the socket. Fails with SocketRefused or SocketLost."""

    url: str


@dataclass(frozen=True, slots=True)
class SendText:
    """Fails with SocketLost, as do the two below."""

    socket: Any
    text: str


@dataclass(frozen=True, slots=True)
class Receive:
    """Its answer is a text, or None if none has arrived after so many seconds."""

    socket: Any
    seconds: float


@dataclass(frozen=True, slots=True)
class Close:
    socket: Any


SocketStep = Open | SendText | Receive | Close


class SocketLost(DuetimeError):
    """The connection could not be made, or has ended."""


class SocketRefused(DuetimeError):
    """The server has answered the handshake with an HTTP status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the server refused the WebSocket: HTTP {status}")
        self.status = status
