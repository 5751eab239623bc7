"""The HTTP front of the local runner: ASGI in, the API role behind."""

from collections.abc import Callable

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.requests import Request as AsgiRequest
from starlette.responses import Response as AsgiResponse
from starlette.routing import Route

from lambdas.api.http import BODY_LIMIT, Request, Response

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
AT_ONCE = 64  # requests in the API at a time; most of them wait for the disk

Call = Callable[[Request], Response]


def asgi_app(call: Call) -> Starlette:
    limiter: list[CapacityLimiter] = []  # made on first use: it belongs to a running loop

    async def endpoint(asgi: AsgiRequest) -> AsgiResponse:
        if not limiter:
            limiter.append(CapacityLimiter(AT_ONCE))
        request = await _request(asgi)
        body, response = await to_thread.run_sync(_call, call, request, limiter=limiter[0])
        return AsgiResponse(body, response.status, dict(response.headers))

    return Starlette(routes=[Route("/{path:path}", endpoint, methods=METHODS)])


def _call(call: Call, request: Request) -> tuple[bytes, Response]:
    response = call(request)
    return response.encoded(), response


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
