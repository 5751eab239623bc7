"""Signatures, in both directions with the library `standardwebhooks`."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from duetime import DuetimeError
from duetime.core.webhook_signatures import key_of, signature, signature_headers
from duetime.webhooks import BadSignature, verify

NOW = 1_763_283_600
TASK = "01KA5V8Y3M0000000000000001"
SECRET = "whsec_" + base64.b64encode(b"a key of thirty-two bytes, about").decode()
BODY = b'{"order": 7, "name": "Zo\xc3\xab"}'


def headers(*secrets: str, body: bytes = BODY, at: int = NOW) -> dict[str, str]:
    return signature_headers([key_of(s) for s in secrets or (SECRET,)], TASK, at, body)


def at(seconds: float) -> Any:
    return lambda: NOW + seconds


def refusal(given: Any, body: bytes | str = BODY, secret: str | bytes = SECRET) -> str:
    with pytest.raises(BadSignature) as refused:
        verify(given, body, secret, clock=at(0))
    return str(refused.value)


def test_signature_is_that_of_the_specification():
    """Its example: github.com/standard-webhooks, spec/standard-webhooks.md."""
    key = key_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    body = b'{"test": 2432232314}'

    signed = signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body)

    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_request_that_duetime_signed_is_verified():
    assert verify(headers(), BODY, SECRET, clock=at(0)) == TASK
    assert verify(headers(), BODY.decode(), SECRET, clock=at(299)) == TASK
    assert verify(headers("plain"), BODY, "plain", clock=at(0)) == TASK
    assert verify(headers("plain"), BODY, b"plain", clock=at(0)) == TASK
    assert verify(headers(body=b""), b"", SECRET, clock=at(0)) == TASK


def test_names_of_headers_may_have_any_case():
    shouted = {name.upper(): text for name, text in headers().items()}

    assert verify(shouted | {"Host": "x"}, BODY, SECRET, clock=at(0)) == TASK


def test_either_secret_verifies_while_it_is_rotated():
    given = headers(SECRET, "the one before")

    assert given["webhook-signature"].count("v1,") == 2
    assert verify(given, BODY, SECRET, clock=at(0)) == TASK
    assert verify(given, BODY, "the one before", clock=at(0)) == TASK
    assert "does not match" in refusal(given, secret="a third")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("webhook-id", TASK.replace("1", "2"), "does not match"),
        ("webhook-timestamp", str(NOW + 1), "does not match"),
        ("webhook-timestamp", str(NOW - 301), "more than 300 s away"),
        ("webhook-timestamp", str(NOW + 301), "more than 300 s away"),
        ("webhook-timestamp", "soon", "not a number of seconds"),
        ("webhook-timestamp", "-5", "not a number of seconds"),
        ("webhook-timestamp", "٣", "not a number of seconds"),
        ("webhook-timestamp", "9" * 5_000, "not a number of seconds"),
        ("webhook-signature", "v1,AAAA", "does not match"),
        ("webhook-signature", "ünicode", "does not match"),
        ("webhook-signature", " ", "does not match"),
        ("webhook-signature", "", "no header webhook-signature"),
    ],
)
def test_changed_header_is_refused(name: str, text: str, reason: str):
    assert reason in refusal(headers() | {name: text})


def test_signature_of_another_version_is_refused():
    given = headers()
    given["webhook-signature"] = given["webhook-signature"].replace("v1,", "v2,")

    assert "does not match" in refusal(given)


def test_changed_body_is_refused():
    assert "does not match" in refusal(headers(), BODY + b" ")


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_missing_header_is_refused(name: str):
    given = {n: text for n, text in headers().items() if n != name}

    assert refusal(given) == f"the request has no header {name}"


def test_tolerance_is_a_choice():
    assert verify(headers(), BODY, SECRET, tolerance=3_600, clock=at(3_600)) == TASK
    with pytest.raises(BadSignature):
        verify(headers(), BODY, SECRET, tolerance=1, clock=at(2))


def test_bad_signature_is_an_error_of_duetime():
    assert issubclass(BadSignature, DuetimeError)


@pytest.mark.parametrize("secret", ["whsec_", "whsec_no base64!", "whsec_ä"])
def test_secret_that_is_not_base64_is_an_error_that_does_not_show_it(secret: str):
    with pytest.raises(ValueError, match=r"^the secret has no Base64 text after whsec_$"):
        verify(headers(), BODY, secret, clock=at(0))


# With the library


@pytest.fixture
def today() -> int:
    """The library knows no other clock."""
    return int(datetime.now(UTC).timestamp())


@pytest.mark.parametrize("secret", [SECRET, "a plain secret"])
def test_library_verifies_what_duetime_signs(today: int, secret: str):
    library = Webhook(secret if secret.startswith("whsec_") else secret.encode())

    assert library.verify(BODY, headers(secret, at=today)) == json.loads(BODY)
    assert library.verify(BODY, headers("the next", secret, at=today)) == json.loads(BODY)
    with pytest.raises(WebhookVerificationError):
        library.verify(BODY, headers("another", at=today))


@pytest.mark.parametrize("secret", [SECRET, "a plain secret"])
def test_duetime_verifies_what_the_library_signs(today: int, secret: str):
    library = Webhook(secret if secret.startswith("whsec_") else secret.encode())
    moment = datetime.fromtimestamp(today, UTC)
    given = {
        "webhook-id": TASK,
        "webhook-timestamp": str(today),
        "webhook-signature": library.sign(TASK, moment, BODY.decode()),
    }

    assert verify(given, BODY, secret) == TASK
    with pytest.raises(BadSignature):
        verify(given, BODY, "another")


@pytest.mark.parametrize("secret", ["", b""])
def test_empty_secret_is_refused(secret: str | bytes):
    with pytest.raises(ValueError, match="the secret is empty"):
        verify(signature_headers([b"key"], "01T", 0, b"{}"), b"{}", secret, clock=lambda: 0)
