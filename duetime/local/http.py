"""The HTTP front of the local runner: ASGI in, the API role behind."""

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address

from starlette.requests import ClientDisconnect
from starlette.requests import Request as AsgiRequest
from starlette.responses import Response as AsgiResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from lambdas.api.http import BODY_LIMIT, Problem, Request, Response

AT_ONCE = 64  # requests in the API at a time; most of them wait for the disk

FOREIGN = Problem(
    403,
    "foreign",
    "Not from this machine",
    "The Host or Origin of the request names another site; use 127.0.0.1 or localhost.",
)

Call = Callable[[Request], Response]


def asgi_app(call: Call) -> ASGIApp:
    """Every method and every path goes to the API, which knows how to say no."""
    threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="api")

    def answer(request: Request) -> AsgiResponse:
        return _response(call(request))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        try:
            request = await _request(AsgiRequest(scope, receive))
        except ClientDisconnect:
            return  # it hung up before its request was complete
        if is_foreign(request, scope["server"]):
            response = _response(FOREIGN.response())
        else:
            response = await asyncio.get_running_loop().run_in_executor(threads, answer, request)
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


async def _request(asgi: AsgiRequest) -> Request:
    body = bytearray()
    async for chunk in asgi.stream():
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
