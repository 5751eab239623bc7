"""An HTTP server on bare sockets: it counts connections and can hang up on a request."""

import socket
import ssl
import struct
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from email.message import Message
from http.client import parse_headers

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close with RST instead of FIN

Answer = Callable[[socket.socket], bool]  # to a request; whether the connection stays open


@dataclass(frozen=True)
class Request:
    line: str  # such as "GET /"
    headers: Message


class RawHttpServer:
    """`first` answers the first request of a connection, `later` those after it."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.first: Answer = answers
        self.later: Answer = answers
        self.connections = 0
        self.requests: list[Request] = []
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        scheme = "https" if context else "http"
        self.url = f"{scheme}://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):  # closed before
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError):  # the client hung up, or refused the certificate
            if self._context:
                connection = self._context.wrap_socket(connection, server_side=True)
            with closing(connection), connection.makefile("rb") as stream:
                kept = False
                while line := stream.readline().decode():
                    headers = parse_headers(stream)
                    # To the end of the body: closing a socket with unread data resets it.
                    stream.read(int(headers.get("Content-Length", 0)))
                    self.requests.append(Request(line.partition(" HTTP")[0], headers))
                    kept = (self.later if kept else self.first)(connection)
                    if not kept:
                        return


def answers(connection: socket.socket) -> bool:
    connection.sendall(OK)
    return True


def hangs_up(connection: socket.socket) -> bool:
    return False


def resets(connection: socket.socket) -> bool:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    return False


def answers_half(connection: socket.socket) -> bool:
    connection.sendall(b"HTTP/1.1 2")
    return False
