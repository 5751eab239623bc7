"""A bad field is refused with its name and the reason, and nothing is written."""

import json
from typing import Any

import pytest

from duetime.core.ids import new_id
from duetime.core.times import MINUTE
from tests.api.service import PYTHON, Service, as_sent, refusal
from tests.api.test_submit import headers_of
from tests.factories import NOW

A_TIME = "must be an RFC 3339 time such as 2026-11-16T09:00:00+01:00"
NO_OFFSET = "must have an offset: add Z or, for example, +01:00"
NO_SUCH = "must be a day and a time that exist"
ABSURD = "must be in the years 1970 to 9999 (UTC)"
A_WORD = "must have only letters, digits and ._:-"
A_HOST = "must have a host that is a name or an address"
A_PORT = "must have a port from 1 to 65535, or none"
A_URL = "must be an http:// or https:// URL"
NOT_AN_ID = "must be a ULID: 26 digits and capital letters, without I, L, O and U"
NOT_OF_NOW = "must have a time within 5 minutes of now: make a new id, or check your clock"
NO_SPACES = "must have no spaces or control characters"

NUMBERS: list[tuple[str, Any, str]] = [
    *(
        (field, value, "must be a number")
        for field in ("delay", "timeout", "jitter")
        for value in ("5", True, [], {}, 10**400)
    ),
    ("delay", -0.001, "must be at least 0"),
    ("delay", 315_360_001, "must be at most 315360000"),
    ("timeout", None, "must be a number"),
    ("timeout", 0.999, "must be at least 1"),
    ("timeout", 604_800.001, "must be at most 604800 seconds here"),
    ("timeout", 1e308, "must be at most 604800 seconds here"),
    ("jitter", -1, "must be at least 0"),
    ("jitter", 3_600.001, "must be at most 3600"),
]

MOMENTS = [
    (5, "must be a string such as 2026-11-16T09:00:00+01:00"),
    (True, "must be a string such as 2026-11-16T09:00:00+01:00"),
    ("", A_TIME),
    ("now", A_TIME),
    ("2026-11-16", A_TIME),
    ("2026-W47-1T09:00:00Z", A_TIME),
    ("20261116T090000Z", A_TIME),
    (" 2026-11-16T09:00:00Z", A_TIME),
    ("2026-11-16T09:00:00Z\n", A_TIME),
    ("２０２６-11-16T09:00:00Z", A_TIME),
    ("2026-11-16T24:00:00Z", A_TIME),
    ("2026-11-16T09:00:00+24:00", A_TIME),
    ("2026-11-16T09:00:00-24:00", A_TIME),
    ("2026-11-16T09:00:00+01:60", A_TIME),
    ("2026-11-16T09:00:00", NO_OFFSET),
    ("2026-11-16 09:00", NO_OFFSET),
    ("2026-02-30T09:00:00Z", NO_SUCH),
    ("2026-06-30T23:59:60Z", NO_SUCH),
    ("0000-01-01T00:00:00Z", NO_SUCH),
    ("0001-01-01T00:00:00+23:59", ABSURD),
    ("1969-12-31T23:59:59.999Z", ABSURD),
    ("1970-01-01T00:00:00+00:01", ABSURD),
    ("9999-12-31T23:59:59-00:01", ABSURD),
    ("9999-12-31T23:59:59.9991Z", ABSURD),
]

TEXTS: list[tuple[str, Any, str]] = [
    ("name", 5, "must be a string"),
    ("name", "x" * 257, "must have at most 256 characters"),
    ("namespace", None, "must be a string"),
    *(
        (field, value, reason)
        for field in ("namespace", "ordering_key", "idempotency_key")
        for value, reason in [
            (5, "must be a string"),
            ("", "must not be empty"),
            ("a" * 129, "must have at most 128 characters"),
            ("a b", A_WORD),
            ("a\n", A_WORD),
            ("a\x00", A_WORD),
            ("é", A_WORD),
            ("١", A_WORD),
            ("a/b", A_WORD),
            ("a#b", A_WORD),
        ]
    ),
    ("priority", "HIGH", "must be 'high', 'medium' or 'low'"),
    ("priority", None, "must be 'high', 'medium' or 'low'"),
    ("unheard_of", None, "unknown field"),
    ("id", 7, "must be a string"),
    ("id", "a", NOT_AN_ID),
    ("id", "01ka5v8y3m0000000000000001", NOT_AN_ID),
    ("id", "U" * 26, NOT_AN_ID),
    ("id", "01KA5V8Y3M0000000000000001", NOT_OF_NOW),
    ("id", new_id(NOW + 5 * MINUTE + 1, 1), NOT_OF_NOW),
    ("id", new_id(NOW - 5 * MINUTE - 1, 1), NOT_OF_NOW),
    ("unique", "k", "must be an object"),
    ("[key]", 1, "unknown field"),
    ("{x}", 1, "unknown field"),
]

