"""The HTTP front of the local runner: ASGI in, the API role behind."""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address

from starlette.requests import ClientDisconnect
from starlette.requests import Request as AsgiRequest
from starlette.responses import Response as AsgiResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from duetime.local.threads import Threads
from lambdas.api.http import BODY_LIMIT, Problem, Request, Response

AT_ONCE = 64  # requests in the API at a time; most of them wait for the disk
HEALTH, HEALTH_AT_ONCE = "/v1/health", 4
BODIES_LIMIT = 256 * 1024 * 1024  # bytes of all bodies that are in memory at a time

FOREIGN = Problem(
    403,
    "foreign",
    "Not from this machine",
    "The Host or Origin of the request names another site; use 127.0.0.1 or localhost.",
)

Call = Callable[[Request], Response]
Take = Callable[[int], None]


def asgi_app(call: Call) -> ASGIApp:
    """Every method and every path goes to the API, which knows how to say no."""
    threads = Threads(AT_ONCE, "api")
    # Of its own: it is asked for just when all others wait for the store.
    health = Threads(HEALTH_AT_ONCE, "api-health")
    memory = Memory()

    def answer(request: Request) -> AsgiResponse:
        return _response(call(request))

    async def respond(scope: Scope, receive: Receive) -> AsgiResponse:
        with memory.for_one() as take:
            request = await _request(AsgiRequest(scope, receive), take)
            if is_foreign(request, scope["server"]):
                return _response(FOREIGN.response())
            pool = health if request.path == HEALTH else threads
            return await asyncio.get_running_loop().run_in_executor(pool, answer, request)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        try:
            response = await respond(scope, receive)
        except ClientDisconnect:
            return  # it hung up before its request was complete
        except Problem as problem:
            response = _response(problem.response())
        await response(scope, receive, send)

    return app


def is_foreign(request: Request, server: tuple[str, int | None] | None) -> bool:
    """Whether a page of another site may be behind it. The runner asks for no password, so on
    loopback it answers neither a name that was made to point here nor a foreign Origin."""
    if server is None or not _is_loopback(server[0]):
        return False
    host = request.headers.get("host", "localhost")
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != host:
        return True
    name = re.sub(r":\d*$", "", host).strip("[]")
    return not (name == "localhost" or _is_address(name))


def _is_loopback(name: str) -> bool:
    return name == "localhost" or (_is_address(name) and ip_address(name).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _response(response: Response) -> AsgiResponse:
    return AsgiResponse(response.encoded(), response.status, dict(response.headers))


class Memory:
    """What the bodies of the requests under way take. Each is small; all together may not be."""

    def __init__(self) -> None:
        self._taken = 0

    @contextmanager
    def for_one(self) -> Iterator[Take]:
        """For one request: a function that takes so many bytes, until the request is answered."""
        mine = 0

        def take(size: int) -> None:
            nonlocal mine
            if self._taken + size > BODIES_LIMIT:
                raise _busy()
            self._taken += size
            mine += size

        try:
            yield take
        finally:
            self._taken -= mine


def _busy() -> Problem:
    detail = "The bodies of the requests under way take all the memory that they may."
    return Problem(503, "busy", "Try again", detail, headers={"retry-after": "1"})


async def _request(asgi: AsgiRequest, take: Take) -> Request:
    body = bytearray()
    async for chunk in asgi.stream():
        take(len(chunk))
        body += chunk
        if len(body) > BODY_LIMIT:
            break  # long enough for the API to refuse it
    return Request(
        method=asgi.method,
        path=asgi.scope["raw_path"].decode("latin-1"),
        query=dict(asgi.query_params),
        headers=_headers(asgi),
        body=bytes(body),
    )


def _headers(asgi: AsgiRequest) -> dict[str, str]:
    """One that comes twice is one with a comma, as API Gateway has it."""
    headers: dict[str, str] = {}
    for name, value in asgi.headers.items():
        headers[name.lower()] = f"{headers[name.lower()]},{value}" if name in headers else value
    return headers
