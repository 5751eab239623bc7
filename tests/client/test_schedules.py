"""Schedules, with scripted answers."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from duetime.client import ApiError, FieldError, Schedules, Submitted, fields_of
from tests.client.scripted_server import Script, ok

TEN_SECONDS: Any = {"type": "rate", "every": 10}
HELLO: Any = {"target": {"type": "python", "handler": "demo.hello"}}


def body(script: Script) -> Any:
    return json.loads(script.asked[-1].content)


def test_create_sends_the_fields_and_returns_the_schedule() -> None:
    script = Script(ok({"id": "s1"}, 201))
    made = script.client().schedules.create(name="n", rule=TEN_SECONDS, task=HELLO)
    assert made == {"id": "s1"}
    [request] = script.asked
    assert (request.method, request.url.path) == ("POST", "/v1/schedules")
    assert body(script) == {"name": "n", "rule": TEN_SECONDS, "task": HELLO}
    assert "idempotency-key" not in request.headers


@pytest.mark.parametrize(("status", "replayed"), [(201, False), (200, True)])
def test_key_is_sent_as_a_header_and_a_replay_is_reported(status: int, replayed: bool) -> None:
    script = Script(ok({"id": "s1"}, status))
    made = script.client().schedules.create_once(idempotency_key="k", rule=TEN_SECONDS, task=HELLO)
    assert made == ({"id": "s1"}, replayed)
    assert script.asked[0].headers["idempotency-key"] == "k"
    assert "idempotency_key" not in body(script)


@pytest.mark.parametrize(("status", "replayed"), [(201, False), (200, True)])
def test_a_trigger_with_a_key(status: int, replayed: bool) -> None:
    script = Script(ok({"id": "t1"}, status))
    submitted = script.client().schedules.trigger_once("s1", idempotency_key="k")
    assert submitted == Submitted({"id": "t1"}, replayed=replayed)  # type: ignore[typeddict-item]
    assert script.asked[0].headers["idempotency-key"] == "k"


def test_times_and_durations_may_be_pythons_own() -> None:
    script = Script(ok({"id": "s1"}, 201))
    at = datetime(2030, 1, 1, tzinfo=UTC)
    script.client().schedules.create(
        rule={"type": "rate", "every": timedelta(hours=1), "anchor": at},
        task=HELLO,
        starts_at=at,
        idempotency_key=UUID(int=7),
    )
    assert body(script) == {
        "rule": {"type": "rate", "every": 3600.0, "anchor": "2030-01-01T00:00:00+00:00"},
        "task": HELLO,
        "starts_at": "2030-01-01T00:00:00+00:00",
    }
    assert script.asked[0].headers["idempotency-key"] == str(UUID(int=7))
    script.client().schedules.backfill("s1", start=at, until=at)
    assert body(script)["from"] == "2030-01-01T00:00:00+00:00"


Call = Callable[[Schedules], Any]


@pytest.mark.parametrize(
    ("call", "asked", "sent"),
    [
        (lambda s: s.get("s1"), "GET /v1/schedules/s1", None),
        (lambda s: s.pause("s1"), "POST /v1/schedules/s1/pause", {}),
        (lambda s: s.pause("s1", "why"), "POST /v1/schedules/s1/pause", {"note": "why"}),
        (lambda s: s.resume("s1", "why"), "POST /v1/schedules/s1/resume", {"note": "why"}),
        (lambda s: s.trigger("s1"), "POST /v1/schedules/s1/trigger", None),
        (lambda s: s.upcoming("s1"), "GET /v1/schedules/s1/upcoming", None),
        (lambda s: s.upcoming("s1", count=3), "GET /v1/schedules/s1/upcoming?count=3", None),
        (
            lambda s: s.update("s1", rule=TEN_SECONDS, task=HELLO),
            "PUT /v1/schedules/s1",
            {"rule": TEN_SECONDS, "task": HELLO},
        ),
        (
            lambda s: s.backfill("s1", start="2026-01-01T00:00:00Z", until="2026-01-02T00:00:00Z"),
            "POST /v1/schedules/s1/backfill",
            {"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"},
        ),
        (
            lambda s: s.backfill("s1", start="a", until="b", overlap="allow", per_minute=6),
            "POST /v1/schedules/s1/backfill",
            {"from": "a", "to": "b", "overlap": "allow", "per_minute": 6},
        ),
        (
            lambda s: s.preview(rule=TEN_SECONDS, after="a", count=3),
            "POST /v1/schedules/preview",
            {"rule": TEN_SECONDS, "after": "a", "count": 3},
        ),
        (
            lambda s: s.preview(rules=[TEN_SECONDS], exclude=[]),
            "POST /v1/schedules/preview",
            {"rules": [TEN_SECONDS], "exclude": []},
        ),
        (
            lambda s: s.page(status="paused", namespace="n", limit=5),
            "GET /v1/schedules?namespace=n&status=paused&limit=5",
            None,
        ),
        (
            lambda s: s.ledger_page("s1", limit=5, cursor="c"),
            "GET /v1/schedules/s1/ledger?limit=5&cursor=c",
            None,
        ),
        (lambda s: s.get("../tasks"), "GET /v1/schedules/..%2Ftasks", None),
    ],
)
def test_every_method_calls_its_endpoint(call: Call, asked: str, sent: Any) -> None:
    script = Script(ok({"answer": 1}))
    assert call(script.client().schedules) == {"answer": 1}
    [request] = script.asked
    assert f"{request.method} {request.url.raw_path.decode()}" == asked
    assert (json.loads(request.content) if request.content else None) == sent


def test_delete_has_no_answer_to_read() -> None:
    script = Script(httpx.Response(204))
    script.client().schedules.delete("s1")
    assert (script.asked[0].method, script.asked[0].url.path) == ("DELETE", "/v1/schedules/s1")


@pytest.mark.parametrize("read", [lambda s: s.list(namespace="n"), lambda s: s.ledger("s1")])
def test_a_list_goes_on_past_an_empty_page(read: Call) -> None:
    script = Script(
        ok({"items": [{"id": "c"}], "next_cursor": "1"}),
        ok({"items": [], "next_cursor": "2"}),
        ok({"items": [{"id": "a"}], "next_cursor": None}),
    )
    assert [item["id"] for item in read(script.client().schedules)] == ["c", "a"]
    assert [r.url.params.get("cursor") for r in script.asked] == [None, "1", "2"]
    assert {r.url.params["limit"] for r in script.asked} == {"100"}


def test_the_tasks_of_a_schedule() -> None:
    script = Script(ok({"items": [{"id": "t1"}], "next_cursor": None}))
    assert [task["id"] for task in script.client().list(schedule_id="s1")] == ["t1"]
    assert script.asked[0].url.params["schedule_id"] == "s1"


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("rule.expression", "0 25 * * *"),
        ("rules.1.expression", "0 9 * * 8"),
        ("rules.2.expression", None),
        ("rules.x.expression", None),
        ("rule.nothing", None),
        ("rule", None),
    ],
)
def test_error_has_the_position_in_the_expression(field: str, text: str | None) -> None:
    cron: Any = {"type": "cron", "expression": "0 25 * * *"}
    rules = [cron, {**cron, "expression": "0 9 * * 8"}]
    error = {"field": field, "message": "hour: 25 is not from 0 to 23", "position": 3}
    script = Script(httpx.Response(422, json={"title": "Invalid", "errors": [error]}))
    with pytest.raises(ApiError) as caught:
        script.client().schedules.create(rule=cron, rules=rules, task=HELLO)
    assert caught.value.errors == (FieldError(field, error["message"], 3, text),)  # type: ignore[arg-type]


def test_fields_of_a_schedule_can_be_submitted_again() -> None:
    given: Any = {"name": "n", "rule": TEN_SECONDS, "task": HELLO, "ends_at": None}
    returned_only = {"status": "active", "version": 3, "next_fire_at": None, "last_fired_at": None}
    returned_only |= {
        "runs": 7,
        "last_error": None,
        "note": None,
        "description": "every 10 seconds",
    }
    times = {"created_at": "x", "updated_at": "y"}
    assert fields_of({"id": "s1", **given, **returned_only, **times}) == given
