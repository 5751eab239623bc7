"""A real HTTP server that records requests and answers as a test says."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    method: str
    path: str
    headers: Message
    body: bytes
    peer: tuple[str, int]  # identifies the connection

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Answer:
    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    before: Callable[[], object] = lambda: None  # what to wait for first


class Sink:
    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answer = Answer()
        sink = self

        class Endpoint(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _any(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                asked = Asked(
                    self.command,
                    self.path,
                    self.headers,
                    self.rfile.read(length),
                    self.client_address,
                )
                sink.asked.append(asked)
                answer = sink.answer
                answer.before()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.body)

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _any

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """A caller may hang up."""

        self._server = Server(("127.0.0.1", 0), Endpoint)
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def a_sink() -> Iterator[Sink]:
    sink = Sink()
    yield sink
    sink.close()
