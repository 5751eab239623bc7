"""Authentication with a deployed API: signatures and tokens, and where they are sent."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from duetime.client import ApiError, AsyncClient, BadArgument, Client, NotSigned
from tests.client.scripted_server import Script, ok
from tests.client.sigv4 import Asked, signed_by
from tests.gateway import (
    KEY_ID,
    REGION,
    SECRET,
    Gateway,
    keys_in_the_environment,
    open_gateway,
    without_credentials,
)

DEPLOYED = "https://abc123.execute-api.eu-central-1.amazonaws.com"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    keys_in_the_environment(monkeypatch)


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with open_gateway() as gateway:
        yield gateway


CALLS: dict[str, Callable[[Client], Any]] = {
    "GET": lambda c: c.health(),
    "GET with a query": lambda c: c.page(namespace="größe ~*+/&=?", cursor="eyJ-_a==", limit=5),
    "GET with an offset": lambda c: c.dead_letters.page(died_after="2026-11-16T09:00:00+01:00"),
    "GET of an odd id": lambda c: c.get("a/b c?ü%2F+~'(*)"),
    "POST": lambda c: c.submit(target={"type": "x"}, payload={"ü": "日本 \ud800 \u2028"}),
    "POST without a body": lambda c: c.retry("t1"),
    "DELETE": lambda c: c.cancel("t1"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("stage", ["", "/prod"])
def test_signature_covers_what_is_sent(
    gateway: Gateway, call: Callable[[Client], Any], stage: str
) -> None:
    with Client(gateway.url + stage, sign=REGION) as client:
        call(client)
    assert gateway.asked[0].target.startswith(f"{stage}/v1/")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_async_signature_covers_what_is_sent(gateway: Gateway, call: Callable[..., Any]) -> None:
    async def main() -> None:
        async with AsyncClient(gateway.url, sign=REGION) as client:
            await call(client)

    asyncio.run(main())
    assert gateway.asked[0].target.startswith("/v1/")


def test_async_client_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    without_credentials(monkeypatch)

    async def main() -> None:
        async with AsyncClient(DEPLOYED) as client:
            await client.health()

    with pytest.raises(NotSigned, match="there are no AWS credentials"):
        asyncio.run(main())


def test_signed_query_arrives_unchanged(gateway: Gateway) -> None:
    with Client(gateway.url, sign=REGION) as client:
        client.page(namespace="a b+ü", cursor="eyJ-_a==")
        client.submit(target={"type": "x"}, payload="日本")
    page, submission = gateway.asked
    asked = parse_qs(page.target.partition("?")[2])
    assert asked == {"namespace": ["a b+ü"], "cursor": ["eyJ-_a=="]}
    assert "+" not in page.target, "a space is signed as %20, and so it must be sent"
    assert json.loads(submission.body)["payload"] == "日本"


def test_a_session_token_is_sent_and_signed(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of a role")
    with Client(gateway.url, sign=REGION) as client:
        client.health()
    assert gateway.asked[0].headers["x-amz-security-token"] == "of a role"


def test_only_headers_that_proxies_keep_are_signed(gateway: Gateway) -> None:
    with Client(gateway.url, sign=REGION) as client:
        client.submit(target={"type": "x"})
    headers = gateway.asked[0].headers
    assert "SignedHeaders=content-type;host;x-amz-date," in headers["authorization"]
    assert {"user-agent", "accept", "connection", "content-length"} < set(headers)


def arrived(request: httpx.Request) -> Asked:
    return Asked(
        method=request.method,
        target=request.url.raw_path.decode(),
        headers=dict(request.headers),
        body=request.content,
    )


def signer(url: str, region: str = REGION, **options: Any) -> str | None:
    script = Script(ok({}))
    script.client(url, **options).get("t 1")
    secrets = {KEY_ID: SECRET}
    return signed_by(arrived(script.asked[0]), secrets, region=region, service="execute-api")


def authorization(url: str, **options: Any) -> str | None:
    script = Script(ok({}))
    script.client(url, **options).health()
    return script.asked[0].headers.get("authorization")


@pytest.mark.parametrize("path", ["", "/", "/prod", "/prod/"])
def test_the_address_of_a_gateway_names_the_region(path: str) -> None:
    assert signer(DEPLOYED + path) == KEY_ID
    assert signer(DEPLOYED + path, region="us-east-1") is None


@pytest.mark.parametrize("region", ["us-gov-west-1", "ap-southeast-2", "cn-north-1"])
def test_regions_of_every_kind_are_known(region: str) -> None:
    end = ".cn" if region.startswith("cn-") else ""
    assert signer(f"https://x1.execute-api.{region}.amazonaws.com{end}", region) == KEY_ID


def test_custom_domain_is_signed_with_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    assert signer("https://tasks.test", sign=REGION) == KEY_ID
    assert signer(DEPLOYED, "us-east-1", sign="us-east-1") == KEY_ID
    monkeypatch.setenv("DUETIME_SIGN", REGION)
    assert signer("https://tasks.test") == KEY_ID


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080",
        "https://tasks.test",
        "https://abc123.execute-api.eu-central-1.amazonaws.com.evil.test",
        "https://evil.test/abc123.execute-api.eu-central-1.amazonaws.com",
        "https://evilexecute-api.eu-central-1.amazonaws.com",
    ],
)
def test_other_addresses_get_no_credentials(url: str) -> None:
    assert authorization(url) is None


def test_token_is_sent_instead_of_a_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    without_credentials(monkeypatch)
    assert authorization(DEPLOYED, token="a.b-c_d~=", sign=REGION) == "Bearer a.b-c_d~="
    monkeypatch.setenv("DUETIME_TOKEN", "x.y.z")
    assert authorization("https://tasks.test") == "Bearer x.y.z"


@pytest.mark.parametrize("token", ["Bearer secret", "secret\n", "secrét", " "])
def test_bad_token_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(BadArgument, match="give the token alone") as caught:
        Client("https://tasks.test", token=token)
    assert caught.value.name == "token"
    assert "secr" not in str(caught.value)


@pytest.mark.parametrize("region", ["true", "eu-central", "eu-central-1/x", "EU-CENTRAL-1"])
def test_bad_region_is_refused(region: str) -> None:
    with pytest.raises(BadArgument, match="is not an AWS region") as caught:
        Client("https://tasks.test", sign=region)
    assert caught.value.name == "sign"


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("http://tasks.test", {"sign": REGION}),
        ("http://tasks.test", {"token": "t"}),
        ("http://127.0.0.1.tasks.test", {"token": "t"}),
        (DEPLOYED.replace("https", "http"), {}),
    ],
)
def test_credentials_are_not_sent_over_plain_http(url: str, options: Any) -> None:
    with pytest.raises(BadArgument, match=r"is not sent to http://.*: use https://") as caught:
        Client(url, **options)
    assert caught.value.name == "url"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_credentials_may_be_sent_to_this_machine_over_plain_http(host: str) -> None:
    assert authorization(f"http://{host}:8080", token="t") == "Bearer t"


@pytest.mark.parametrize("options", [{"sign": REGION}, {"token": "t"}])
def test_redirect_is_not_followed_with_credentials(options: Any) -> None:
    script = Script(httpx.Response(307, headers={"location": "https://evil.test/"}))
    with pytest.raises(ApiError, match="Temporary Redirect"):
        script.client("https://tasks.test", **options).health()
    assert [request.url.host for request in script.asked] == ["tasks.test"]


def why_not() -> str:
    with pytest.raises(NotSigned) as caught:
        Script(ok({})).client(DEPLOYED).health()
    return str(caught.value)


REMEDY = "sign in with `aws sso login`, set AWS_PROFILE, or run `aws configure`"


def test_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    without_credentials(monkeypatch)
    assert why_not() == (f"The request cannot be signed: there are no AWS credentials; {REMEDY}")


def test_incomplete_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert re.search("Partial credentials .*AWS_SECRET_ACCESS_KEY; sign in", why_not())


def test_an_unknown_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert why_not() == (
        "The request cannot be signed: The config profile (nobody) could not be found; "
        "set another AWS_PROFILE"
    )


def test_sso_without_a_login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_credentials(monkeypatch)
    config = tmp_path / "config"
    config.write_text(
        "[profile work]\nsso_session = it\nsso_account_id = 123456789012\nsso_role_name = dev\n"
        "region = eu-central-1\n[sso-session it]\nsso_region = eu-central-1\n"
        "sso_start_url = https://it.awsapps.com/start\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_PROFILE", "work")
    assert why_not().endswith(REMEDY)


def test_a_profile_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_credentials(monkeypatch)
    keys = f"[work]\naws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET}\n"
    (tmp_path / "keys").write_text(keys)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "keys"))
    monkeypatch.setenv("AWS_PROFILE", "work")
    assert signer(DEPLOYED) == KEY_ID


def test_client_that_does_not_sign_does_not_load_botocore() -> None:
    code = (
        "import sys, duetime.client as c\n"
        "c.Client('http://127.0.0.1:1'), c.Client('https://x.test', token='t')\n"
        "print('botocore' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
