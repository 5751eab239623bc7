"""The certificate authorities that a client trusts, AWS's own among them."""

import ssl
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import SSLError

from duetime.aws import clients
from duetime.aws import root_certificates as roots
from duetime.core.errors import Unavailable
from tests.certificates import Certificates, make_certificates
from tests.raw_http_server import RawHttpServer

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
    parsed: Any = context.get_ca_certs()
    names = {dict(pair for part in ca["subject"] for pair in part)["commonName"] for ca in parsed}
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
def test_the_environment_overrides_the_bundled_roots(name: str, monkeypatch: pytest.MonkeyPatch):
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
    """A server whose certificate another authority has signed."""
    made = make_certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.server)
    with closing(RawHttpServer(context)) as server:
        yield server.url, made


def test_server_that_none_of_the_roots_has_signed_is_not_asked(
    stranger: tuple[str, Certificates], monkeypatch: pytest.MonkeyPatch
):
    url, made = stranger
    monkeypatch.setattr(clients, "ATTEMPTS", 1)
    monkeypatch.setattr(clients, "CONNECT_TIMEOUT", 60.0)  # for a busy machine
    monkeypatch.setattr(clients, "TABLE_READ_TIMEOUT", 60.0)
    monkeypatch.setattr("moto.core.models.botocore_stubber.enabled", False)
    client = clients.dynamodb()
    client.meta.events.register("before-send", lambda request, **_: _redirect(request, url))
    with pytest.raises(Unavailable) as refused, clients.translate_errors():
        client.list_tables()
    assert isinstance(refused.value.__cause__, SSLError)

    monkeypatch.setenv("AWS_CA_BUNDLE", str(made.authority))
    client = clients.dynamodb()
    client.meta.events.register("before-send", lambda request, **_: _redirect(request, url))
    assert client.list_tables()["ResponseMetadata"]["HTTPStatusCode"] == 200


def _redirect(request: Any, url: str) -> None:
    request.url = f"{url}/"
