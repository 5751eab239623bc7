"""A connection to the runner, without a library: the standard one can be cut by another thread, so
that a worker that drains does not wait for the answer to its long poll."""

import socket
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection, RemoteDisconnected
from typing import NamedTuple
from urllib.parse import urlsplit

from duetime.core.errors import DuetimeError
from duetime.version import VERSION

STALE = (RemoteDisconnected, BrokenPipeError, ConnectionResetError)
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class NoAnswer(DuetimeError):
    """The runner did not answer: what was asked for may or may not have been done."""


class BadRunnerUrl(DuetimeError):
    pass


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes


class Address(NamedTuple):
    secure: bool
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Raises BadRunnerUrl."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadRunnerUrl(f"{url!r} is not an address like http://127.0.0.1:8080")
        if parts.username or parts.password:
            raise BadRunnerUrl("a user in the address is not sent: give a --token")
        if parts.query or parts.fragment:
            raise BadRunnerUrl(f"{url!r} must end with its host, its port or a path")
        secure = parts.scheme == "https"
        return cls(secure, parts.hostname, port or (443 if secure else 80), parts.path.rstrip("/"))

    @property
    def plain_to_others(self) -> bool:
        """Whether others on the network can read what is sent."""
        return not self.secure and self.host not in LOOPBACK


class Connection:
    """One thread sends at a time; any other may cut the connection."""

    def __init__(self, address: Address, token: str | None) -> None:
        self._address = address
        self._headers = {"content-type": "application/json", "user-agent": f"duetime/{VERSION}"}
        if token is not None:
            self._headers["authorization"] = f"Bearer {token}"
        self._http: HTTPConnection | None = None
        self._cut = False

    def post(self, path: str, body: bytes, timeout: float) -> Answer:
        """Raises NoAnswer. A connection that the server has closed since its last use is opened
        again; every call of the protocol can be repeated."""
        reused = self._http is not None
        try:
            return self._post(path, body, timeout)
        except STALE as error:
            self._close()
            if not reused or self._cut:
                raise self._no_answer(error) from error
        except (OSError, HTTPException) as error:
            self._close()
            raise self._no_answer(error) from error
        return self.post(path, body, timeout)

    def cut(self) -> None:
        """Ends the call that waits for its answer, and every later one."""
        self._cut = True
        if (http := self._http) is not None and (sock := http.sock) is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _post(self, path: str, body: bytes, timeout: float) -> Answer:
        if self._cut:
            raise ConnectionResetError("the connection was closed here")
        http = self._http
        if http is None:
            kind = HTTPSConnection if self._address.secure else HTTPConnection
            http = self._http = kind(self._address.host, self._address.port, timeout=timeout)
        if http.sock is not None:
            http.sock.settimeout(timeout)
        http.timeout = timeout
        http.request("POST", self._address.path + path, body, self._headers)
        response = http.getresponse()
        headers = {name.lower(): text for name, text in response.getheaders()}
        return Answer(response.status, headers, response.read())

    def _close(self) -> None:
        if self._http is not None:
            self._http.close()
            self._http = None

    def _no_answer(self, error: Exception) -> NoAnswer:
        where = f"{self._address.host}:{self._address.port}"
        return NoAnswer(f"the runner at {where} does not answer: {error or type(error).__name__}")
