"""A server like a deployed API: it answers only signed requests."""

import json
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.client.sigv4 import Asked, signed_by

REGION = "eu-central-1"
KEY_ID, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
FORBIDDEN = (403, {"message": "Forbidden"})


class Gateway:
    """`answer` is sent to every request; None answers every signed request."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answer: tuple[int, dict[str, Any]] | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = "http://127.0.0.1:{1}".format(*self._server.server_address)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def reply(self, asked: Asked) -> tuple[int, dict[str, Any]]:
        self.asked.append(asked)
        if self.answer is not None:
            return self.answer
        signer = signed_by(asked, {KEY_ID: SECRET}, region=REGION, service="execute-api")
        return (200, {"status": "ok", "items": [], "next_cursor": None}) if signer else FORBIDDEN

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(method=self.command, target=self.path, headers=headers, body=body)
                status, document = gateway.reply(asked)
                content = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *_: object) -> None: ...

        return Handler


def open_gateway() -> closing[Gateway]:
    return closing(Gateway())


def keys_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clears everything else that botocore reads."""
    without_credentials(monkeypatch)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


def without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("DUETIME_SIGN", "DUETIME_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
