"""The server behind `duetime console`: it serves the console on this machine, and forwards the
calls of the page to an API elsewhere, with the credentials of the caller.

A program or page that reaches its port could act with these credentials. So it listens on
127.0.0.1, refuses pages of other sites, and answers only to the token of the printed link, or to
the cookie that the page gets for it. It only reads, unless its sessions may do more.
"""

import json
from typing import Any, Protocol
from urllib.parse import unquote

import httpx
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.requests import Request as AsgiRequest
from starlette.responses import Response as AsgiResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from duetime.api.access import refusal
from duetime.api.callers import Caller
from duetime.api.http import Problem, Request, not_found
from duetime.api.openapi.resource import page as docs_page
from duetime.console.files import ConsoleFiles
from duetime.console.live_relay import LiveRelay
from duetime.core.errors import DuetimeError
from duetime.local.asgi import FOREIGN, BodyMemory, as_asgi, is_foreign, read_request
from duetime.local.live_socket import refuse
from duetime.local.sessions import SIGN_IN, Sessions

API = "/v1/"
TICKETS, LIVE = "/v1/live/tickets", "/v1/live"
ME = "/v1/me"
DOCS = "/docs"  # the same for every API, so it is answered here
# What the API reads of a request, and what a browser needs of its answer.
SENT = ("accept", "content-type", "duetime-reason", "idempotency-key", "if-none-match", "prefer")
RETURNED = (
    "allow",
    "cache-control",
    "content-disposition",
    "content-type",
    "etag",
    "preference-applied",
    "retry-after",
)


class Upstream(Protocol):
    """How the API elsewhere is reached."""

    url: str

    def http_options(self) -> dict[str, Any]: ...


class Proxy:
    """An ASGI application.

    Args:
        upstream: Where the API is, and how its requests are authenticated.
        sessions: Who may use this server, and whether only to read.
        files: The console.
        transport: Replaces the network, for tests."""

    def __init__(
        self,
        upstream: Upstream,
        sessions: Sessions,
        files: ConsoleFiles,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._upstream = upstream
        self._sessions = sessions
        self._files = files
        self._transport = transport
        self._http: httpx.AsyncClient | None = None
        self._memory = BodyMemory()
        self._live = LiveRelay()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._connect(WebSocket(scope, receive, send))
            return
        try:
            response = await self._respond(scope, receive)
        except ClientDisconnect:
            return
        except Problem as problem:
            response = as_asgi(problem.response())
        await response(scope, receive, send)

    async def _respond(self, scope: Scope, receive: Receive) -> AsgiResponse:
        with self._memory.one_request() as take:
            asgi = AsgiRequest(scope, receive)
            request = await read_request(asgi, take)
            if is_foreign(request, scope["server"]):
                raise FOREIGN
            if file := self._files.find(request.method, request.path, request.headers):
                return AsgiResponse(file.body, headers=dict(file.headers))
            if request.path == SIGN_IN:
                return as_asgi(self._sessions.sign_in(request))
            if request.path == DOCS and request.method == "GET":
                return as_asgi(docs_page(request, {}))
            request = self._sessions.admit(request)
            check(request)
            return await self._forward(request, asgi)

    async def _forward(self, request: Request, asgi: AsgiRequest) -> AsgiResponse:
        answer = await self._send(request, asgi.url.query)
        body = answer.content
        if answer.is_success and request.path == ME:
            body = as_seen_here(request.caller, self._upstream.url, body)
        if answer.is_success and request.path == TICKETS:
            body = self._live.own_ticket(body, asgi.headers["host"])
        headers = {name: answer.headers[name] for name in RETURNED if name in answer.headers}
        return AsgiResponse(body, answer.status_code, headers)

    async def _send(self, request: Request, query: str) -> httpx.Response:
        if self._http is None:  # made here, so that it belongs to the loop of the server
            options = self._upstream.http_options()
            self._http = httpx.AsyncClient(transport=self._transport, **options)
        headers = {name: request.headers[name] for name in SENT if name in request.headers}
        path = request.path + (f"?{query}" if query else "")
        try:
            return await self._http.request(
                request.method, path, headers=headers, content=request.body or None
            )
        except httpx.TransportError as error:
            raise unreachable(self._upstream.url, error) from error
        except DuetimeError as error:
            raise Problem(502, "not-signed", "The call cannot be signed", str(error)) from error

    async def _connect(self, socket: WebSocket) -> None:
        """Relays a WebSocket to the address of its ticket. The handshake follows the rules of every
        request, since a browser lets pages of any site make it."""
        handshake = Request(
            method="GET",
            path=socket.scope["path"],
            headers=dict(HTTPConnection(socket.scope).headers),
        )
        try:
            if is_foreign(handshake, socket.scope.get("server")):
                raise FOREIGN
            self._sessions.admit(handshake)
            if handshake.path != LIVE:
                raise not_found(f"WebSocket {handshake.path}")
            address = self._live.address_of(socket.query_params.get("ticket"))
        except Problem as problem:
            await refuse(socket, problem)
            return
        await self._live.relay(socket, address)


def check(request: Request) -> None:
    """Raises Problem for what is not forwarded: another path than the API's, or what the caller may
    not do."""
    segments = unquote(request.path).split("/")
    if not request.path.startswith(API) or "." in segments or ".." in segments:
        raise not_found(f"{request.path} here: only {API} is forwarded")
    if problem := refusal(request, request.caller):
        problem.body["detail"] += " Start `duetime console` with --write to act."
        raise problem


def as_seen_here(caller: Caller, url: str, body: bytes) -> bytes:
    """Returns the answer of /v1/me with the rights that both the API and this server allow, and
    with the address of the API, for the commands that the console shows."""
    me = json.loads(body)
    me["rights"] = [right for right in me.get("rights", ()) if right in caller.rights]
    return json.dumps({**me, "url": url}).encode()


def unreachable(url: str, error: httpx.TransportError) -> Problem:
    reason = f": {error}" if str(error) else ""
    detail = f"{url} does not answer ({type(error).__name__}{reason})."
    return Problem(502, "unreachable", "The API does not answer", detail)
