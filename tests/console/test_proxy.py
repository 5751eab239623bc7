"""`duetime console`: a server of this machine that acts with the credentials of its user, and for
nothing else than the page that it has signed in."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from duetime.api.http import Request, Response
from duetime.client.transport import Server
from duetime.console.files import ConsoleFiles
from duetime.console.proxy import Proxy
from duetime.local.asgi import asgi_app
from duetime.local.sessions import Sessions

TOKEN, PORT = "0123456789abcdef", 8099
URL = f"http://127.0.0.1:{PORT}"
UPSTREAM = "https://duetime.example/stage"
BEARER = {"authorization": f"Bearer {TOKEN}"}


class Api:
    """The API elsewhere. It records the requests."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        return Response(status=200, body=BODIES.get(request.path, {}), headers=ANSWERED)


ANSWERED = {"content-type": "application/json", "etag": 'W/"1"', "set-cookie": "a=b", "server": "x"}
BODIES: Mapping[str, Any] = {
    "/stage/v1/me": {"actor": "ada", "rights": ["read", "operate"], "features": ["live"]},
    "/stage/v1/live/tickets": {"url": "wss://elsewhere.example/live?ticket=t1", "expires_at": "x"},
}


@pytest.fixture
def api() -> Api:
    return Api()


def proxy(api: Api, *, write: bool = False, transport: Any = None) -> Proxy:
    return Proxy(
        Server(UPSTREAM, 5.0, None, "stage-token"),
        Sessions(token=TOKEN, port=PORT, read_only=not write),
        ConsoleFiles(),
        transport=transport or httpx.ASGITransport(asgi_app(api)),
    )


def ask(app: Proxy, method: str, path: str, **options: Any) -> httpx.Response:
    async def call() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=URL) as client:
            return await client.request(method, path, **options)

    return asyncio.run(call())


def test_call_goes_out_with_the_credentials_of_the_user(api: Api):
    headers = {**BEARER, "cookie": "a=b", "idempotency-key": "k", "x-other": "o"}
    response = ask(proxy(api), "GET", "/v1/tasks?status=DEAD&tag=a%3Ab", headers=headers)

    assert response.status_code == 200
    (sent,) = api.requests
    assert (sent.path, sent.query) == ("/stage/v1/tasks", {"status": "DEAD", "tag": "a:b"})
    assert sent.headers["authorization"] == "Bearer stage-token"
    assert sent.headers["host"] == "duetime.example"
    assert sent.headers["idempotency-key"] == "k"
    assert "cookie" not in sent.headers
    assert "x-other" not in sent.headers


def test_answer_comes_back_without_cookies_of_the_api(api: Api):
    response = ask(proxy(api), "GET", "/v1/tasks", headers=BEARER)

    assert response.headers["etag"] == 'W/"1"'
    assert "set-cookie" not in response.headers
    assert "server" not in response.headers


@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer wrong"}, {"cookie": f"duetime_{PORT}=wrong"}],
)
def test_call_without_the_token_is_refused(api: Api, headers: dict[str, str]):
    assert ask(proxy(api), "GET", "/v1/tasks", headers=headers).status_code == 401
    assert not api.requests


def test_page_needs_no_token(api: Api):
    assert ask(proxy(api), "GET", "/").text.startswith("<!doctype html>")


def test_token_of_the_link_is_exchanged_for_a_cookie(api: Api):
    app = proxy(api)
    signed_in = ask(app, "POST", "/auth", json={"token": TOKEN})
    cookie = signed_in.headers["set-cookie"]

    assert signed_in.status_code == 204
    assert cookie.startswith(f"duetime_{PORT}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie
    headers = {"cookie": cookie.partition(";")[0]}
    assert ask(app, "GET", "/v1/tasks", headers=headers).status_code == 200


def test_wrong_token_gets_no_cookie(api: Api):
    response = ask(proxy(api), "POST", "/auth", json={"token": "wrong"})

    assert response.status_code == 401
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8099"},
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
    ],
)
def test_page_of_another_site_is_refused(api: Api, headers: dict[str, str]):
    for path in ("/", "/v1/tasks"):
        assert ask(proxy(api), "GET", path, headers={**BEARER, **headers}).status_code == 403
    assert not api.requests


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/tasks"),
        ("DELETE", "/v1/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ("PATCH", "/v1/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ("POST", "/v1/tasks/cancel"),
        ("POST", "/v1/dead-letters/redrive"),
        ("PUT", "/v1/limits/stripe"),
        ("POST", "/v1/schedules/preview/../../tasks"),
    ],
)
def test_write_is_refused_without_the_option(api: Api, method: str, path: str):
    response = ask(proxy(api), method, path, headers=BEARER, json={})

    assert response.status_code == 403
    assert "--write" in response.json()["detail"]
    assert not api.requests


