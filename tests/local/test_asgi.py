"""The ASGI application: a request reaches the API as it was sent."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from duetime.api.http import BODY_LIMIT, Problem, Request, Response
from duetime.core.errors import DuetimeError
from duetime.local.asgi import API_THREADS, asgi_app, is_foreign
from duetime.supervised_threads import ThreadPool

URL = "http://127.0.0.1:8080"


class Behind:
    """An API that records the requests, and parses a body as the real one does."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        if request.method != "POST":
            return Response(status=200, body={"ok": True})
        try:
            return Response(status=201, body=request.json(), headers={"location": "/v1/tasks/x"})
        except Problem as problem:
            return problem.response()


@pytest.fixture
def behind() -> Behind:
    return Behind()


def ask(behind: Behind, method: str, path: str, **options: Any) -> httpx.Response:
    async def call() -> httpx.Response:
        transport = httpx.ASGITransport(asgi_app(behind))
        async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
            return await client.request(method, path, **options)

    return asyncio.run(call())


def test_the_answer_goes_out_as_the_api_gave_it(behind: Behind):
    response = ask(behind, "POST", "/v1/tasks", json={"a": 1})

    assert (response.status_code, response.json()) == (201, {"a": 1})
    assert response.headers["location"] == "/v1/tasks/x"


