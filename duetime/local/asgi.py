"""The ASGI application of the local runner, which calls the API role."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address

from starlette.requests import ClientDisconnect
from starlette.requests import Request as AsgiRequest
from starlette.responses import Response as AsgiResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from duetime.api.http import BODY_LIMIT, Problem, Request, Response, query_values
from duetime.local.status_waits import ClientGone, StatusWaits, asked_wait
from duetime.local.submission_groups import SubmissionGroups, can_wait_for_others
from duetime.local.supervisor import ThreadPool

API_THREADS = 64  # concurrent requests; most of them wait for the disk
HEALTH, HEALTH_THREADS = "/v1/health", 4
BODIES_LIMIT = 256 * 1024 * 1024  # bytes of all request bodies in memory

FOREIGN = Problem(
    403,
    "foreign",
    "Not from this machine",
    "The Host or Origin of the request names another site; use 127.0.0.1 or localhost.",
)

Call = Callable[[Request], Response]
CallTogether = Callable[[Sequence[Request]], Sequence[Response]]
Take = Callable[[int], None]


def asgi_app(
    call: Call,
    submit_together: CallTogether | None = None,
    waits: StatusWaits | None = None,
) -> ASGIApp:
    """Returns an application that passes every method and path to the API, which may refuse it.
    `submit_together` answers several submissions of one task each; without it, `call` does.
    `waits` are the requests that wait for a status change."""
    threads = ThreadPool(API_THREADS, "api")
    # A pool of its own: health is needed most when all other threads wait for the store.
    health = ThreadPool(HEALTH_THREADS, "api-health")
    memory = BodyMemory()

    def answer(request: Request) -> AsgiResponse:
        return as_asgi(call(request))

    def answer_together(requests: Sequence[Request]) -> list[AsgiResponse]:
        answers = submit_together(requests) if submit_together else map(call, requests)
        return [as_asgi(response) for response in answers]

    submissions = SubmissionGroups(answer_together)

    async def read(request: Request) -> Response:
        return await asyncio.get_running_loop().run_in_executor(threads, call, request)

    async def respond(scope: Scope, receive: Receive) -> AsgiResponse:
        with memory.one_request() as take:
            request = await _request(AsgiRequest(scope, receive), take)
            if is_foreign(request, scope["server"]):
                return as_asgi(FOREIGN.response())
            if submit_together and can_wait_for_others(request):
                return await submissions.call(request)
            if waits is not None and (wait := asked_wait(request)):
                return as_asgi(await waits.respond(request, wait, read, receive))
            pool = health if request.path == HEALTH else threads
            return await asyncio.get_running_loop().run_in_executor(pool, answer, request)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        try:
            response = await respond(scope, receive)
        except (ClientDisconnect, ClientGone):
            return  # the client hung up before its request was complete, or answered
        except Problem as problem:
            response = as_asgi(problem.response())
        await response(scope, receive, send)

    return app


def is_foreign(request: Request, server: tuple[str, int | None] | None) -> bool:
    """Whether a page of another site may have sent the request. The runner has no password, so on
    loopback it refuses a Host name that was made to point here (DNS rebinding) and a foreign
    Origin."""
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


def as_asgi(response: Response) -> AsgiResponse:
    return AsgiResponse(response.encoded(), response.status, dict(response.headers))


class BodyMemory:
    """Limits the memory of all request bodies together; each single one is limited too."""

    def __init__(self) -> None:
        self._taken = 0

    @contextmanager
    def one_request(self) -> Iterator[Take]:
        """Yields a function that reserves bytes until the request ends; raises Problem."""
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
    detail = "The bodies of the current requests use all the memory that they may."
    return Problem(503, "busy", "Try again", detail, headers={"retry-after": "1"})


async def _request(asgi: AsgiRequest, take: Take) -> Request:
    body = bytearray()
    async for chunk in asgi.stream():
        take(len(chunk))
        body += chunk
        if len(body) > BODY_LIMIT:
            break  # the API refuses a body of this length
    return Request(
        method=asgi.method,
        path=asgi.scope["raw_path"].decode("latin-1"),
        query=query_values(asgi.query_params.multi_items()),
        headers=_headers(asgi),
        body=bytes(body),
    )


def _headers(asgi: AsgiRequest) -> dict[str, str]:
    """Joins repeated headers with a comma, as API Gateway does."""
    headers: dict[str, str] = {}
    for name, value in asgi.headers.items():
        headers[name.lower()] = f"{headers[name.lower()]},{value}" if name in headers else value
    return headers
