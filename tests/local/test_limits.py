"""The limits of the HTTP server: one client cannot block the others, and gets a problem."""

import json
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from duetime.api.http import Problem, Request, Response
from duetime.local import asgi as front
from duetime.local import http_protocol as protocol
from duetime.local.asgi import asgi_app
from duetime.local.http_protocol import HEAD_LIMIT, MAX_PIPELINED
from duetime.local.server import MAX_CONNECTIONS, MAX_DESCRIPTORS, Server

PATIENCE = 60  # seconds: what takes so long has failed
LONG, SHORT = 300.0, 0.05  # seconds of a timeout: never reached, or soon
GET = b"GET /v1/tasks HTTP/1.1\r\nhost: localhost\r\n\r\n"


class Client:
    """A socket that speaks HTTP byte by byte."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._socket = socket.create_connection(address, timeout=PATIENCE)
        self._file = self._socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def send_until_refused(self, piece: bytes, most: int) -> int:
        """How many bytes went out before the server had enough."""
        sent = 0
        try:
            while sent < most:
                self._socket.sendall(piece)
                sent += len(piece)
        except OSError:
            pass
        return sent

    def answer(self) -> tuple[int, dict[str, str], Any]:
        status = int(self._file.readline().split()[1])
        headers = {}
        while line := self._file.readline().strip():
            name, _, value = line.decode().partition(": ")
            headers[name] = value
        return status, headers, json.loads(self._file.read(int(headers["content-length"])))

    def is_closed(self) -> bool:
        """Waits for it."""
        try:
            return self._file.read() == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self._file.close()
        self._socket.close()


class Served:
    """A real server before an API that says what it was asked."""

    def __init__(self, max_connections: int) -> None:
        self.call: Callable[[Request], Response] = self._echo
        self.listener = socket.create_server(("127.0.0.1", 0))
        self._server = Server(asgi_app(self._answer), self.listener)
        self._server.config.http.keywords["max_connections"] = max_connections
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self.listener]}, daemon=True
        )
        self._thread.start()
        self._clients = ExitStack()

    def _answer(self, request: Request) -> Response:
        return self.call(request)

    def _echo(self, request: Request) -> Response:
        if request.method == "POST":
            try:
                request.json()
            except Problem as problem:
                return problem.response()
        return Response(status=200, body={"path": request.path, "size": len(request.body)})

    def client(self) -> Client:
        return self._clients.enter_context(closing(Client(self.listener.getsockname())))

    def connections(self) -> int:
        return len(self._server.server_state.connections)

    def close(self) -> None:
        self._clients.close()
        self._server.should_exit = True
        self._thread.join(PATIENCE)


@pytest.fixture
def served() -> Iterator[Served]:
    with closing(Served(max_connections=4)) as served:
        yield served


@pytest.fixture(autouse=True)
def no_limit_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUEST_TIME", "ANSWER_TIME", "KEEP_ALIVE", "REFUSAL_TIMEOUT"):
        monkeypatch.setattr(protocol, name, LONG)


def is_problem(answer: tuple[int, dict[str, str], Any], status: int, kind: str) -> bool:
    got, headers, body = answer
    assert (got, body["status"]) == (status, status), answer
    assert headers["content-type"] == "application/problem+json"
    return body["type"] == f"urn:duetime:problem:{kind}"


def test_ordinary_requests_share_a_connection(served: Served):
    client = served.client()
    for _ in range(3):
        client.send(GET)
        assert client.answer()[::2] == (200, {"path": "/v1/tasks", "size": 0})


# The head.


def a_head(size: int) -> bytes:
    start, end = b"GET / HTTP/1.1\r\nhost: localhost\r\nx-long: ", b"\r\n\r\n"
    return start + b"a" * (size - len(start) - len(end)) + end


def test_head_within_the_limit_is_served(served: Served):
    client = served.client()
    client.send(a_head(HEAD_LIMIT - 1_000))
    assert client.answer()[0] == 200


@pytest.mark.parametrize("size", [HEAD_LIMIT + 1_000, 200_000])
def test_head_over_the_limit_is_a_431_however_it_comes(served: Served, size: int):
    at_once, in_pieces = served.client(), served.client()
    at_once.send(a_head(size))
    in_pieces.send_until_refused(b"GET / HTTP/1.1\r\nx: a", 19)
    in_pieces.send_until_refused(b"a" * 500, size)

    assert is_problem(at_once.answer(), 431, "head-too-large")
    assert is_problem(in_pieces.answer(), 431, "head-too-large")


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"", b"a" * 10_000),
        (b"GET /", b"a" * 10_000),
        (b"GET / HTTP/1.1\r\n", b"x: y\r\n" * 1_000),
        (b"GET / HTTP/1.1\r\nx: ", b"y" * 10_000),
        (b"", b"\r\n" * 5_000),
        (
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
            b"x: y\r\n" * 1_000,
        ),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5;", b"x" * 10_000),
    ],
    ids=["method", "path", "headers", "value", "empty lines", "trailers", "chunk extension"],
)
def test_request_without_an_end_is_closed_before_it_takes_memory(
    served: Served, start: bytes, piece: bytes
):
    client = served.client()
    client.send(start + piece)
    sent = client.send_until_refused(piece, most=50_000_000)

    assert sent < 20_000_000  # what the buffers of both ends hold
    assert served.connections() <= 1


def test_bytes_that_are_not_http_are_a_400(served: Served):
    client = served.client()
    client.send(b"\x16\x03\x01 hello\r\n\r\n")
    assert is_problem(client.answer(), 400, "malformed")
    assert client.is_closed()


# Time.


@pytest.mark.parametrize(
    "half",
    [
        b"G",
        b"GET / HTTP/1.1\r\nhost: local",
        b"\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\n{",
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
    ],
    ids=["method", "headers", "empty lines", "no body", "half a body", "half a chunk"],
)
def test_half_a_request_is_a_408_after_a_while(
    served: Served, half: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(protocol, "REQUEST_TIME", SHORT)
    client = served.client()
    client.send(half)

    assert is_problem(client.answer(), 408, "timeout")
    assert client.is_closed()


def test_half_of_a_second_request_is_a_408_too(served: Served, monkeypatch: pytest.MonkeyPatch):
    client = served.client()
    client.send(GET)
    assert client.answer()[0] == 200
    monkeypatch.setattr(protocol, "REQUEST_TIME", SHORT)
    client.send(b"GET /v1/")

    assert is_problem(client.answer(), 408, "timeout")


def test_silent_connection_is_closed_without_a_response(
    served: Served, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(protocol, "KEEP_ALIVE", SHORT)
    assert served.client().is_closed()


def test_answer_that_takes_long_is_waited_for(served: Served, monkeypatch: pytest.MonkeyPatch):
    """The limit is for the request to arrive, not for the API to answer."""
    go_on, asked = threading.Event(), threading.Event()

    def slow(request: Request) -> Response:
        asked.set()
        assert go_on.wait(PATIENCE)
        return Response(status=200, body={})

    monkeypatch.setattr(protocol, "REQUEST_TIME", SHORT)
    served.call = slow
    client, other = served.client(), served.client()
    client.send(GET)
    assert asked.wait(PATIENCE)
    other.send(b"G")
    assert other.answer()[0] == 408  # the time has passed, for the other as well
    go_on.set()

    assert client.answer()[0] == 200


def test_client_that_does_not_read_its_answer_is_cut_off(
    served: Served, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(protocol, "ANSWER_TIME", SHORT)
    served.call = lambda request: Response(status=200, body="a" * 50_000_000)
    client = served.client()
    client.send(GET)

    assert eventually(lambda: served.connections() == 0)


def eventually(done: Callable[[], bool]) -> bool:
    waiting = threading.Event()
    return any(done() or waiting.wait(0.01) for _ in range(PATIENCE * 100))


# How many.


def test_connections_above_the_limit_get_a_503_and_the_others_are_served(served: Served):
    clients = [served.client() for _ in range(4)]
    for client in clients:
        client.send(GET)
        assert client.answer()[0] == 200

    late = served.client()
    late.send(GET)
    answer = late.answer()
    assert is_problem(answer, 503, "too-many-connections")
    assert answer[1]["retry-after"] == "1"
    assert late.is_closed()

    for client in clients:
        client.send(GET)
        assert client.answer()[0] == 200
    clients[0].close()
    assert eventually(lambda: served.connections() == 3)
    new = served.client()
    new.send(GET)
    assert new.answer()[0] == 200


def test_idle_connection_above_the_limit_is_soon_closed(
    served: Served, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(protocol, "REFUSAL_TIMEOUT", SHORT)
    for _ in range(4):
        served.client()
    assert eventually(lambda: served.connections() == 4)

    assert served.client().is_closed()


def test_many_connections_above_the_limit_are_closed_at_once(
    served: Served, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(protocol, "MAX_REFUSALS", 2)
    clients = [served.client() for _ in range(6)]
    assert eventually(lambda: served.connections() == 6)

    assert served.client().is_closed()
    assert len(clients) == 6


def test_pipelined_requests_are_answered_in_order_and_not_without_end(served: Served):
    client = served.client()
    client.send(b"".join(GET.replace(b"tasks", b"%d" % n) for n in range(5)))
    assert [client.answer()[2]["path"] for _ in range(5)] == [f"/v1/{n}" for n in range(5)]

    go_on = threading.Event()
    served.call = lambda request: Response(status=200, body=go_on.wait(PATIENCE))
    client.send(GET * (2 * MAX_PIPELINED))
    assert client.is_closed()
    go_on.set()


def test_refusal_does_not_come_before_an_answer_that_is_due_first(served: Served):
    go_on, asked = threading.Event(), threading.Event()

    def slow(request: Request) -> Response:
        asked.set()
        assert go_on.wait(PATIENCE)
        return Response(status=200, body={})

    served.call = slow
    client = served.client()
    client.send(GET)
    assert asked.wait(PATIENCE)
    client.send(b"nonsense\r\n\r\n")

    assert client.is_closed()  # and the 400 does not look like the answer to the first
    go_on.set()


def test_bodies_together_have_a_limit(served: Served, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(front, "BODIES_LIMIT", 1_000)
    head = b"POST / HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    first, second = served.client(), served.client()
    go_on, asked = threading.Event(), threading.Event()

    def slow(request: Request) -> Response:
        asked.set()
        assert go_on.wait(PATIENCE)
        return Response(status=200, body={"size": len(request.body)})

    served.call = slow
    first.send(head % 900 + b" " * 900)
    assert asked.wait(PATIENCE)
    second.send(head % 200 + b" " * 200)
    answer = second.answer()
    assert is_problem(answer, 503, "busy")
    assert answer[1]["retry-after"] == "1"

    go_on.set()
    assert first.answer()[2] == {"size": 900}
    second.send(head % 900 + b" " * 900)
    assert second.answer()[2] == {"size": 900}


def test_body_over_the_limit_is_a_413(served: Served):
    client = served.client()
    head = b"POST / HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 6000000\r\n\r\n"
    client.send(head + b" " * 6_000_000)

    assert is_problem(client.answer(), 413, "too-large")


# Descriptors.

ASK = "from duetime.local.server import max_connections as m; import resource;"
ASK += " print(m(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])"


@pytest.mark.parametrize(
    ("soft", "hard", "most", "after"),
    [
        (1_024, 1_024, 512, 1_024),
        (256, 1_024, 512, 1_024),
        (1_024, 8_192, MAX_CONNECTIONS, MAX_DESCRIPTORS),
        (8_000, 8_192, MAX_CONNECTIONS, 8_000),
    ],
)
def test_half_of_the_descriptors_is_left_for_the_store(soft: int, hard: int, most: int, after: int):
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
    )
    assert done.stdout.split() == [str(most), str(after)]
