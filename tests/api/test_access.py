"""Rights: what each route needs, and what a caller without it gets."""

import json
import logging

import pytest

from duetime.api.access import READING_POSTS, WORKER_CALLS, right_of
from duetime.api.callers import ONLY_WORK, OPERATING, READ_ONLY, Caller, Right
from duetime.api.gateway_callers import caller_of
from duetime.api.http import Request
from duetime.api.reasons import MAX_REASON
from duetime.core.value import replace
from tests.api.service import Service

READER = Caller(actor="ada", rights=READ_ONLY)
BODY = json.dumps({"target": {"type": "http", "url": "https://example.com"}}).encode()
SUBMISSION = Request(
    method="POST", path="/v1/tasks", headers={"content-type": "application/json"}, body=BODY
)


def routes(service: Service) -> list[tuple[str, str]]:
    return [(method, path) for method, path in map(str.split, service.api.routes())]


def test_only_a_callback_needs_no_right(service: Service):
    without = [f"{m} {path}" for m, path in routes(service) if right_of(m, path) is None]

    assert without == ["POST /v1/callbacks/{token}"]


def test_routes_that_change_something_need_operate(service: Service):
    for method, path in routes(service):
        if method == "GET" or path in READING_POSTS:
            assert right_of(method, path) is Right.READ
        elif path in WORKER_CALLS:
            assert right_of(method, path) is Right.WORK
        elif not path.startswith("/v1/callbacks/"):
            assert right_of(method, path) is Right.OPERATE, f"{method} {path}"


def test_reader_is_refused_by_every_route_that_changes_something(service: Service):
    """Reading routes answer by what they find, and never with 403."""
    for method, path in routes(service):
        answer = service.api.call(Request(method=method, path=path, caller=READER))
        refused = method != "GET" and path not in (*READING_POSTS, "/v1/callbacks/{token}")
        assert (answer.status == 403) is refused, f"{method} {path}: {answer.status}"
    assert service.store.writes == []


def test_worker_is_refused_by_every_other_route(service: Service):
    worker = Caller(rights=ONLY_WORK)
    for method, path in routes(service):
        answer = service.api.call(Request(method=method, path=path, caller=worker))
        allowed = path in (*WORKER_CALLS, "/v1/callbacks/{token}")
        assert (answer.status == 403) is not allowed, f"{method} {path}: {answer.status}"
    assert service.store.writes == []


def test_reader_submits_nothing_in_a_group(service: Service):
    reader = replace(SUBMISSION, caller=READER)

    statuses = [a.status for a in service.api.submit_together([reader, SUBMISSION])]

    assert statuses == [403, 201]


def test_refusal_names_the_right_and_those_of_the_caller(service: Service):
    answer = service.api.call(replace(SUBMISSION, caller=READER))

    assert answer.body["detail"] == (
        "POST /v1/tasks needs the right `operate`; this caller has `read`."
    )


def test_dry_run_needs_the_right_of_its_action(service: Service):
    body = json.dumps({"status": "DEAD", "dry_run": True}).encode()
    request = replace(SUBMISSION, path="/v1/tasks/retry", body=body, caller=READER)

    assert service.api.call(request).status == 403


def test_head_needs_read(service: Service):
    stranger = Caller(rights=frozenset())

    assert right_of("HEAD", "/v1/tasks") is Right.READ
    answer = service.api.call(Request(method="HEAD", path="/v1/tasks", caller=stranger))
    assert answer.status == 403
    assert "has none" in answer.body["detail"]


SCOPES = "duetime/read duetime/operate"


@pytest.mark.parametrize(
    ("claims", "rights"),
    [
        ({"scope": "openid duetime/read"}, {"read"}),
        ({"scope": "duetime/operate"}, OPERATING),
        ({"scp": "[openid duetime/operate]"}, OPERATING),
        ({"scp": "[openid,duetime/read]"}, {"read"}),
        ({"scope": "duetime/readers duetime/operators"}, set()),
        ({}, set()),
    ],
)
def test_scopes_of_a_token_are_the_rights_of_its_caller(claims: dict[str, str], rights: set[str]):
    claims = {"sub": "client-7", **claims}

    caller = caller_of({"jwt": {"claims": claims, "scopes": None}}, SCOPES)

    assert (caller.actor, caller.rights) == ("client-7", rights)


def test_identity_and_token_without_configured_scopes_have_every_right():
    arn = "arn:aws:iam::123456789012:user/ada"

    identity = caller_of({"iam": {"userArn": arn}}, "")
    token = caller_of({"jwt": {"claims": {"sub": "ada"}}}, "")

    assert (identity.actor, identity.rights) == (arn, OPERATING)
    assert (token.actor, token.rights) == ("ada", OPERATING)
    assert caller_of({}, SCOPES).actor is None  # a callback, which has no authorizer


def test_reason_of_an_action_is_logged_with_its_actor(
    service: Service, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "duetime.api.reasons")
    headers = {**SUBMISSION.headers, "duetime-reason": "moved by Zo%C3%AB, 100 %"}

    service.api.call(replace(SUBMISSION, headers=headers, caller=Caller(actor="ada")))
    service.api.submit_together([replace(SUBMISSION, headers=headers)])
    service.api.call(Request(method="GET", path="/v1/tasks", headers=headers))

    first, second = (vars(record) for record in caplog.records)
    assert first["reason"] == second["reason"] == "moved by Zoë, 100 %"
    assert (first["actor"], first["status"], first["path"]) == ("ada", 201, "/v1/tasks")
    assert second["actor"] is None


@pytest.mark.parametrize("reason", ["x" * (MAX_REASON + 1), "two%0Alines", "Zo\u00c3\u00ab"])
def test_reason_that_cannot_be_logged_is_refused_with_its_action(service: Service, reason: str):
    headers = {**SUBMISSION.headers, "duetime-reason": reason}

    answer = service.api.call(replace(SUBMISSION, headers=headers))

    assert (answer.status, answer.body["errors"][0]["field"]) == (422, "Duetime-Reason")
    assert service.store.writes == []


def test_refused_action_with_a_bad_reason_is_a_refusal(service: Service):
    headers = {**SUBMISSION.headers, "duetime-reason": "x" * 999}

    assert service.api.call(replace(SUBMISSION, headers=headers, caller=READER)).status == 403
