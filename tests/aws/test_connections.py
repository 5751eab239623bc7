"""Connections opened ahead, counted by a real server."""

import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import parse_headers
from threading import Barrier, Thread
from typing import Any

import pytest

from lambdas.aws import clients
from lambdas.aws.connections import KEPT_FOR, Connections
from lambdas.aws.fan_out import FanOut
from tests.factories import NOW, SteppedClock

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class Server:
    """Counts its connections, and remembers how requests begin."""

    def __init__(self) -> None:
        self.connections: list[socket.socket] = []
        self.asked: list[str] = []
        self.hangs_up: set[int] = set()  # on the next request of these connections, by number
        self.together: Barrier | None = None  # how many POSTs are to be there at once
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections.append(connection)
                number = len(self.connections)
                Thread(target=self._serve, args=[connection, number], daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with closing(connection), suppress(OSError), connection.makefile("rb") as read:
            while line := read.readline().decode():
                if number in self.hangs_up:
                    return
                read.read(int(parse_headers(read).get("Content-Length", 0)))
                self.asked.append(line.partition(" HTTP")[0])
                if line.startswith("POST") and self.together:
                    self.together.wait(60)
                connection.sendall(ANSWER)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr("moto.core.models.botocore_stubber.enabled", False)
    monkeypatch.setattr(clients, "CONNECT_TIMEOUT", 60.0)  # however busy the machine is
    monkeypatch.setattr(clients, "TABLE_READ_TIMEOUT", 60.0)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with closing(Server()) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Any:
    return clients.dynamodb(server.url)


def test_calls_side_by_side_use_the_connections_that_were_opened_ahead(server: Server, client: Any):
    Connections(client, SteppedClock(NOW), most=5).open(10)
    assert (len(server.connections), server.asked) == (5, ["GET /"] * 5)

    server.together = Barrier(5)
    fan_out = FanOut(5)
    fan_out.each(lambda _: client.list_tables(), range(5))
    fan_out.close()
    assert len(server.connections) == 5
    assert server.asked[5:] == ["POST /"] * 5


def test_no_more_are_opened_than_there_are_messages(server: Server, client: Any):
    Connections(client, SteppedClock(NOW), most=5).open(2)
    assert len(server.connections) == 2


def test_connections_are_looked_at_again_only_after_a_while(server: Server, client: Any):
    clock = SteppedClock(NOW)
    connections = Connections(client, clock, most=3)
    connections.open(3)
    clock.advance(KEPT_FOR - 1)
    connections.open(3)
    assert len(server.asked) == 3

    clock.advance(1)
    connections.open(3)
    assert len(server.asked) == 6
    assert len(server.connections) == 3, "they were all still open"


def test_connections_that_were_closed_are_replaced(server: Server, client: Any):
    clock = SteppedClock(NOW)
    connections = Connections(client, clock, most=3)
    connections.open(3)
    clock.advance(KEPT_FOR)
    server.hangs_up = {1, 2, 3}
    connections.open(3)

    assert len(server.connections) == 6
    client.list_tables()
    assert len(server.connections) == 6


def test_server_that_is_not_there_is_no_failure_of_the_executor(
    client: Any, server: Server, caplog: pytest.LogCaptureFixture
):
    server.close()
    Connections(client, SteppedClock(NOW), most=3).open(3)
    [record] = caplog.records
    assert record.message == "connections not opened"
    server._listener = socket.create_server(("127.0.0.1", 0))  # to be closed
