"""Connections opened before they are needed, counted by a real server."""

import socket
from collections.abc import Iterator
from contextlib import closing
from threading import Barrier
from typing import Any

import pytest

from duetime.aws import clients
from duetime.aws.connections import RECHECK_INTERVAL, Connections
from duetime.aws.parallel import ParallelCalls
from tests.factories import NOW, SteppedClock
from tests.raw_http_server import RawHttpServer, answers, hangs_up


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RawHttpServer]:
    monkeypatch.setattr("moto.core.models.botocore_stubber.enabled", False)
    monkeypatch.setattr(clients, "CONNECT_TIMEOUT", 60.0)  # for a busy machine
    monkeypatch.setattr(clients, "TABLE_READ_TIMEOUT", 60.0)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with closing(RawHttpServer()) as server:
        yield server


@pytest.fixture
def client(server: RawHttpServer) -> Any:
    return clients.dynamodb(server.url)


def lines(server: RawHttpServer) -> list[str]:
    return [request.line for request in server.requests]


def test_parallel_calls_use_the_connections_that_were_opened_before(
    server: RawHttpServer, client: Any
):
    Connections(client, SteppedClock(NOW), limit=5).open(10)
    assert (server.connections, lines(server)) == (5, ["GET /"] * 5)

    together = Barrier(5)

    def answers_together(connection: socket.socket) -> bool:
        together.wait(60)
        return answers(connection)

    server.later = answers_together
    parallel = ParallelCalls(5)
    parallel.each(lambda _: client.list_tables(), range(5))
    parallel.close()
    assert server.connections == 5
    assert lines(server)[5:] == ["POST /"] * 5


def test_no_more_connections_are_opened_than_there_are_messages(server: RawHttpServer, client: Any):
    Connections(client, SteppedClock(NOW), limit=5).open(2)
    assert server.connections == 2


def test_connections_are_checked_again_only_after_an_interval(server: RawHttpServer, client: Any):
    clock = SteppedClock(NOW)
    connections = Connections(client, clock, limit=3)
    connections.open(3)
    clock.advance(RECHECK_INTERVAL - 1)
    connections.open(3)
    assert len(server.requests) == 3

    clock.advance(1)
    connections.open(3)
    assert len(server.requests) == 6
    assert server.connections == 3, "they were all still open"


def test_connections_that_were_closed_are_replaced(server: RawHttpServer, client: Any):
    clock = SteppedClock(NOW)
    connections = Connections(client, clock, limit=3)
    connections.open(3)
    clock.advance(RECHECK_INTERVAL)
    server.later = hangs_up
    connections.open(3)

    assert server.connections == 6
    server.later = answers
    client.list_tables()
    assert server.connections == 6


def test_server_that_does_not_answer_does_not_fail_the_executor(
    client: Any, server: RawHttpServer, caplog: pytest.LogCaptureFixture
):
    server.close()
    Connections(client, SteppedClock(NOW), limit=3).open(3)
    [record] = caplog.records
    assert record.message == "connections not opened"
