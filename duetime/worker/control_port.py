"""The control port of a worker, for this machine alone: `POST /drain` and `GET /health`."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

HOST = "127.0.0.1"

Health = Callable[[], dict[str, Any]]  # `status` is ok, draining or failed


class ControlPort:
    """Takes a port; 0 means a free one. Raises OSError if it cannot. Calls wait for `start`."""

    def __init__(self, port: int) -> None:
        self._server = ThreadingHTTPServer((HOST, port), BaseHTTPRequestHandler)
        self._server.daemon_threads = True

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def start(self, health: Health, drain: Callable[[], object]) -> None:
        self._server.RequestHandlerClass = _routes(health, drain)
        Thread(target=self._server.serve_forever, name="control-port", daemon=True).start()


def _routes(health: Health, drain: Callable[[], object]) -> type[BaseHTTPRequestHandler]:
    class Routes(BaseHTTPRequestHandler):
        timeout = 5  # seconds for a client to send its request

        def do_GET(self) -> None:
            if self.path != "/health":
                return self._answer(404, {"detail": "there are GET /health and POST /drain"})
            state = health()
            return self._answer(503 if state["status"] == "failed" else 200, state)

        def do_POST(self) -> None:
            if self.path != "/drain":
                return self._answer(404, {"detail": "there are GET /health and POST /drain"})
            if "Origin" in self.headers:  # a page in a browser on this machine
                return self._answer(403, {"detail": "a page may not drain a worker"})
            drain()
            return self._answer(202, {"status": "draining"})

        def _answer(self, status: int, body: dict[str, Any]) -> None:
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: Any) -> None:
            """A health check every few seconds is not worth a line each."""

    return Routes
