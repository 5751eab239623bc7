"""The HTTP front of the local runner: ASGI in, the API role behind."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from starlette.applications import Starlette
from starlette.requests import Request as AsgiRequest
from starlette.responses import Response as AsgiResponse
from starlette.routing import Route

from lambdas.api.http import BODY_LIMIT, Request, Response

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
AT_ONCE = 64  # requests in the API at a time; most of them wait for the disk

Call = Callable[[Request], Response]


def asgi_app(call: Call) -> Starlette:
    threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="api")

    def answer(request: Request) -> AsgiResponse:
        response = call(request)
        return AsgiResponse(response.encoded(), response.status, dict(response.headers))

    async def endpoint(asgi: AsgiRequest) -> AsgiResponse:
        request = await _request(asgi)
        return await asyncio.get_running_loop().run_in_executor(threads, answer, request)

    return Starlette(routes=[Route("/{path:path}", endpoint, methods=METHODS)])


async def _request(asgi: AsgiRequest) -> Request:
    body = bytearray()
    async for chunk in asgi.stream():
        body += chunk
        if len(body) > BODY_LIMIT:
            break  # long enough for the API to refuse it
    return Request(
        method=asgi.method,
        path=asgi.url.path,
        query=dict(asgi.query_params),
        headers={name.lower(): value for name, value in asgi.headers.items()},
        body=bytes(body),
    )
