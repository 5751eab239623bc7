"""The HTTP front of the local runner: ASGI in, the API role behind."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import ClientDisconnect
from starlette.requests import Request as AsgiRequest
from starlette.responses import Response as AsgiResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from lambdas.api.http import BODY_LIMIT, Request, Response

AT_ONCE = 64  # requests in the API at a time; most of them wait for the disk

Call = Callable[[Request], Response]


def asgi_app(call: Call) -> ASGIApp:
    """Every method and every path goes to the API, which knows how to say no."""
    threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="api")

    def answer(request: Request) -> AsgiResponse:
        response = call(request)
        return AsgiResponse(response.encoded(), response.status, dict(response.headers))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        try:
            request = await _request(AsgiRequest(scope, receive))
        except ClientDisconnect:
            return  # it hung up before its request was complete
        response = await asyncio.get_running_loop().run_in_executor(threads, answer, request)
        await response(scope, receive, send)

    return app


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
