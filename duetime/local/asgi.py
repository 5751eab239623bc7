"""The ASGI application of the local runner, which calls the API role."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.requests import Request as AsgiRequest
from starlette.responses import Response as AsgiResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from duetime.api.access import WORKER_CALLS
from duetime.api.http import BODY_LIMIT, Problem, Request, Response, not_found, query_values
from duetime.console.files import ConsoleFiles
from duetime.local import live_socket
from duetime.local.lease_waits import LeaseWaits
from duetime.local.live_socket import LiveSocket
from duetime.local.sessions import (
    SIGN_IN,
    Sessions,
    has_other_origin,
    is_address,
    is_loopback,
)
from duetime.local.status_waits import ClientGone, StatusWaits, asked_wait
from duetime.local.submission_groups import SubmissionGroups, can_wait_for_others
from duetime.supervised_threads import ThreadPool

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
    live: LiveSocket | None = None,
    sessions: Sessions | None = None,
    console: ConsoleFiles | None = None,
    leases: LeaseWaits | None = None,
) -> ASGIApp:
    """Returns an application that passes every method and path to the API, which may refuse it.
    `submit_together` answers several submissions of one task each; without it, `call` does.
    `waits` are the requests that wait for a status change; `live` takes the WebSockets of live
    updates. `sessions` admit requests; without them, every request is admitted. `console` has the
    files of the web console, which anyone may read: the page needs them to sign in. `leases` are
    the calls of workers that wait for leases."""
    sessions = sessions or Sessions()
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

    async def respond(scope: Scope, receive: Receive) -> AsgiResponse:  # noqa: PLR0911
        with memory.one_request() as take:
            request = await read_request(AsgiRequest(scope, receive), take)
            if is_foreign(request, scope["server"]):
                return as_asgi(FOREIGN.response())
            if console and (file := console.find(request.method, request.path, request.headers)):
                return AsgiResponse(file.body, headers=dict(file.headers))
            if request.path == SIGN_IN:
                return as_asgi(sessions.sign_in(request))
            request = sessions.admit(request)
            if live is not None and request.path == live_socket.PATH:
                raise live_socket.NO_UPGRADE
            if submit_together and can_wait_for_others(request):
                return await submissions.call(request)
            if waits is not None and (wait := asked_wait(request)):
                return as_asgi(await waits.respond(request, wait, read, receive))
            if leases is not None and leases.answers(request):
                return as_asgi(await leases.respond(request, receive))
            pool = health if request.path == HEALTH else threads
            if leases is not None and request.path in WORKER_CALLS:
                pool = leases.threads
            return await asyncio.get_running_loop().run_in_executor(pool, answer, request)

    async def connect(scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        path = scope["raw_path"].decode("latin-1")
        handshake = Request(method="GET", path=path, headers=_headers(socket))
        if is_foreign(handshake, scope.get("server")):
            await live_socket.refuse(socket, FOREIGN)
        elif live is None or path != live_socket.PATH:
            await live_socket.refuse(socket, not_found(f"WebSocket {path}"))
        else:
            await live.serve(scope, receive, send)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await connect(scope, receive, send)
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
    if server is None or not is_loopback(server[0]):
        return False
    host = request.headers.get("host", "localhost")
    if has_other_origin({"host": host, **request.headers}):
        return True
    name = re.sub(r":\d*$", "", host).strip("[]")
    return not (name == "localhost" or is_address(name))


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


async def read_request(asgi: AsgiRequest, take: Take) -> Request:
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


def _headers(asgi: HTTPConnection) -> dict[str, str]:
    """Joins repeated headers with a comma, as API Gateway does."""
    headers: dict[str, str] = {}
    for name, value in asgi.headers.items():
        headers[name.lower()] = f"{headers[name.lower()]},{value}" if name in headers else value
    return headers