LIMITS: list[tuple[str, Any, str]] = [
    ("run_at", "2036-11-13T09:00:00.001Z", "must be at most 10 years ahead"),
    ("expires_at", "2026-11-16T09:00:00Z", "must be after the task is due"),
    ("tags", None, "must be an object"),
    ("tags", ["a"], "must be an object"),
    ("tags", {str(n): "" for n in range(11)}, "must have at most 10 entries"),
    ("retry", [], "must be an object"),
]


def named(rows: list[tuple[str, Any, str]]) -> list[Any]:
    return [pytest.param(*row, id=f"{row[0]}={row[1]!r:.40}") for row in rows]


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    named([*NUMBERS, *TEXTS, *LIMITS, *(("run_at", *moment) for moment in MOMENTS)]),
)
def test_a_bad_field_is_named_with_the_reason(
    service: Service, field: str, value: Any, reason: str
):
    response = service.submit(**{field: value})

    assert refusal(response) == {field: reason}
    assert response.body["detail"] == f"{field}: {reason}"
    assert service.store.writes == []


@pytest.mark.parametrize(("value", "reason"), MOMENTS, ids=[f"{v!r}" for v, _ in MOMENTS])
def test_expires_at_is_a_time_like_any_other(service: Service, value: Any, reason: str):
    assert refusal(service.submit(expires_at=value)) == {"expires_at": reason}
    assert service.store.writes == []


INNER: list[tuple[str, dict[str, Any], str]] = [
    ("retry.max_attempts", {"retry": {"max_attempts": 0}}, "must be at least 1"),
    ("retry.max_attempts", {"retry": {"max_attempts": 101}}, "must be at most 100"),
    ("retry.max_attempts", {"retry": {"max_attempts": 1.5}}, "must be a whole number"),
    ("retry.max_attempts", {"retry": {"max_attempts": True}}, "must be a whole number"),
    ("retry.base_delay", {"retry": {"base_delay": -1}}, "must be at least 0"),
    ("retry.base_delay", {"retry": {"base_delay": 86_401}}, "must be at most 86400"),
    ("retry.multiplier", {"retry": {"multiplier": 0.9}}, "must be at least 1"),
    ("retry.multiplier", {"retry": {"multiplier": 101}}, "must be at most 100"),
    ("retry.max_delay", {"retry": {"max_delay": 86_401}}, "must be at most 86400"),
    ("retry.jitter", {"retry": {"jitter": -1}}, "must be at least 0"),
    ("retry.unheard_of", {"retry": {"unheard_of": 1}}, "unknown field"),
    ("tags.team", {"tags": {"team": 5}}, "must be a string"),
    ("tags.team", {"tags": {"team": "x" * 257}}, "must have at most 256 characters"),
    ("tags.[key]", {"tags": {"[key]": 5}}, "must be a string"),
    ("tags.", {"tags": {"": "x"}}, "the key must not be empty"),
    (f"tags.{'x' * 65}", {"tags": {"x" * 65: ""}}, "the key must have at most 64 characters"),
]


@pytest.mark.parametrize(
    ("field", "fields", "reason"), INNER, ids=[f"{f!s:.80}" for _, f, _ in INNER]
)
def test_a_bad_part_of_a_field_is_named_with_its_path(
    service: Service, field: str, fields: dict[str, Any], reason: str
):
    assert refusal(service.submit(**fields)) == {field: reason}
    assert service.store.writes == []


def http(**fields: Any) -> dict[str, Any]:
    return {"type": "http", "url": "http://example.org", **fields}


