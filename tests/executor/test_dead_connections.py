"""The http target over a kept connection that the server has closed.

A sandbox that was frozen does not see that, and sends its request. To the target it looks as if
the server hung up on the request; so does this server.
"""

import ssl
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from duetime.core.lifecycle import Status
from duetime.core.retry import RetryPolicy
from duetime.core.task import Task
from duetime.executor.executor import Executor
from duetime.executor.targets import connections
from duetime.executor.targets.address_policy import AddressPolicy
from duetime.executor.targets.http import HttpTarget
from duetime.executor.targets.ip_ranges import Kind
from tests.certificates import Certificates, make_certificates
from tests.raw_http_server import Answer, RawHttpServer, answers_half, hangs_up, resets
from tests.world import World


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(params=["http", "https"])
def server(
    request: pytest.FixtureRequest, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RawHttpServer]:
    context = None
    if request.param == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.server)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
        monkeypatch.setattr(connections, "_context", None)
    with closing(RawHttpServer(context)) as server:
        yield server


@pytest.fixture(autouse=True)
def target(world: World) -> HttpTarget:
    target = HttpTarget(world.clock, AddressPolicy(kinds=frozenset({Kind.LOOPBACK})))
    world.executor = Executor(world.ports, {"http": target})
    return target


def call(world: World, server: RawHttpServer) -> Task:
    """Returns the task after its only attempt."""
    task_id = world.submit(
        target={"type": "http", "url": server.url}, retry=RetryPolicy(max_attempts=1)
    )
    world.deliver()
    return world.task(task_id)


@pytest.mark.parametrize("dead", [hangs_up, resets])
def test_call_over_a_dead_connection_is_repeated_over_a_new_one(
    world: World, server: RawHttpServer, dead: Answer
):
    assert call(world, server).status is Status.SUCCEEDED
    server.later = dead

    task = call(world, server)

    assert (task.status, task.attempt) == (Status.SUCCEEDED, 1)
    assert server.connections == 2
    _, lost, repeated = server.requests
    for name in ("idempotency-key", "duetime-attempt"):
        assert lost.headers[name]
        assert lost.headers[name] == repeated.headers[name]


@pytest.mark.parametrize("dead", [hangs_up, resets])
def test_call_over_a_new_connection_is_not_repeated(
    world: World, server: RawHttpServer, dead: Answer
):
    server.first = dead

    assert call(world, server).status is Status.DEAD
    assert len(server.requests) == 1


@pytest.mark.parametrize("dead", [hangs_up, resets])
def test_call_is_repeated_only_once(world: World, server: RawHttpServer, dead: Answer):
    call(world, server)
    server.first = server.later = dead

    assert call(world, server).status is Status.DEAD
    assert len(server.requests) == 3
    assert server.connections == 2


def test_call_that_was_answered_with_a_byte_is_not_repeated(world: World, server: RawHttpServer):
    call(world, server)
    server.later = answers_half

    assert call(world, server).status is Status.DEAD
    assert len(server.requests) == 2


def test_repeated_call_uses_none_of_the_other_kept_connections(server: RawHttpServer):
    """The server may have closed all of them while the sandbox was frozen. Parallel calls would
    find one dead connection after another."""
    pools = connections.checked_pool(AddressPolicy(kinds=frozenset({Kind.LOOPBACK})))
    for wants_new, opened in ((False, 1), (False, 1), (True, 2)):
        with connections.open_call() as call:
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
    pools = connections.checked_pool(AddressPolicy(kinds=frozenset({Kind.LOOPBACK})))

    assert made == [], "an executor without a TLS call loads nothing"
    contexts = {
        id(pools.connection_from_url(f"https://127.0.0.1:{port}/").conn_kw["ssl_context"])
        for port in range(1, 11)
    }

    assert len(contexts) == len(made) == 1
    [subject] = [ca["subject"] for ca in connections.shared_ssl_context().get_ca_certs()]
    assert subject == ((("commonName", "Duetime test authority"),),)
