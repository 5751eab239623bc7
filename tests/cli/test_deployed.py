"""The command line with a deployed API: it signs, and its errors say what is missing."""

from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from duetime.cli import app
from duetime.cli.exit_codes import ExitCode
from tests.gateway import (
    KEY_ID,
    REGION,
    Gateway,
    keys_in_the_environment,
    open_gateway,
    without_credentials,
)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    keys_in_the_environment(monkeypatch)


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with open_gateway() as gateway:
        yield gateway


@pytest.fixture
def shell(gateway: Gateway, make_shell: Any) -> Any:
    return make_shell(gateway.url)


def test_signed_by_option_and_by_environment(
    gateway: Gateway, shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shell("health", "--sign", REGION).exit_code == ExitCode.OK
    monkeypatch.setenv("DUETIME_SIGN", REGION)
    assert shell("list", "--namespace", "a b", "--json").exit_code == ExitCode.OK
    assert all(KEY_ID in asked.headers["authorization"] for asked in gateway.asked)


def test_a_token_by_option_and_by_environment(
    gateway: Gateway, shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway.answer = (200, {"status": "ok"})
    assert shell("health", "--token", "a.b", "--sign", REGION).exit_code == ExitCode.OK
    monkeypatch.setenv("DUETIME_TOKEN", "c.d")
    assert shell("health").exit_code == ExitCode.OK
    headers = [asked.headers["authorization"] for asked in gateway.asked]
    assert headers == ["Bearer a.b", "Bearer c.d"]


def test_not_signed(shell: Any) -> None:
    result = shell("health")
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stderr == (
        "Forbidden: set DUETIME_SIGN to the AWS region of the API, or set DUETIME_TOKEN\n"
    )


def test_signed_for_another_region(shell: Any) -> None:
    result = shell("health", "--sign", "us-east-1")
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stderr.startswith("Forbidden: allow these AWS credentials")


def test_no_credentials(gateway: Gateway, shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    without_credentials(monkeypatch)
    result = shell("list", "--sign", REGION)
    assert (result.exit_code, result.stdout, gateway.asked) == (ExitCode.NOT_DONE, "", [])
    assert result.stderr == (
        "The request cannot be signed: there are no AWS credentials; "
        "sign in with `aws sso login`, set AWS_PROFILE, or run `aws configure`\n"
    )


def test_an_unknown_profile(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    result = shell("health", "--sign", REGION)
    assert result.exit_code == ExitCode.NOT_DONE
    assert "(nobody) could not be found; set another AWS_PROFILE\n" in result.stderr


@pytest.mark.parametrize(
    ("status", "message", "code", "words"),
    [
        (403, "The security token included in the request is expired", 1, "`aws sso login`"),
        (403, "The security token included in the request is invalid.", 1, "AWS_PROFILE"),
        (403, "Missing Authentication Token", 1, "check DUETIME_URL and its stage"),
        (429, "Too Many Requests", 1, "wait a moment and try again"),
        (404, "Not Found", 3, "check DUETIME_URL and its stage"),
        (503, "Service Unavailable", 3, "check the health of Duetime, then try again"),
        (504, "Endpoint request timed out", 3, "check the health of Duetime, then try again"),
    ],
)
def test_refusal_of_a_gateway(
    gateway: Gateway, shell: Any, status: int, message: str, code: int, words: str
) -> None:
    gateway.answer = (status, {"message": message})
    result = shell("show", "t1", "--sign", REGION)
    assert (result.exit_code, result.stdout) == (code, "")
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--url", "http://tasks.test", "--token", "t"), "--url"),
        (("--url", "http://x.execute-api.eu-central-1.amazonaws.com"), "--url"),
        (("--url", "https://tasks.test", "--sign", "yes"), "--sign"),
        (("--token", "Bearer t"), "--token"),
    ],
)
def test_bad_connection_option_is_a_usage_error(
    duetime: Any, words: tuple[str, ...], option: str
) -> None:
    result = duetime("health", *words)
    assert result.exit_code == ExitCode.USAGE
    assert f"Invalid value for {option} (or DUETIME_{option[2:].upper()})" in result.stderr


def leaves(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, below in getattr(command, "commands", {}).items():
        yield from leaves(below, f"{path} {name}".strip())
    if not hasattr(command, "commands"):
        yield path, command


def test_every_command_that_calls_the_api_can_authenticate() -> None:
    options = {path: {p.name for p in c.params} for path, c in leaves(get_command(app))}
    calling = {path for path, names in options.items() if "url" in names}
    offline = {"archive search", "local", "manifest", "cron", "openapi", "worker drain"}
    assert options.keys() - calling == offline
    calling -= {"console", "worker"}  # they sign, or have a token, and print nothing as JSON
    assert {p for p in calling if not {"sign", "token", "json"} <= options[p]} == set()
