"""Which certificate authorities a client trusts, and that AWS's own are among them."""

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from botocore.exceptions import SSLError

from lambdas.aws import clients, roots
from lambdas.core.errors import Unavailable
from tests.certificates import Certificates, make_certificates

THEIR_OWN = ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS")


@pytest.fixture(autouse=True)
def in_a_bundle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    file = tmp_path / "amazon-roots.pem"
    file.write_text(roots.amazon_roots())
    monkeypatch.setattr(roots, "FILE", file)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    for name in THEIR_OWN:
        monkeypatch.delenv(name, raising=False)
    return file


def trusts(client: Any) -> Any:
    return client._endpoint.http_session._verify


def test_all_roots_of_amazon_are_found_and_no_others():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=roots.amazon_roots())
    told: Any = context.get_ca_certs()
    names = {dict(pair for part in ca["subject"] for pair in part)["commonName"] for ca in told}
    assert names == {
        "Amazon Root CA 1",
        "Amazon Root CA 2",
        "Amazon Root CA 3",
        "Amazon Root CA 4",
        "Starfield Services Root Certificate Authority - G2",
    }


def test_root_that_botocore_does_not_have_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(roots, "ROOTS", (*roots.ROOTS, "Amazon Root CA 5"))
    with pytest.raises(LookupError, match="has no Amazon Root CA 5"):
        roots.amazon_roots()


@pytest.mark.parametrize("make", [clients.dynamodb, clients.sqs, clients.streams])
def test_clients_of_aws_trust_the_bundled_roots(in_a_bundle: Path, make: Any):
    assert trusts(make()) == str(in_a_bundle)


def test_beside_a_source_tree_a_client_trusts_what_botocore_trusts(in_a_bundle: Path):
    in_a_bundle.unlink()
    assert trusts(clients.sqs()) is True


def test_client_of_another_endpoint_trusts_what_botocore_trusts():
    assert trusts(clients.sqs("https://127.0.0.1:1")) is True


@pytest.mark.parametrize("name", THEIR_OWN)
def test_what_the_environment_says_comes_first(name: str, monkeypatch: pytest.MonkeyPatch):
    given = "/their.pem" if name.endswith("BUNDLE") else "https://127.0.0.1:1"
    monkeypatch.setenv(name, given)
    assert trusts(clients.sqs()) == (given if name.endswith("BUNDLE") else True)


@pytest.mark.parametrize("region", ["cn-north-1", "us-gov-west-1", "eusc-de-east-1"])
def test_in_another_partition_a_client_trusts_what_botocore_trusts(
    region: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    assert trusts(clients.sqs()) is True


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[tuple[str, Certificates]]:
    """A server whose certificate somebody else has signed."""
    made = make_certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.server)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        try:
            while True:
                connection, _ = listener.accept()
                try:
                    with context.wrap_socket(connection, server_side=True) as secure:
                        secure.recv(65_536)
                        secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                except OSError:
                    continue
        except OSError:
            return

    Thread(target=serve, daemon=True).start()
    yield f"https://127.0.0.1:{listener.getsockname()[1]}", made
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def test_server_that_none_of_the_roots_has_signed_is_not_asked(
    stranger: tuple[str, Certificates], monkeypatch: pytest.MonkeyPatch
):
    url, made = stranger
    monkeypatch.setattr(clients, "ATTEMPTS", 1)
    monkeypatch.setattr(clients, "CONNECT_TIMEOUT", 60.0)  # a busy machine is no stranger
    monkeypatch.setattr(clients, "TABLE_READ_TIMEOUT", 60.0)
    monkeypatch.setattr("moto.core.models.botocore_stubber.enabled", False)
    client = clients.dynamodb()
    client.meta.events.register("before-send", lambda request, **_: _redirect(request, url))
    with pytest.raises(Unavailable) as refused, clients.reached():
        client.list_tables()
    assert isinstance(refused.value.__cause__, SSLError)

    monkeypatch.setenv("AWS_CA_BUNDLE", str(made.authority))
    client = clients.dynamodb()
    client.meta.events.register("before-send", lambda request, **_: _redirect(request, url))
    assert client.list_tables()["ResponseMetadata"]["HTTPStatusCode"] == 200


def _redirect(request: Any, url: str) -> None:
    request.url = f"{url}/"