NAMES = "'http', 'python', 'dynamodb', 'email', 'eventbridge', 'lambda', 'sns', 'sql', 'sqs', "
NAMES += "'stepfunctions', 'workflow'"
TYPES = f"must be one of {NAMES}"
METHODS = "must be 'GET', 'HEAD', 'POST', 'PUT', 'PATCH' or 'DELETE'"
TARGETS: list[tuple[Any, str, str]] = [
    *((value, "target", "must be an object") for value in (None, "http", 1, [])),
    ({}, "target.type", f"required; one of {NAMES}"),
    *(({"type": value}, "target.type", TYPES) for value in ("x", "x" * 99_999, None, 1, ["http"])),
    ({"type": "python"}, "target.handler", "required"),
    ({"type": "python", "handler": 1}, "target.handler", "must be a string"),
    ({"type": "python", "handler": ""}, "target.handler", "must not be empty"),
    (
        {"type": "python", "handler": "x" * 257},
        "target.handler",
        "must have at most 256 characters",
    ),
    (
        {"type": "python", "handler": "nobody"},
        "target.handler",
        "no handler 'nobody' is registered; known: reports.daily",
    ),
    ({**PYTHON, "url": "http://x"}, "target.url", "unknown field"),
    ({"type": "http"}, "target.url", "required"),
    (http(handler="x"), "target.handler", "unknown field"),
    (http(method="get"), "target.method", METHODS),
    (http(method=None), "target.method", METHODS),
    (http(headers=[]), "target.headers", "must be an object"),
    (http(headers={"A": 1}), "target.headers.A", "must be a string"),
    (
        http(headers={f"h{n}": "" for n in range(51)}),
        "target.headers",
        "must have at most 50 entries",
    ),
    (
        http(url="http://x", headers=headers_of(16 * 1024 + 1)),
        "target",
        "must be at most 16 KiB",
    ),
]


@pytest.mark.parametrize(
    ("target", "field", "reason"), TARGETS, ids=[f"{t!s:.60}" for t, _, _ in TARGETS]
)
def test_a_bad_target_is_refused(service: Service, target: Any, field: str, reason: str):
    assert refusal(service.post({"target": target})) == {field: reason}
    assert service.store.writes == []


URLS = [
    (5, "must be a string"),
    ("", A_URL),
    ("example.org", A_URL),
    ("//example.org", A_URL),
    ("/path", A_URL),
    ("ftp://example.org", A_URL),
    ("file:///etc/passwd", A_URL),
    ("javascript:alert(1)", A_URL),
    ("http:example.org", A_URL),
    ("http://", A_URL),
    ("http:///path", A_URL),
    (" http://example.org", NO_SPACES),
    ("http://example.org\n", NO_SPACES),
    ("http://example.org/\r\nX-Evil: 1", NO_SPACES),
    ("http://example.org/\x00", NO_SPACES),
    ("http://example.org/\u200b", NO_SPACES),
    ("http://user:secret@example.org", "must have no credentials in it; send them as a header"),
    ("http://@example.org", "must have no credentials in it; send them as a header"),
    ("http://example.org:0", A_PORT),
    ("http://example.org:99999", A_PORT),
    ("http://example.org:-1", A_PORT),
    ("http://example.org:８０", A_PORT),
    ("http://example.org:80:80", A_PORT),
    ("http://[::1", A_HOST),
    ("http://[1.2.3.4]", A_HOST),
    ("http://[v1.x]", A_HOST),
    ("http://:80", A_HOST),
    ("http://.", A_HOST),
    ("http://a..b", A_HOST),
    ("http://%00", A_HOST),
    ("http://exa<mple", A_HOST),
    ("http://good\\.example.org", A_HOST),
    ("http://℀.org", A_HOST),
    (f"http://{'a' * 64}.org", A_HOST),
    (f"http://{'a.' * 126}org", A_HOST),
    (f"http://x/{'a' * 2_040}", "must have at most 2048 characters"),
]


@pytest.mark.parametrize(("url", "reason"), URLS, ids=[f"{url!r:.40}" for url, _ in URLS])
def test_bad_http_url_is_refused(service: Service, url: Any, reason: str):
    assert refusal(service.post({"target": http(url=url)})) == {"target.url": reason}
    assert service.store.writes == []


@pytest.mark.parametrize(
    "url",
    [
        "http://x",
        "HTTPS://EXAMPLE.ORG/",
        "http://example.org.",
        "http://example.org:65535",
        "http://example.org:",
        "http://[::1]:8080/x",
        "http://127.0.0.1",
        "http://my_service",
        "http://münchen.de/straße?ü=ö",
        "http://example.org/@x?user:secret@y",
        "http://" + "x/".ljust(2_041, "a"),
    ],
)
def test_http_url_is_stored_unchanged(service: Service, url: str):
    assert service.post({"target": http(url=url)}).body["target"]["url"] == url


HEADERS: list[tuple[dict[str, str], str]] = [
    ({"": "x"}, "must have names that HTTP allows, unlike ''"),
    ({"a b": "x"}, "must have names that HTTP allows, unlike 'a b'"),
    ({"a:": "x"}, "must have names that HTTP allows, unlike 'a:'"),
    ({"é": "x"}, "must have names that HTTP allows, unlike 'é'"),
    ({"a\r\nb": "x"}, "must have names that HTTP allows, unlike 'a\\r\\nb'"),
    ({"{a}": "x"}, "must have names that HTTP allows, unlike '{a}'"),
    ({"A": "x\r\nX-Evil: 1"}, "must have values that HTTP allows, unlike that of A"),
    ({"A": "\x00"}, "must have values that HTTP allows, unlike that of A"),
    ({"A": "€"}, "must have values that HTTP allows, unlike that of A"),
    ({"IDEMPOTENCY-KEY": "x"}, "must leave IDEMPOTENCY-KEY to Duetime"),
    ({"Duetime-Attempt": "x"}, "must leave Duetime-Attempt to Duetime"),
    *(
        ({name: "x"}, f"must leave {name} to the connection")
        for name in ("Host", "Content-Length", "transfer-encoding", "Connection", "Expect", "TE")
    ),
]


