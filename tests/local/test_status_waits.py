"""`Prefer: wait` on the local runner: a request waits for a status change, and holds no thread."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from duetime.api.http import Problem, Request, Response
from duetime.core.lifecycle import Status
from duetime.local import status_waits
from duetime.local.asgi import API_THREADS, asgi_app
from duetime.local.server import Server
from duetime.local.status_waits import StatusWaits, asked_wait

URL = "http://127.0.0.1:8080"
TASK = "01M7KRNXWBQCJDXSY1EA4MVFBN"
PATH = f"/v1/tasks/{TASK}"


@pytest.fixture(autouse=True)
def waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that should have been answered fails its test instead."""
    monkeypatch.setattr(status_waits, "MAX_WAIT", 3_000.0)


class Tasks:
    """An API with one task, whose status the test sets."""

    def __init__(self, status: str = "RUNNING") -> None:
        self.status = status
        self.waits = StatusWaits()
        self.reads = 0
        self.read = asyncio.Event()  # set when the task is read

    def __call__(self, request: Request) -> Response:
        if request.path != PATH:
            return Problem(404, "not-found", "Not found").response()
        status = self.status
        self.reads += 1
        self._loop.call_soon_threadsafe(self.read.set)
        return Response(status=200, body={"id": TASK, "status": status})

    def set(self, status: str) -> None:
        self.status = status
        self.waits.notify(Change(TASK))  # type: ignore[arg-type]

    async def read_once(self) -> None:
        await self.read.wait()
        self.read.clear()

    def run(self, test: Callable[[httpx.AsyncClient], Awaitable[None]]) -> None:
        async def call() -> None:
            self._loop = asyncio.get_running_loop()
            transport = httpx.ASGITransport(asgi_app(self, waits=self.waits))
            async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
                await asyncio.wait_for(test(client), 60)

        asyncio.run(call())


class Change:
    after = Status.RUNNING

    def __init__(self, task_id: str) -> None:
        self.task_id = task_id


def wait(client: httpx.AsyncClient, prefer: str = "wait=3000", **headers: str) -> Any:
    return asyncio.create_task(client.get(PATH, headers={"prefer": prefer, **headers}))


def test_waiting_request_is_answered_at_the_next_status_change() -> None:
    tasks = Tasks("PENDING")

    async def test(client: httpx.AsyncClient) -> None:
        waiting = wait(client)
        await tasks.read_once()
        assert not waiting.done()
        tasks.set("RUNNING")
        answer = await waiting
        assert answer.json()["status"] == "RUNNING"
        assert answer.headers["preference-applied"] == "wait=3000"

    tasks.run(test)


def test_waiting_request_goes_on_after_a_notice_of_what_it_has_read() -> None:
    """The relay may be behind: a notice can be about a change before the first read."""
    tasks = Tasks("RUNNING")

    async def test(client: httpx.AsyncClient) -> None:
        waiting = wait(client)
        await tasks.read_once()
        tasks.set("RUNNING")
        await tasks.read_once()
        assert not waiting.done()
        tasks.set("DEAD")
        assert (await waiting).json()["status"] == "DEAD"

    tasks.run(test)


@pytest.mark.parametrize("status", ["SUCCEEDED", "DEAD", "CANCELLED", "EXPIRED"])
def test_task_that_has_ended_is_answered_at_once(status: str) -> None:
    tasks = Tasks(status)

    async def test(client: httpx.AsyncClient) -> None:
        answer = await wait(client)
        assert (answer.json()["status"], tasks.reads) == (status, 1)
        assert answer.headers["preference-applied"] == "wait=3000"

    tasks.run(test)


def test_waiting_request_is_answered_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_waits, "MAX_WAIT", 0.0)
    tasks = Tasks("RUNNING")

    async def test(client: httpx.AsyncClient) -> None:
        answer = await wait(client, "wait=100000")
        assert (answer.json()["status"], tasks.reads) == ("RUNNING", 1)
        assert answer.headers["preference-applied"] == "wait=0"

    tasks.run(test)


def test_missing_task_is_answered_at_once() -> None:
    async def test(client: httpx.AsyncClient) -> None:
        answer = await client.get("/v1/tasks/none", headers={"prefer": "wait=3000"})
        assert answer.status_code == 404
        assert "preference-applied" not in answer.headers

    Tasks().run(test)


