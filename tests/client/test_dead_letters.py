"""Dead letters, with scripted answers."""

import json
from typing import Any

import httpx
import pytest

from duetime.client import ApiError
from duetime.client import dead_letter_calls as module
from tests.client.scripted_server import Script, ok


def bodies(script: Script) -> list[Any]:
    return [json.loads(request.content) for request in script.asked]


def answer(redriven: int, *left: str, cursor: str | None = None) -> httpx.Response:
    not_redriven = [{"id": task_id, "reason": "not found"} for task_id in left]
    body = {"redriven": redriven, "dry_run": False, "not_redriven": not_redriven}
    return ok({**body, "next_cursor": cursor})


def test_retry_calls_the_api() -> None:
    script = Script(ok({"id": "t/1", "status": "RETRYING"}))
    assert script.client().retry("t/1")["status"] == "RETRYING"
    [request] = script.asked
    assert (request.method, request.url.raw_path) == ("POST", b"/v1/tasks/t%2F1/retry")
    assert request.content == b""


def test_page_has_only_the_given_parameters() -> None:
    script = Script(ok({"items": [{"id": "a"}], "next_cursor": "c"}))
    letters = script.client().dead_letters
    page = letters.page(error_type="E", died_after="2026-11-16T09:00:00+01:00", limit=5)
    assert page == {"items": [{"id": "a"}], "next_cursor": "c"}
    assert script.asked[0].url.path == "/v1/dead-letters"
    assert dict(script.asked[0].url.params) == {
        "error_type": "E",
        "died_after": "2026-11-16T09:00:00+01:00",
        "limit": "5",
    }
    assert b"%2B01" in script.asked[0].url.raw_path, "a + would arrive as a space"


def test_a_list_goes_on_past_an_empty_page() -> None:
    script = Script(
        ok({"items": [{"id": "c"}], "next_cursor": "1"}),
        ok({"items": [], "next_cursor": "2"}),
        ok({"items": [{"id": "a"}], "next_cursor": None}),
    )
    found = script.client().dead_letters.list(namespace="n")
    assert [task["id"] for task in found] == ["c", "a"]
    assert [r.url.params.get("cursor") for r in script.asked] == [None, "1", "2"]
    assert {r.url.params["namespace"] for r in script.asked} == {"n"}


def test_a_redrive_goes_on_until_it_is_done_and_sums_up() -> None:
    script = Script(answer(100, cursor="1"), answer(0, cursor="2"), answer(7, "x"))
    total = script.client().dead_letters.redrive(namespace="n", error_type=None)
    assert total == {
        "redriven": 107,
        "dry_run": False,
        "not_redriven": [{"id": "x", "reason": "not found"}],
    }
    same = {"namespace": "n", "dry_run": False, "limit": 100}
    assert bodies(script) == [same, {**same, "cursor": "1"}, {**same, "cursor": "2"}]
    assert {r.url.path for r in script.asked} == {"/v1/dead-letters/redrive"}


def test_redrive_of_everything_must_be_explicit() -> None:
    script = Script(answer(1))
    letters = script.client().dead_letters
    letters.redrive(everything=True)
    letters.redrive()
    assert ["all" in body for body in bodies(script)] == [True, False]


def test_dry_run_is_sent_and_returned() -> None:
    script = Script(answer(3))
    assert script.client().dead_letters.redrive(everything=True, dry_run=True)["dry_run"]
    assert bodies(script)[0]["dry_run"] is True


def test_ids_are_redriven_in_several_calls_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    script = Script(answer(2), answer(0, "c"))
    total = script.client().dead_letters.redrive(ids=["a", "b", "a", "c"])
    assert (total["redriven"], [left["id"] for left in total["not_redriven"]]) == (2, ["c"])
    assert [body["ids"] for body in bodies(script)] == [["a", "b"], ["c"]]
    assert not any("limit" in body for body in bodies(script))


def test_redrive_of_no_ids_makes_no_call() -> None:
    script = Script(answer(9))
    assert script.client().dead_letters.redrive(ids=[])["redriven"] == 0
    assert script.asked == []


def test_parts_before_an_error_are_yielded() -> None:
    script = Script(answer(100, cursor="1"), httpx.Response(503, json={"title": "Try again"}))
    parts = script.client().dead_letters.redrive_in_parts(everything=True)
    assert next(parts)["redriven"] == 100
    with pytest.raises(ApiError, match="Try again"):
        next(parts)
