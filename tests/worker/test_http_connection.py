"""The address of the runner that an HTTP worker works for."""

import pytest

from duetime.worker.http_connection import Address, BadRunnerUrl


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:8080", (False, "127.0.0.1", 8080, "")),
        ("https://runner.example/", (True, "runner.example", 443, "")),
        ("https://runner.example/duetime/", (True, "runner.example", 443, "/duetime")),
        ("http://[::1]:8080", (False, "::1", 8080, "")),
    ],
)
def test_address_may_have_a_port_and_a_path(url: str, address: tuple[bool, str, int, str]):
    assert Address.parse(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8080",
        "http://",
        "ftp://runner.example",
        "http://runner.example:99999",
        "http://runner.example?x=1",
        "http://runner.example/#x",
    ],
)
def test_other_address_is_refused(url: str):
    with pytest.raises(BadRunnerUrl):
        Address.parse(url)


def test_password_in_the_address_is_refused_and_not_repeated():
    with pytest.raises(BadRunnerUrl) as refused:
        Address.parse("http://ada:s3cret@runner.example")

    assert "--token" in str(refused.value)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("http://runner.example", True),
        ("https://runner.example", False),
        ("http://localhost:1", False),
        ("http://[::1]:1", False),
    ],
)
def test_token_is_readable_only_on_plain_http_to_another_machine(url: str, plain: bool):
    assert Address.parse(url).plain_to_others is plain