def test_hundreds_of_waiting_requests_leave_the_api_free() -> None:
    tasks = Tasks("RUNNING")
    many = 3 * API_THREADS

    async def test(client: httpx.AsyncClient) -> None:
        waiting = [wait(client) for _ in range(many)]
        while tasks.reads < many:
            await tasks.read_once()
        plain = await client.get(PATH)
        assert plain.json()["status"] == "RUNNING"
        assert not any(request.done() for request in waiting)
        tasks.set("SUCCEEDED")
        answers = await asyncio.gather(*waiting)
        assert {answer.json()["status"] for answer in answers} == {"SUCCEEDED"}

    tasks.run(test)


def test_waiting_requests_are_answered_when_the_server_stops() -> None:
    tasks = Tasks("RUNNING")

    async def test(client: httpx.AsyncClient) -> None:
        waiting = wait(client)
        await tasks.read_once()
        tasks.waits.end()
        assert (await waiting).json()["status"] == "RUNNING"
        assert (await wait(client)).json()["status"] == "RUNNING"

    tasks.run(test)


def test_request_of_a_client_that_hung_up_stops_waiting() -> None:
    tasks = Tasks("RUNNING")
    sent: list[Any] = []

    async def test(_client: httpx.AsyncClient) -> None:
        hung_up = asyncio.Event()
        messages = iter([{"type": "http.request", "body": b""}])

        async def receive() -> Any:
            if (message := next(messages, None)) is not None:
                return message
            await hung_up.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        app = asgi_app(tasks, waits=tasks.waits)
        call = asyncio.create_task(app(scope(), receive, send))  # type: ignore[arg-type]
        await tasks.read_once()
        hung_up.set()
        await call
        assert (sent, tasks.waits._waiting) == ([], {})

    tasks.run(test)


def scope() -> dict[str, Any]:
    return {
        "type": "http",
        "method": "GET",
        "path": PATH,
        "raw_path": PATH.encode(),
        "query_string": b"",
        "headers": [(b"prefer", b"wait=3000"), (b"host", b"127.0.0.1")],
        "server": ("127.0.0.1", 8080),
    }


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ("wait=10", 10),
        ("respond-async, wait=10", 10),
        ("WAIT = 7; x=y", 7),
        ('wait="5"', 5),
        ("wait=9999", 3_000),
        ("wait=1, wait=2", 1),
        ("wait", None),
        ("wait=-1", None),
        ("wait=soon", None),
        ("wait=1.5", None),
        ("await=3", None),
        ("", None),
    ],
)
def test_preference_is_read_as_the_rfc_says(prefer: str, seconds: float | None) -> None:
    asked = asked_wait(Request(method="GET", path=PATH, headers={"prefer": prefer}))

    assert (asked and asked.seconds) == seconds
    assert asked is None or asked.task_id == TASK


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("DELETE", PATH, {}),
        ("GET", "/v1/tasks", {}),
        ("GET", f"{PATH}/attempts", {}),
        ("GET", PATH, {"if-none-match": "*"}),
    ],
)
def test_preference_is_ignored_for_other_requests(
    method: str, path: str, headers: dict[str, str]
) -> None:
    request = Request(method=method, path=path, headers={"prefer": "wait=1", **headers})

    assert asked_wait(request) is None


def test_server_that_stops_answers_a_waiting_request_first() -> None:
    waits, read = StatusWaits(), threading.Event()

    def call(_request: Request) -> Response:
        read.set()
        return Response(status=200, body={"id": TASK, "status": "RUNNING"})

    async def end() -> None:
        waits.end()

    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(asgi_app(call, waits=waits), listener, on_shutdown=end)
    serving = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    serving.start()
    url = "http://{}:{}".format(*listener.getsockname())
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(
            httpx.get, url + PATH, headers={"prefer": "wait=3000"}, timeout=60, trust_env=False
        )
        assert read.wait(60)
        server.should_exit = True
        answer = waiting.result(60)
    serving.join(60)

    assert (answer.status_code, answer.headers["preference-applied"]) == (200, "wait=3000")
