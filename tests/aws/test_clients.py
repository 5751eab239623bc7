"""The translation of AWS's errors, with a server that really returns them."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from duetime.aws import clients
from duetime.aws.clients import translate_errors
from duetime.aws.lane_queue import SqsLaneQueue
from duetime.aws.table import Table
from duetime.core.change import Unknown
from duetime.core.delivery import Message, delivery_of
from duetime.core.errors import NotConfigured, Unavailable
from duetime.core.lanes import Lane, Queue
from duetime.core.listings import DeadListing
from duetime.core.steps.cancel import cancel
from duetime.core.times import MINUTE
from tests.aws.stored import a_store
from tests.factories import NOW, a_sent_task

NOWHERE = "http://127.0.0.1:1"

Serve = Callable[[int, str], str]


@pytest.fixture(autouse=True)
def one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets credentials for a server that checks none, and no pauses between attempts."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setattr(clients, "ATTEMPTS", 1)
    monkeypatch.setattr(clients, "READ_TIMEOUT", 0.2)


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers = []

    def start(status: int, code: str) -> str:
        class Answer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.dumps({"__type": f"com.amazon#{code}", "message": "so be it"}).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        servers.append(server)
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "ProvisionedThroughputExceededException"),
        (400, "ThrottlingException"),
        (400, "RequestLimitExceeded"),
        (500, "InternalServerError"),
        (503, "ServiceUnavailable"),
        (502, "AnythingElse"),
    ],
)
def test_a_backend_that_cannot_now_is_unavailable(serve: Serve, status: int, code: str):
    table = Table(clients.dynamodb(serve(status, code)), "tasks")

    with pytest.raises(Unavailable, match=code):
        table.get("pk", "sk")


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "ValidationException"])
def test_every_other_error_is_raised_unchanged(serve: Serve, code: str):
    table = Table(clients.dynamodb(serve(400, code)), "tasks")

    with pytest.raises(ClientError, match=code):
        table.get("pk", "sk")
    with pytest.raises(ClientError, match=code):
        table.put_if({}, "attribute_not_exists(pk)", {})


def test_a_server_that_is_not_there_is_unavailable():
    with pytest.raises(Unavailable):
        Table(clients.dynamodb(NOWHERE), "tasks").get("pk", "sk")


def test_our_own_mistakes_are_raised():
    with pytest.raises(ZeroDivisionError), translate_errors():
        1 / 0  # noqa: B018


def test_a_write_without_an_answer_is_unknown_and_a_read_raises(serve: Serve):
    store = a_store(clients.dynamodb(serve(400, "ThrottlingException")), "tasks")
    change = cancel(a_sent_task(), now=NOW)

    for answer in (*store.put([a_sent_task(), a_sent_task()]), *store.apply([change])):
        assert isinstance(answer, Unknown)
        assert "ThrottlingException" in answer.reason
    with pytest.raises(Unavailable):
        store.get(["a"])
    with pytest.raises(Unavailable):
        list(store.wakes(0, 0))
    with pytest.raises(Unavailable):
        store.dead(DeadListing())
    store.close()


def test_deliveries_that_cannot_be_sent_are_reported_not_raised():
    lanes = SqsLaneQueue(clients.sqs(NOWHERE), {Queue(Lane.MEDIUM): f"{NOWHERE}/1/medium"})
    deliveries = [delivery_of(a_sent_task(), NOW) for _ in range(12)]

    assert lanes.send(deliveries, NOW) == [False] * 12
    with pytest.raises(Unavailable):
        lanes.depth(Queue(Lane.MEDIUM))
    lanes.close()


def test_messages_that_cannot_be_held_are_logged():
    lanes = SqsLaneQueue(clients.sqs(NOWHERE), {Queue(Lane.MEDIUM): f"{NOWHERE}/1/medium"})
    delivery = delivery_of(a_sent_task(), NOW)
    message = Message(delivery=delivery, receipt="r", message_id="m", sent_at=NOW)

    with pytest.raises(Unavailable):
        lanes.hold([message] * 12, MINUTE)
    lanes.close()


@pytest.mark.parametrize("make", [clients.dynamodb, clients.streams, clients.sqs])
def test_clients_have_explicit_timeouts_and_retries(make: Callable[[], Any]):
    config: Config = make().meta.config

    assert config.connect_timeout == clients.CONNECT_TIMEOUT
    assert config.retries == {"mode": "standard", "total_max_attempts": 1}
    assert config.max_pool_connections == clients.POOL_SIZE


def test_a_missing_region_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))

    with pytest.raises(NotConfigured, match="AWS is not configured: You must specify a region"):
        clients.dynamodb()


def test_a_request_says_who_makes_it():
    client, seen = clients.dynamodb(NOWHERE), []
    client.meta.events.register("before-send", lambda request, **_: seen.append(request.headers))

    with pytest.raises(Unavailable), translate_errors():
        client.list_tables()

    assert seen[0]["User-Agent"].decode().startswith("duetime Botocore/")