def with_threads(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Lets only a few threads of the API start."""
    start, left = threading.Thread.start, [None] * most

    def start_if_any_are_left(thread: threading.Thread) -> None:
        if thread.name.startswith("api"):
            if not left:
                raise RuntimeError("can't start new thread")
            left.pop()
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_if_any_are_left)


def test_calls_wait_for_the_thread_that_there_is(monkeypatch: pytest.MonkeyPatch):
    with_threads(monkeypatch, 1)
    go_on = threading.Event()
    with ThreadPool(8, "api") as threads:
        first = threads.submit(go_on.wait, 60)
        others = [threads.submit(str, number) for number in range(3)]
        go_on.set()

    assert first.result()
    assert [call.result() for call in others] == ["0", "1", "2"]


def test_api_without_any_thread_cannot_start(behind: Behind, monkeypatch: pytest.MonkeyPatch):
    with_threads(monkeypatch, 0)

    with pytest.raises(DuetimeError, match="no more threads: can't start new thread; allow more"):
        asgi_app(behind)


@pytest.mark.parametrize(
    ("method", "raw"),
    [
        ("GET", b"/v1/tasks/a%2Fb"),
        ("GET", b"/v1/tasks/%2541"),
        ("GET", b"/v1/tasks%3Flimit=1"),
        ("GET", b"/v1/%0Atasks"),
        ("GET", b"//v1//tasks/"),
        ("GET", b"/v1/tasks/"),
        ("GET", b"/v1/tasks/%FF%00"),
        ("GET", b"/" + b"x" * 50_000),
        ("HEAD", b"/v1/health"),
        ("OPTIONS", b"/v1/tasks"),
        ("PROPFIND", b"/v1/tasks"),
        ("TRACE", b"/v1/tasks"),
    ],
    ids=lambda value: f"{value!r:.30}",
)
def test_every_method_and_path_reaches_the_api_untouched(behind: Behind, method: str, raw: bytes):
    ask(behind, method, httpx.URL(URL, raw_path=raw))

    [request] = behind.requests
    assert (request.method, request.path) == (method, raw.decode())


def test_the_query_is_decoded(behind: Behind):
    ask(behind, "GET", httpx.URL(URL, raw_path=b"/v1/tasks?a=%C3%A9+x&b=&c&d=1%262"))

    [request] = behind.requests
    assert request.path == "/v1/tasks"
    assert request.query == {"a": "é x", "b": "", "c": "", "d": "1&2"}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "localhost:8080"},
        {"host": "[::1]:8080"},
        {"host": "127.0.0.1", "origin": "http://127.0.0.1"},
    ],
)
def test_a_request_of_the_same_machine_is_answered(behind: Behind, headers: dict[str, str]):
    assert ask(behind, "GET", "/v1/health", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},  # a name that was made to point here
        {"host": "127.0.0.1", "origin": "https://evil.example"},
        {"host": "127.0.0.1", "origin": "null"},
        {"host": "["},
    ],
)
def test_another_site_is_turned_away(behind: Behind, headers: dict[str, str]):
    response = ask(behind, "POST", "/v1/tasks", headers=headers)

    assert response.status_code == 403
    assert response.headers["content-type"] == "application/problem+json"
    assert behind.requests == []


def test_a_runner_that_listens_for_others_takes_any_name():
    request = Request(method="GET", path="/", headers={"host": "duetime.example"})

    assert not is_foreign(request, ("0.0.0.0", 8080))
    assert is_foreign(request, ("127.0.0.1", 8080))


def test_header_names_are_in_lower_case(behind: Behind):
    ask(behind, "GET", "/v1/tasks", headers={"IDEMPOTENCY-Key": "Order-1"})

    [request] = behind.requests
    assert request.headers["idempotency-key"] == "Order-1"


def test_a_header_that_comes_twice_is_joined(behind: Behind):
    ask(behind, "GET", "/", headers=[("Idempotency-Key", "a"), ("idempotency-key", "b")])

    [request] = behind.requests
    assert request.headers["idempotency-key"] == "a,b"


@pytest.mark.parametrize(
    ("content_type", "status"),
    [("application/json", 201), ("application/json; charset=utf-8", 201), ("text/plain", 415)],
)
def test_the_media_type_reaches_the_api(behind: Behind, content_type: str, status: int):
    headers = {"Content-Type": content_type}

    response = ask(behind, "POST", "/v1/tasks", content=b"{}", headers=headers)

    assert response.status_code == status


def test_a_body_of_5_mib_gets_through(behind: Behind):
    body = b"{}".ljust(BODY_LIMIT)

    headers = {"content-type": "application/json"}
    assert ask(behind, "POST", "/v1/tasks", content=body, headers=headers).status_code == 201


def test_a_body_over_5_mib_is_a_413(behind: Behind):
    response = ask(behind, "POST", "/v1/tasks", content=b"{}".ljust(BODY_LIMIT + 1))

    assert response.status_code == 413
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["type"] == "urn:duetime:problem:too-large"


def test_a_body_is_read_no_further_than_it_takes_to_refuse_it(behind: Behind):
    chunks = iter([b" " * 1024 * 1024] * 50)

    async def long_body() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    assert ask(behind, "POST", "/v1/tasks", content=long_body()).status_code == 413
    assert len(list(chunks)) >= 40


def scope_of(kind: str) -> dict[str, Any]:
    return {
        "type": kind,
        "method": "POST",
        "path": "/v1/tasks",
        "raw_path": b"/v1/tasks",
        "query_string": b"",
        "headers": [(b"content-length", b"1000")],
    }


def exchange(behind: Behind, kind: str, *received: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs the app on these events; returns what it sent."""
    sent: list[dict[str, Any]] = []
    events = iter(received)

    async def receive() -> dict[str, Any]:
        return next(events)

    async def send(event: Any) -> None:
        sent.append(event)

    asyncio.run(asgi_app(behind)(scope_of(kind), receive, send))
    return sent


def test_a_request_of_a_client_that_hangs_up_early_does_not_reach_the_api(behind: Behind):
    """It promised a longer body than it sent."""
    start = {"type": "http.request", "body": b"{}", "more_body": True}

    assert exchange(behind, "http", start, {"type": "http.disconnect"}) == []
    assert behind.requests == []


def test_a_websocket_is_turned_away(behind: Behind):
    [event] = exchange(behind, "websocket", {"type": "websocket.connect"})

    assert event["type"] == "websocket.close"
    assert behind.requests == []


def test_health_is_answered_while_every_other_request_waits_for_the_store():
    go_on = threading.Event()

    def call(request: Request) -> Response:
        if request.path != "/v1/health":
            assert go_on.wait(60)
        return Response(status=200, body={})

    async def ask_all() -> httpx.Response:
        transport = httpx.ASGITransport(asgi_app(call))
        async with httpx.AsyncClient(transport=transport, base_url=URL, timeout=60) as client:
            waiting = [asyncio.create_task(client.get("/v1/tasks")) for _ in range(2 * API_THREADS)]
            await asyncio.sleep(0)
            health = await client.get("/v1/health")
            assert not any(task.done() for task in waiting)
            go_on.set()
            await asyncio.gather(*waiting)
        return health

    assert asyncio.run(ask_all()).status_code == 200


def test_requests_are_answered_side_by_side():
    """Each waits for the other: one after the other, neither would be answered."""
    both = threading.Barrier(2, timeout=60)

    def call(request: Request) -> Response:
        both.wait()
        return Response(status=200, body={"path": request.path})

    async def ask_both() -> list[httpx.Response]:
        transport = httpx.ASGITransport(asgi_app(call))
        async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
            return await asyncio.gather(client.get("/a"), client.get("/b"))

    assert [response.json()["path"] for response in asyncio.run(ask_both())] == ["/a", "/b"]
