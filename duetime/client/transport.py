"""The transport of Client: it runs calls with an httpx client. AsyncTransport is its twin."""

import os
import ssl
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from duetime.client.auth import LOOPBACK, auth_for
from duetime.client.calls import Call, Item, Pause, Progress, Step
from duetime.client.errors import BadAddress, Unreachable
from duetime.client.requests import Request
from duetime.client.responses import CHECK_HEALTH, Answer, Response, read
from duetime.core.errors import DuetimeError

DEFAULT_URL = "http://127.0.0.1:8080"

T = TypeVar("T")


class Server:
    """The Duetime that a client calls: its address, how requests are authenticated, and what its
    answers mean."""

    def __init__(
        self,
        url: str | None,
        timeout: float,
        sign: str | None,
        token: str | None,
        reason: str | None = None,
    ) -> None:
        self._address = _address(url or os.environ.get("DUETIME_URL") or DEFAULT_URL)
        self._auth = auth_for(
            self._address,
            sign=sign or os.environ.get("DUETIME_SIGN"),
            token=token or os.environ.get("DUETIME_TOKEN"),
        )
        self.url = str(self._address)
        self._timeout = timeout
        self._headers = {"content-type": "application/json", **_reason(reason)}
        self._local = self._address.host in LOOPBACK

    def http_options(self) -> dict[str, Any]:
        """Returns the options of an httpx client for this server."""
        plain = self._local and self._address.scheme == "http"
        return {
            # The certificates of all authorities take 20 ms to load; here no TLS is spoken.
            "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
            "base_url": self._address,
            "headers": self._headers,
            "auth": self._auth.auth,
            "follow_redirects": False,  # the credentials are for this address only
            "timeout": self._timeout,
            "trust_env": not self._local,  # a proxy cannot reach the loopback of this machine
        }

    def socket_options(self) -> dict[str, Any]:
        """Returns the options of a WebSocket: its URL has a ticket, so it needs no other
        authentication."""
        options: dict[str, Any] = {"open_timeout": self._timeout, "close_timeout": 1}
        return {**options, "proxy": None} if self._local else options

    def request_options(self, request: Request) -> dict[str, Any]:
        options: dict[str, Any] = {"content": request.content(), "headers": request.headers()}
        if request.wait is not None:
            longer = self._timeout + request.wait
            options["timeout"] = httpx.Timeout(self._timeout, read=longer)
        return options

    def answer(self, response: httpx.Response, request: Request) -> Answer:
        arrived = Response(
            status=response.status_code,
            reason=response.reason_phrase,
            headers=response.headers,
            content=response.content,
        )
        return read(arrived, request.body, url=self.url, method=self._auth.method)

    def unreachable(self, reason: httpx.TransportError) -> Unreachable:
        connected = not isinstance(reason, httpx.ConnectTimeout)
        if isinstance(reason, httpx.TimeoutException) and connected:
            return Unreachable(self.url, f"No answer within {self._timeout:g} s", CHECK_HEALTH)
        remedy = None if self._local else "check DUETIME_URL and the network"
        return Unreachable(self.url, remedy=remedy)


class Transport:
    def __init__(
        self,
        server: Server,
        transport: httpx.BaseTransport | None,
        sleep: Callable[[float], None],
    ) -> None:
        self.server = server
        self._http = httpx.Client(transport=transport, **server.http_options())
        self._in_one_thread = transport is not None  # it may belong to the thread that made it
        self._sleep = sleep

    def run(self, call: Call[T]) -> T:
        """Carries out the steps of a call and returns its value."""
        progress = Progress(call)
        while (step := progress.step) is not None:
            self.carry_out(step, progress)
        return progress.value

    def run_each(self, calls: Iterable[Call[T]]) -> Iterator[T]:
        """Runs calls one after the other. The iterable makes the next call, which may take as long
        as to read an answer, while one is under way in a thread."""
        if self._in_one_thread:
            yield from map(self.run, calls)
            return
        with ThreadPoolExecutor(1, "duetime-client") as thread:
            under_way: Future[T] | None = None
            for call in calls:
                if under_way is not None:
                    yield under_way.result()
                under_way = thread.submit(self.run, call)
            if under_way is not None:
                yield under_way.result()

    def iterate(self, call: Call[None]) -> Iterator[Any]:
        """Carries out the steps of a call and yields its items."""
        progress = Progress(call)
        while (step := progress.step) is not None:
            if isinstance(step, Item):
                yield step.value
            self.carry_out(step, progress)

    def carry_out(self, step: Step, progress: Progress[Any]) -> None:
        answer = None
        match step:
            case Request():
                try:
                    answer = self._send(step)
                except DuetimeError as error:
                    progress.fail(error)
                    return
            case Pause(seconds):
                self._sleep(seconds)
        progress.go_on(answer)

    def _send(self, request: Request) -> Answer:
        options = self.server.request_options(request)
        try:
            response = self._http.request(request.method, request.target(), **options)
        except httpx.TransportError as reason:
            raise self.server.unreachable(reason) from reason
        return self.server.answer(response, request)

    def close(self) -> None:
        self._http.close()


def _reason(given: str | None) -> dict[str, str]:
    """Returns the header that says why a call is made; percent-encoded where it is not ASCII."""
    reason = given or os.environ.get("DUETIME_REASON")
    return {"duetime-reason": quote(reason, safe=" !#$&'()*+,/:;=?@")} if reason else {}


def _address(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text.rstrip("/"))
    except httpx.InvalidURL as reason:
        raise BadAddress(text) from reason
    if url.scheme not in ("http", "https") or not url.host:
        raise BadAddress(text)
    return url
