"""What the gateway of a deployed API says, and what the client makes of it: one sentence with
what to do. The messages are those of API Gateway."""

from typing import Any

import httpx
import pytest

from duetime.client import ApiError, Throttled, Unreachable
from tests.client.scripted_server import Script, ok
from tests.gateway import REGION, keys_in_the_environment

URL = "https://tasks.test"
SIGNED, TOKEN, NOTHING = {"sign": REGION}, {"token": "t"}, {}
EXPIRED_TOKEN = {"www-authenticate": 'Bearer error="x", error_description="the token has expired"'}


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    keys_in_the_environment(monkeypatch)


def says(status: int, message: str | None = None, **headers: str) -> httpx.Response:
    body = None if message is None else {"message": message}
    return httpx.Response(status, json=body, headers=headers)


def refused(answer: httpx.Response, access: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        Script(answer).client(URL, **access).health()
    assert caught.value.status == answer.status_code
    return caught.value


@pytest.mark.parametrize(
    ("access", "said", "remedy"),
    [
        (NOTHING, "Missing Authentication Token", "set DUETIME_SIGN to the AWS region"),
        (SIGNED, "Missing Authentication Token", "check DUETIME_URL and its stage"),
        (SIGNED, "The security token included in the request is invalid.", "another AWS_PROFILE"),
        (SIGNED, "The security token included in the request is expired", "`aws sso login`"),
        (SIGNED, "The request signature we calculated does not match …", "check the secret key"),
        (SIGNED, "Signature expired: 20261116T090000Z is now earlier …", "machine's clock"),
        (SIGNED, "Signature not yet current: 20261116T090000Z is …", "machine's clock"),
        (SIGNED, "Credential should be scoped to a valid region.", "set DUETIME_SIGN"),
        (SIGNED, "User: arn:aws:… is not authorized to perform: …", "allow these AWS credentials"),
    ],
)
def test_a_403_says_what_to_do(access: Any, said: str, remedy: str) -> None:
    words = str(refused(says(403, said), access))
    assert words.startswith(f"Forbidden: {said}; ")
    assert remedy in words


@pytest.mark.parametrize(
    ("access", "words"),
    [
        (NOTHING, "set DUETIME_SIGN to the AWS region of the API, or set DUETIME_TOKEN"),
        (SIGNED, "allow these AWS credentials execute-api:Invoke, or set another AWS_PROFILE"),
        (TOKEN, "get a new token and set DUETIME_TOKEN, or unset it to sign"),
    ],
)
def test_title_is_not_repeated_as_the_message(access: Any, words: str) -> None:
    assert str(refused(says(403, "Forbidden"), access)) == f"Forbidden: {words}"
    assert str(refused(says(403), access)) == f"Forbidden: {words}"


@pytest.mark.parametrize("access", [NOTHING, SIGNED])
def test_401_asks_for_a_token(access: Any) -> None:
    words = str(refused(says(401, "Unauthorized"), access))
    assert words == "Unauthorized: the API needs a token: set DUETIME_TOKEN"


def test_a_token_that_has_expired() -> None:
    answer = says(401, "Unauthorized", **EXPIRED_TOKEN)
    assert str(refused(answer, TOKEN)) == (
        "Unauthorized: the token has expired; "
        "get a new token and set DUETIME_TOKEN, or unset it to sign"
    )


def test_problem_of_duetime_is_not_replaced() -> None:
    problem = httpx.Response(403, json={"title": "Another site", "detail": "not allowed"})
    assert str(refused(problem, SIGNED)) == "Another site: not allowed"


@pytest.mark.parametrize("status", [503, 504])
def test_a_gateway_that_got_no_answer(status: int) -> None:
    with pytest.raises(Unreachable) as caught:
        Script(says(status, "Service Unavailable")).client(URL).health()
    assert str(caught.value) == (
        "The gateway says 'Service Unavailable' at https://tasks.test; "
        "check the health of Duetime, then try again"
    )


def test_a_path_that_the_gateway_does_not_know_is_no_missing_task() -> None:
    with pytest.raises(Unreachable, match="check DUETIME_URL and its stage"):
        Script(says(404, "Not Found")).client(URL).get("t1")


def test_throttled() -> None:
    error = refused(says(429, "Too Many Requests"), SIGNED)
    assert isinstance(error, Throttled)
    assert str(error) == ("Too Many Requests: the API is throttled; wait a moment and try again")


@pytest.mark.parametrize("answer", [says(429), says(503)])
def test_wait_outlives_throttling(answer: httpx.Response) -> None:
    running, ended = (ok({"id": "t1", "status": name}) for name in ("RUNNING", "DEAD"))
    reported: list[str] = []
    client = Script(running, answer, answer, ended).client(
        sleep=lambda _: None, on_silence=lambda error: reported.append(str(error))
    )
    assert client.wait("t1")["status"] == "DEAD"
    assert len(reported) == 1
