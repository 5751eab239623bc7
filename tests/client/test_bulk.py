"""Bulk operations of the client, with scripted answers."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from duetime.client import ApiError
from duetime.client import dead_letter_calls as module
from tests.client.scripted_server import Script, ok


def answer(changed: int, *left: str, cursor: str | None = None) -> httpx.Response:
    body = {
        "matched": changed + len(left),
        "changed": changed,
        "dry_run": False,
        "not_changed": [{"id": task_id, "reason": "it is RUNNING"} for task_id in left],
    }
    return ok({**body, "next_cursor": cursor})


def bodies(script: Script) -> list[Any]:
    return [json.loads(request.content) for request in script.asked]


@pytest.mark.parametrize("operation", ["cancel", "retry"])
def test_bulk_operation_goes_on_until_it_is_done_and_sums_up(operation: str) -> None:
    script = Script(answer(1_000, cursor="1"), answer(0, cursor="2"), answer(203, "x"))
    act = getattr(script.client(), f"{operation}_many")
    totals: list[Any] = []

    total = act(tag="team:growth", status=["PENDING"], name=None, on_part=totals.append)

    assert total == {
        "matched": 1_204,
        "changed": 1_203,
        "dry_run": False,
        "not_changed": [{"id": "x", "reason": "it is RUNNING"}],
        "next_cursor": None,
    }
    assert [(t["changed"], t["next_cursor"]) for t in totals] == [
        (1_000, "1"),
        (1_000, "2"),
        (1_203, None),
    ]
    same = {"tag": ["team:growth"], "status": ["PENDING"], "dry_run": False}
    assert bodies(script) == [same, {**same, "cursor": "1"}, {**same, "cursor": "2"}]
    assert {r.url.path for r in script.asked} == {f"/v1/tasks/{operation}"}


def test_shift_has_one_key_for_all_its_calls() -> None:
    script = Script(answer(1, cursor="1"), answer(1), answer(1), answer(1))
    client = script.client()

    client.shift_many(tag="a", by=timedelta(hours=-1))
    client.shift_many(tag="a", by=60)
    client.shift_many(created_before=datetime(2026, 1, 1, tzinfo=UTC), by=60, key="mine")

    first, second, third, fourth = bodies(script)
    assert (first["by"], third["by"]) == (-3_600, 60)
    assert first["idempotency_key"] == second["idempotency_key"]
    assert third["idempotency_key"] != first["idempotency_key"]
    assert fourth["idempotency_key"] == "mine"
    assert fourth["created_before"].startswith("2026-01-01T00:00:00")


def test_bulk_operation_goes_on_at_a_cursor_and_may_only_count() -> None:
    script = Script(answer(4))

    total = script.client().cancel_many(handler="h", dry_run=True, cursor="c")

    assert (total["changed"], total["dry_run"]) == (4, True)
    assert bodies(script) == [{"handler": "h", "dry_run": True, "cursor": "c"}]


def test_error_of_a_later_call_is_raised_after_the_parts_before_it() -> None:
    script = Script(answer(2, cursor="1"), httpx.Response(503, json={"title": "Try again"}))
    totals: list[Any] = []

    with pytest.raises(ApiError):
        script.client().cancel_many(tag="a", on_part=totals.append)

    assert [(t["changed"], t["next_cursor"]) for t in totals] == [(2, "1")]


def test_discard_sends_its_filter_as_a_query() -> None:
    script = Script(answer(2, cursor="1"), answer(1))

    total = script.client().dead_letters.discard(error_type="E", namespace=None)

    assert total["changed"] == 3
    assert [(r.method, dict(r.url.params)) for r in script.asked] == [
        ("DELETE", {"error_type": "E", "dry_run": "false"}),
        ("DELETE", {"error_type": "E", "dry_run": "false", "cursor": "1"}),
    ]


def test_ids_are_discarded_in_several_calls_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    script = Script(answer(2), answer(1))

    total = script.client().dead_letters.discard(ids=["a", "b", "a", "c"], dry_run=True)

    assert (total["changed"], total["next_cursor"]) == (3, None)
    assert [dict(r.url.params) for r in script.asked] == [
        {"dry_run": "true", "ids": "a,b"},
        {"dry_run": "true", "ids": "c"},
    ]


def test_everything_is_discarded_only_if_asked_for() -> None:
    script = Script(answer(2))

    script.client().dead_letters.discard(everything=True)

    assert dict(script.asked[0].url.params) == {"all": "true", "dry_run": "false"}
