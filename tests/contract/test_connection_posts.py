"""ConnectionPosts: the adapter, over a server that answers as API Gateway, and the tests' fake."""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import create_server
from threading import Thread
from typing import Any
from urllib.parse import unquote

import pytest
from botocore.exceptions import ClientError
from moto.apigatewaymanagementapi.models import apigatewaymanagementapi_backends

from duetime.aws import clients
from duetime.aws.connection_posts import ApiGatewayPosts
from duetime.core.live.connections import ConnectionPosts, Posted
from duetime.local.moto_backend import fair_moto
from tests.live_posts import FakePosts

CONNECTION = "L0SM9cOFvHcCIhw="
FRAME = '{"type":"pong","text":"Grüße"}'
ERRORS = {410: "GoneException", 429: "LimitExceededException", 403: "ForbiddenException"}


class Gateway:
    """The adapter with its server; `status` is the answer to every call, if set."""

    def __init__(self, url: str) -> None:
        self.posts = ApiGatewayPosts(clients.connections(url))
        self.status: int | None = None
        self.asked = 0
        self._sent: dict[str, list[str]] = defaultdict(list)
        self._open: set[str] = set()
        self._limited: set[str] = set()

    def connect(self, *connections: str) -> None:
        self._open |= {*connections}

    def limit(self, connection: str, limited: bool = True) -> None:
        (self._limited.add if limited else self._limited.discard)(connection)

    def frames(self, connection: str) -> list[str]:
        return self._sent[connection]

    def post(self, connection: str, frame: str) -> Posted:
        return self.posts.post(connection, frame)

    def close(self, connection: str) -> None:
        self.posts.close(connection)

    def answer(self, method: str, connection: str, body: str) -> int:
        self.asked += 1
        if self.status is not None:
            return self.status
        if connection not in self._open:
            return 410
        if method == "DELETE":
            self._open.discard(connection)
            return 204
        if connection in self._limited:
            return 429
        self._sent[connection].append(body)
        return 200


@contextmanager
def a_gateway() -> Iterator[Gateway]:
    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path.startswith("/live/@connections/")
            connection = unquote(self.path.rpartition("/")[2])
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            status = gateway.answer(self.command, connection, body)
            text = json.dumps({"message": None}).encode() if status >= 400 else b""
            self.send_response(status)
            if status in ERRORS:
                self.send_header("x-amzn-ErrorType", ERRORS[status])
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_DELETE = do_POST

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        gateway = Gateway(f"http://127.0.0.1:{server.server_port}/live")
        Thread(target=server.serve_forever, daemon=True).start()
        yield gateway
        server.shutdown()


@pytest.fixture
def gateway(test_credentials: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    # Tests of other files may have left moto on, which would answer first.
    monkeypatch.setattr("moto.core.models.botocore_stubber.enabled", False)
    with a_gateway() as made:
        yield made


@pytest.fixture(params=["fake", "adapter"])
def posts(request: pytest.FixtureRequest) -> Any:
    return FakePosts() if request.param == "fake" else request.getfixturevalue("gateway")


def test_post_to_an_open_connection_arrives(posts: Any):
    posts.connect(CONNECTION)
    assert posts.post(CONNECTION, FRAME) is Posted.SENT
    assert posts.frames(CONNECTION) == [FRAME]


def test_post_to_an_unknown_connection_finds_it_gone(posts: Any):
    assert posts.post(CONNECTION, FRAME) is Posted.GONE


def test_post_over_the_limit_fails_and_a_later_one_arrives(posts: Any):
    posts.connect(CONNECTION)
    posts.limit(CONNECTION)
    assert posts.post(CONNECTION, "late") is Posted.FAILED
    posts.limit(CONNECTION, limited=False)
    assert posts.post(CONNECTION, FRAME) is Posted.SENT
    assert posts.frames(CONNECTION) == [FRAME]


def test_closed_connection_is_gone_and_may_be_closed_again(posts: Any):
    posts.connect(CONNECTION)
    for _ in range(2):
        posts.close(CONNECTION)
        assert posts.post(CONNECTION, FRAME) is Posted.GONE


@pytest.mark.parametrize("status", [429, 500, 503])
def test_adapter_tries_a_post_once(gateway: Gateway, status: int):
    gateway.status = status
    assert gateway.post(CONNECTION, FRAME) is Posted.FAILED
    assert gateway.asked == 1


def test_adapter_raises_what_a_deployment_has_wrong(gateway: Gateway):
    gateway.status = 403
    with pytest.raises(ClientError, match="Forbidden"):
        gateway.post(CONNECTION, FRAME)


def test_adapter_waits_no_longer_than_its_timeout(
    test_credentials: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(clients, "POST_READ_TIMEOUT", 0.1)
    with create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/live"
        posts = ApiGatewayPosts(clients.connections(url))
        assert posts.post(CONNECTION, FRAME) is Posted.FAILED


def test_adapter_posts_to_the_address_of_the_api():
    url = "wss://abc123.execute-api.us-east-1.amazonaws.com/live"
    with fair_moto():
        posts: ConnectionPosts = ApiGatewayPosts(clients.connections(url))
        assert posts.post(CONNECTION, FRAME) is Posted.SENT
        [region] = apigatewaymanagementapi_backends["123456789012"].values()
        assert {c.data.decode() for c in region.connections.values()} == {FRAME}
        posts.close(CONNECTION)
        assert region.connections == {}
