"""The http target over a kept connection that the server has closed.

A sandbox that was frozen does not see that, and sends its request. To the target it looks as if
the server hung up on the request; so does this server.
"""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from lambdas.core.lifecycle import Status
from lambdas.core.retry import RetryPolicy
from lambdas.core.task import Task
from lambdas.executor.executor import Executor
from lambdas.executor.targets import connections
from lambdas.executor.targets.address_rules import AddressRules
from lambdas.executor.targets.addresses import Kind
from lambdas.executor.targets.http import HttpTarget
from tests.certificates import Certificates, make_certificates
from tests.world import World

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close with RST instead of FIN

Answer = Callable[[socket.socket], bool]  # to a request; whether the connection stays open


class Server:
    """`first` answers the first request of a connection, `later` those after it."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.first: Answer = answers
        self.later: Answer = answers
        self.connections = 0
        self.asked: list[bytes] = []
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        scheme = "https" if context else "http"
        self.url = f"{scheme}://127.0.0.1:{self._listener.getsockname()[1]}/"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        if self._context:
            connection = self._context.wrap_socket(connection, server_side=True)
        with closing(connection):
            kept = False
            while request := _read(connection):
                self.asked.append(request)
                answer = self.later if kept else self.first
                kept = answer(connection)
                if not kept:
                    break


def _read(connection: socket.socket) -> bytes:
    read = b""
    with suppress(OSError):
        while b"\r\n\r\n" not in read and (some := connection.recv(65_536)):
            read += some
    return read


def answers(connection: socket.socket) -> bool:
    connection.sendall(OK)
    return True


def hangs_up(connection: socket.socket) -> bool:
    return False


def resets(connection: socket.socket) -> bool:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    return False


def answers_half(connection: socket.socket) -> bool:
    connection.sendall(b"HTTP/1.1 2")
    return False


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(params=["http", "https"])
def server(
    request: pytest.FixtureRequest, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server]:
    context = None
    if request.param == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.server)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
        monkeypatch.setattr(connections, "_context", None)
    with closing(Server(context)) as server:
        yield server


@pytest.fixture(autouse=True)
def target(world: World) -> HttpTarget:
    target = HttpTarget(world.clock, AddressRules(kinds=frozenset({Kind.LOOPBACK})))
    world.executor = Executor(world.ports, {"http": target})
    return target


def call(world: World, server: Server) -> Task:
    """The task after its only attempt."""
    task_id = world.submit(
        target={"type": "http", "url": server.url}, retry=RetryPolicy(max_attempts=1)
    )
    world.deliver()
    return world.task(task_id)


def header(name: bytes, request: bytes) -> bytes:
    [value] = [line for line in request.split(b"\r\n") if line.lower().startswith(name)]
    return value


@pytest.mark.parametrize("dead", [hangs_up, resets])
def test_call_over_a_dead_connection_is_repeated_over_a_new_one(
    world: World, server: Server, dead: Answer
):
    assert call(world, server).status is Status.SUCCEEDED
    server.later = dead

    task = call(world, server)

    assert (task.status, task.attempt) == (Status.SUCCEEDED, 1)
    assert server.connections == 2
    _, lost, repeated = server.asked
    for name in (b"idempotency-key", b"duetime-attempt"):
        assert header(name, lost) == header(name, repeated)


@pytest.mark.parametrize("dead", [hangs_up, resets])
def test_call_over_a_new_connection_is_not_repeated(world: World, server: Server, dead: Answer):
    server.first = dead

    assert call(world, server).status is Status.DEAD
    assert len(server.asked) == 1


@pytest.mark.parametrize("dead", [hangs_up, resets])
def test_call_is_repeated_only_once(world: World, server: Server, dead: Answer):
    call(world, server)
    server.first = server.later = dead

    assert call(world, server).status is Status.DEAD
    assert len(server.asked) == 3
    assert server.connections == 2


def test_call_that_was_answered_with_a_byte_is_not_repeated(world: World, server: Server):
    call(world, server)
    server.later = answers_half

    assert call(world, server).status is Status.DEAD
    assert len(server.asked) == 2


def test_repeated_call_uses_none_of_the_other_kept_connections(server: Server):
    """All of them may have been closed while the sandbox was frozen; calls side by side would
    find one dead connection after the other."""
    pools = connections.checked_pool(AddressRules(kinds=frozenset({Kind.LOOPBACK})))
    for wants_new, opened in ((False, 1), (False, 1), (True, 2)):
        with connections.a_call() as call:
            call.wants_new = wants_new
            assert pools.request("POST", server.url).data == b"{}"
        assert server.connections == opened


def test_connections_over_tls_share_one_context_and_load_the_authorities_once(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
    monkeypatch.setattr(connections, "_context", None)
    made = []
    create = connections.create_urllib3_context
    monkeypatch.setattr(
        connections, "create_urllib3_context", lambda **o: made.append(o) or create(**o)
    )
    pools = connections.checked_pool(AddressRules(kinds=frozenset({Kind.LOOPBACK})))

    assert made == [], "an executor that calls nobody over TLS loads nothing"
    contexts = {
        id(pools.connection_from_url(f"https://127.0.0.1:{port}/").conn_kw["ssl_context"])
        for port in range(1, 11)
    }

    assert len(contexts) == len(made) == 1
    [subject] = [ca["subject"] for ca in connections.shared_ssl_context().get_ca_certs()]
    assert subject == ((("commonName", "Duetime test authority"),),)
