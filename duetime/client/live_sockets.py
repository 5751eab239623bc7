"""WebSockets for calls that listen. `duetime.client.async_live_sockets` is its twin."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from typing import Any

from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from duetime.client.calls import Call, Item, Progress
from duetime.client.live_steps import (
    Close,
    Open,
    Receive,
    SendText,
    SocketLost,
    SocketRefused,
    SocketStep,
)
from duetime.client.transport import Transport
from duetime.core.errors import DuetimeError

FAILURES = (OSError, WebSocketException)  # a TimeoutError is an OSError


def iterate(transport: Transport, call: Call[None]) -> Iterator[Any]:
    """Carries out the steps of a call and yields its items. Closes its sockets when the caller
    stops, too."""
    with closing(Sockets(transport.server.socket_options())) as sockets:
        progress = Progress(call)
        while (step := progress.step) is not None:
            if isinstance(step, SocketStep):
                sockets.carry_out(step, progress)
                continue
            if isinstance(step, Item):
                yield step.value
            transport.carry_out(step, progress)


class Sockets:
    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._open: dict[ClientConnection, ExitStack] = {}  # with what closes it

    def carry_out(self, step: SocketStep, progress: Progress[Any]) -> None:
        try:
            answer = self._answer(step)
        except DuetimeError as error:
            progress.fail(error)
        else:
            progress.go_on(answer)

    def close(self) -> None:
        for socket in list(self._open):
            self._close(socket)

    def _connect(self, url: str) -> ClientConnection:
        closes = ExitStack()
        socket: ClientConnection = closes.enter_context(connect(url, **self._options))
        self._open[socket] = closes
        return socket

    def _close(self, socket: ClientConnection) -> None:
        with suppress(*FAILURES):
            self._open.pop(socket).close()

    def _answer(self, step: SocketStep) -> Any:
        try:
            match step:
                case Open(url):
                    return self._connect(url)
                case SendText(socket, text):
                    socket.send(text)
                case Receive(socket, seconds):
                    return _received(socket, seconds)
                case Close(socket):
                    self._close(socket)
        except InvalidStatus as refused:
            raise SocketRefused(refused.response.status_code) from refused
        except FAILURES as error:
            raise SocketLost(str(error)) from error
        return None


def _received(socket: ClientConnection, seconds: float) -> Any:
    try:
        return socket.recv(timeout=seconds)
    except TimeoutError:
        return None