@pytest.mark.parametrize("path", ["/v1/schedules/preview", "/v1/live/tickets"])
def test_call_that_only_reads_is_forwarded_whatever_its_method(api: Api, path: str):
    assert ask(proxy(api), "POST", path, headers=BEARER, json={}).status_code == 200


def test_write_is_forwarded_with_the_option(api: Api):
    body = {"target": {"type": "python", "handler": "a.b"}}
    response = ask(proxy(api, write=True), "POST", "/v1/tasks", headers=BEARER, json=body)

    assert response.status_code == 200
    (sent,) = api.requests
    assert json.loads(sent.body) == body


@pytest.mark.parametrize(
    "path", ["/v2/tasks", "/v1/%2e%2e/admin", "/v1/..%2fadmin", "/metrics", "/v1"]
)
def test_path_outside_of_the_api_is_not_forwarded(api: Api, path: str):
    response = ask(proxy(api, write=True), "GET", path, headers=BEARER)

    assert response.status_code == 404
    assert not api.requests


def test_documentation_of_the_api_is_answered_here(api: Api):
    response = ask(proxy(api), "GET", "/docs")

    assert response.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert not api.requests


@pytest.mark.parametrize(("write", "rights"), [(False, ["read"]), (True, ["read", "operate"])])
def test_page_learns_the_rights_that_it_has_here(api: Api, write: bool, rights: list[str]):
    response = ask(proxy(api, write=write), "GET", "/v1/me", headers=BEARER)

    assert response.json() == {
        "actor": "ada",
        "rights": rights,
        "features": ["live"],
        "url": UPSTREAM,
    }


def test_ticket_leads_to_this_server(api: Api):
    response = ask(proxy(api), "POST", "/v1/live/tickets", headers=BEARER, json={})

    assert response.json()["url"] == f"ws://127.0.0.1:{PORT}/v1/live?ticket=t1"


def test_api_that_does_not_answer_is_named(api: Api):
    def fail(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    app = proxy(api, transport=httpx.MockTransport(fail))
    response = ask(app, "GET", "/v1/tasks", headers=BEARER)

    assert response.status_code == 502
    assert UPSTREAM in response.json()["detail"]


@pytest.mark.parametrize(
    ("headers", "path", "kind"),
    [
        ({}, "/v1/live", "unauthorized"),
        ({"cookie": f"duetime_{PORT}=wrong"}, "/v1/live", "unauthorized"),
        ({**BEARER, "origin": "https://evil.example"}, "/v1/live", "foreign"),
        ({**BEARER, "host": "evil.example"}, "/v1/live", "foreign"),
        (BEARER, "/v1/live", "forbidden"),  # without a ticket of this server
        (BEARER, "/v1/other", "not-found"),
    ],
)
def test_websocket_is_refused(api: Api, headers: dict[str, str], path: str, kind: str):
    assert handshake(proxy(api), path, headers) == f"urn:duetime:problem:{kind}"


def handshake(app: Proxy, path: str, headers: dict[str, str]) -> str:
    """Returns the type of the problem that answers an upgrade."""
    sent: list[Mapping[str, Any]] = []
    names = {"host": f"127.0.0.1:{PORT}", **headers}
    scope = {
        "type": "websocket",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"ticket=unknown",
        "headers": [(name.encode(), text.encode()) for name, text in names.items()],
        "server": ("127.0.0.1", PORT),
        "extensions": {"websocket.http.response": {}},
    }

    async def call() -> None:
        async def receive() -> Mapping[str, Any]:
            return {"type": "websocket.connect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await app(scope, receive, send)

    asyncio.run(call())
    return str(json.loads(b"".join(message.get("body", b"") for message in sent))["type"])
