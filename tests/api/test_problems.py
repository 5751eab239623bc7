"""Requests that no endpoint could take, and failures that no request is to blame for."""

import logging
from typing import Any

import pytest

from duetime.api.http import BODY_LIMIT
from duetime.core.errors import Unavailable
from tests.api.service import PYTHON, Service, as_sent, refusal

SUBMISSIONS = ["/v1/tasks", "/v1/tasks/batch", "/v1/dead-letters/redrive"]

MALFORMED: dict[str, bytes] = {
    "nothing": b"",
    "blank": b" \r\n\t",
    "half": b'{"target": ',
    "two": b"{} {}",
    "comma": b'{"name": "a",}',
    "single quotes": b"{'name': 'a'}",
    "comment": b"{} // x",
    "NaN": b'{"payload": NaN}',
    "Infinity": b'{"payload": -Infinity}',
    "leading zero": b'{"delay": 01}',
    "hexadecimal": b'{"delay": 0x1}',
    "5,000 digits": b'{"payload": %s}' % (b"9" * 5_000),
    "10,000 brackets": b'{"payload": %s}' % (b"[" * 10_000 + b"]" * 10_000),
    "lone surrogate": rb'{"name": "\ud800"}',
    "lone surrogate in a name": rb'{"\udfff": 1}',
    "surrogate as UTF-8": b'{"name": "\xed\xa0\x80"}',
    "no UTF-8": b'{"name": "\xff"}',
    "Latin-1": '{"name": "é"}'.encode("latin-1"),
    "UTF-16": '{"name": "a"}'.encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf{}",
    "raw NUL": b'{"name": "\x00"}',
    "form": b"target=x&name=y",
}


@pytest.mark.parametrize("path", SUBMISSIONS)
@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
def test_body_that_is_not_json_is_a_400(service: Service, path: str, body: bytes):
    response = service.call("POST", path, body)

    assert response.status == 400
    assert response.headers["content-type"] == "application/problem+json"
    assert response.body["type"] == "urn:duetime:problem:malformed"
    wrong = "nested too deep" if b"[" * 1_000 in body else "not JSON"
    assert response.body["title"] == f"The body is {wrong}"
    assert response.body["detail"]
    assert service.store.writes == []


def test_empty_body_is_a_400_that_says_so(service: Service):
    assert service.post(b"").body["detail"] == "The body is empty."


def test_last_of_two_equal_names_counts(service: Service):
    body = b'{"name": "a", "name": "b", "target": {"type": "python", "handler": "reports.daily"}}'

    assert service.post(body).body["name"] == "b"


@pytest.mark.parametrize("path", SUBMISSIONS)
def test_a_body_over_5_mib_is_a_413(service: Service, path: str):
    response = service.call("POST", path, b" " * (BODY_LIMIT + 1))

    assert response.body == {
        "type": "urn:duetime:problem:too-large",
        "title": "The body is too large",
        "status": 413,
        "detail": "The limit is 5 MiB.",
    }


def test_a_body_of_5_mib_is_read(service: Service):
    body = b'{"target": {"type": "python", "handler": "reports.daily"}}'

    assert service.post(body.ljust(BODY_LIMIT)).status == 201


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "APPLICATION/JSON",
        " application/json ; charset=utf-8",
        "application/json;charset=latin-1",
    ],
)
def test_media_type_of_json_in_any_spelling_is_accepted(service: Service, content_type: str):
    assert service.post({"target": PYTHON}, **{"content-type": content_type}).status == 201