@pytest.mark.parametrize(("headers", "reason"), HEADERS, ids=[f"{h}" for h, _ in HEADERS])
def test_header_that_cannot_be_sent_is_refused(
    service: Service, headers: dict[str, str], reason: str
):
    response = service.post({"target": http(headers=headers)})

    assert refusal(response) == {"target.headers": reason}
    assert service.store.writes == []


def test_run_at_and_delay_are_not_given_together(service: Service):
    response = service.submit(run_at="2026-11-16T10:00:00Z", delay=5)

    assert refusal(response) == {"delay": "give run_at or delay, not both"}
    assert service.store.writes == []


@pytest.mark.parametrize("fields", [{"delay": 60}, {"run_at": "2026-11-16T09:01:00Z"}], ids=str)
def test_a_task_cannot_expire_before_it_is_due(service: Service, fields: dict[str, Any]):
    response = service.submit(expires_at="2026-11-16T09:01:00Z", **fields)

    assert refusal(response) == {"expires_at": "must be after the task is due"}
    assert service.store.writes == []


def test_a_past_run_at_does_not_let_a_task_expire_in_the_past(service: Service):
    response = service.submit(run_at="2020-01-01T00:00:00Z", expires_at="2020-01-02T00:00:00Z")

    assert refusal(response) == {"expires_at": "must be after the task is due"}


def test_every_bad_field_is_reported(service: Service):
    response = service.submit(timeout=0, name=5, unheard_of=1)

    assert refusal(response) == {
        "timeout": "must be at least 1",
        "name": "must be a string",
        "unheard_of": "unknown field",
    }


@pytest.mark.parametrize(
    "payload", ["x" * (256 * 1024 - 1), "é" * (128 * 1024), "\x00" * 50_000, [1e15] * 14_000]
)
def test_a_payload_over_256_kib_as_it_is_stored_is_too_large(service: Service, payload: Any):
    response = service.submit(payload=payload)

    reason = "must be at most 256 KiB; store it elsewhere and send a reference"
    assert response.body == {
        "type": "urn:duetime:problem:too-large",
        "title": "The payload is too large",
        "status": 413,
        "detail": f"payload: {reason}",
        "errors": [{"field": "payload", "message": reason}],
    }
    assert service.store.writes == []


@pytest.mark.parametrize("number", ["1e999", "-1e999", "[[1e999]]"])
def test_number_beyond_a_double_is_refused_in_a_payload(service: Service, number: str):
    body = json.dumps({"target": PYTHON, "payload": "NUMBER"}).replace('"NUMBER"', number)

    assert refusal(service.post(body.encode())) == {"payload": "must hold no number beyond 1.8e308"}
    assert service.store.writes == []


@pytest.mark.parametrize("body", [None, True, 5, "x", [], [{}]], ids=repr)
def test_task_that_is_not_an_object_is_refused(service: Service, body: Any):
    assert refusal(service.post(body)) == {"body": "must be an object"}


LONG: list[tuple[str, dict[str, Any]]] = [
    ("a long unknown field", {"x" * 1_000_000: 1}),
    ("many unknown fields", {f"field-{n}": 1 for n in range(10_000)}),
    ("a long tag", {"tags": {"x" * 1_000_000: ""}}),
    ("a long header name", {"target": http(headers={"é" * 100_000: ""})}),
    ("a long header with a bad value", {"target": http(headers={"x" * 1_000_000: "\x00"})}),
    ("a long handler", {"target": {"type": "python", "handler": "x" * 256}}),
]


@pytest.mark.parametrize("fields", [f for _, f in LONG], ids=[name for name, _ in LONG])
def test_problem_does_not_repeat_a_long_value(service: Service, fields: dict[str, Any]):
    response = service.submit(**fields)

    assert response.status == 422
    assert len(response.encoded()) < 4_000
    assert as_sent(response) == response.body


def test_a_long_list_of_errors_says_how_many_there_are(service: Service):
    response = service.submit(**{f"field-{n}": 1 for n in range(50)})

    assert len(response.body["errors"]) == 20
    assert response.body["detail"].endswith("field-19: unknown field; and 30 more")