@pytest.mark.parametrize("path", SUBMISSIONS)
@pytest.mark.parametrize(
    ("content_type", "said"),
    [
        ("text/plain", "Send application/json, not text/plain."),
        (
            "application/x-www-form-urlencoded",
            "Send application/json, not application/x-www-form-urlencoded.",
        ),
        ("application/jsonp", "Send application/json, not application/jsonp."),
        (
            "application/json,application/json",
            "Send application/json, not application/json,application/json.",
        ),
        ("", "Send application/json, not without a Content-Type."),
    ],
)
def test_another_media_type_is_a_415(service: Service, path: str, content_type: str, said: str):
    headers = {"content-type": content_type}

    response = service.call("POST", path, {"target": PYTHON}, headers=headers)

    assert response.body == {
        "type": "urn:duetime:problem:media-type",
        "title": "Unsupported media type",
        "status": 415,
        "detail": said,
    }
    assert service.store.writes == []


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "//",
        "/v1",
        "/v1/",
        "/V1/tasks",
        "//v1/tasks",
        "/v1//tasks",
        "/v1/tasks/",
        "/v1/tasks//attempts",
        "/v1/tasks//retry",
        "/v1/dead-letters/",
        "/v1/dead-letters/x",
        "/v1/tasks/x/attempts/",
        "/v1/tasks/x/y",
        "/v1/tasks%2Fbatch",
        "/v1/healthy",
        "/../v1/tasks",
        "/v1/\ud800",
        "/v1/\n",
    ],
    ids=ascii,
)
@pytest.mark.parametrize("method", ["GET", "POST", "PROPFIND"])
def test_no_such_path_is_a_404(service: Service, method: str, path: str):
    response = service.call(method, path)

    assert response.status == 404
    assert response.headers["content-type"] == "application/problem+json"
    assert response.body["type"] == "urn:duetime:problem:not-found"
    assert as_sent(response)["detail"].endswith(" in this API.")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/tasks", "POST, GET"),
        ("DELETE", "/v1/tasks", "POST, GET"),
        ("OPTIONS", "/v1/tasks", "POST, GET"),
        ("get", "/v1/tasks", "POST, GET"),
        ("", "/v1/tasks", "POST, GET"),
        ("POST", "/v1/tasks/x", "GET, PATCH, DELETE"),
        ("PUT", "/v1/tasks/batch", "POST"),
        ("GET", "/v1/schedules/preview", "POST"),
        ("DELETE", "/v1/tasks/x/attempts", "GET"),
        ("GET", "/v1/tasks/x/retry", "POST"),
        ("POST", "/v1/dead-letters", "GET, DELETE"),
        ("GET", "/v1/dead-letters/redrive", "POST"),
        ("POST", "/v1/health", "GET"),
    ],
)
def test_another_method_is_a_405_that_names_those_allowed(
    service: Service, method: str, path: str, allowed: str
):
    response = service.call(method, path)

    assert (response.status, response.headers["allow"]) == (405, allowed)
    assert response.body == {
        "type": "urn:duetime:problem:method",
        "title": "Method not allowed",
        "status": 405,
        "detail": f"{path} takes {allowed}.",
    }
    assert service.store.writes == []


@pytest.mark.parametrize("path", ["/v1/health", "/v1/tasks"])
def test_head_is_answered_like_get(service: Service, path: str):
    head, get = service.call("HEAD", path), service.call("GET", path)

    assert (head.status, head.headers) == (get.status, get.headers)


@pytest.mark.parametrize("path", SUBMISSIONS)
def test_a_submission_takes_no_parameters(service: Service, path: str):
    response = service.call("POST", path, {"target": PYTHON}, query={"dry_run": "1"})

    assert refusal(response) == {"dry_run": "unknown parameter"}
    assert service.store.writes == []


LONG = "x" * 100_000


@pytest.mark.parametrize(
    "request_",
    [
        {"method": "GET", "path": f"/{LONG}"},
        {"method": "GET", "path": f"/v1/tasks/{LONG}"},
        {"method": LONG, "path": "/v1/tasks"},
        {"method": "POST", "path": f"/v1/tasks/{LONG}"},
        {"method": "GET", "path": "/v1/tasks", "query": {LONG: "1"}},
        {"method": "GET", "path": "/v1/tasks", "query": {str(n): "" for n in range(10_000)}},
        {"method": "POST", "path": "/v1/tasks", "headers": {"content-type": LONG}},
    ],
    ids=["path", "id", "method", "405", "parameter", "parameters", "media type"],
)
def test_problem_does_not_repeat_a_long_request(service: Service, request_: dict[str, Any]):
    response = service.call(**request_)

    assert 400 <= response.status < 500
    assert len(response.encoded()) < 4_000


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [(Unavailable("throttled"), 503, "unavailable"), (RuntimeError("secret"), 500, "internal")],
    ids=["unavailable", "unforeseen"],
)
def test_internal_failure_is_a_problem_without_internal_details(
    service: Service, error: Exception, status: int, kind: str, caplog: pytest.LogCaptureFixture
):
    def fail(*arguments: object) -> None:
        raise error

    service.store.page = fail

    with caplog.at_level(logging.WARNING):
        response = service.get("/v1/tasks")

    assert response.headers["content-type"] == "application/problem+json"
    assert response.body["type"] == f"urn:duetime:problem:{kind}"
    assert (response.status, response.body["status"]) == (status, status)
    assert response.body["detail"]
    assert "secret" not in response.encoded().decode()
    assert len(caplog.records) == 1
