"""Schedules that are addressed by their name."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from duetime.core.schedules.ports import SchedulePage
from duetime.core.times import MINUTE
from tests.api.service import EVERY_MINUTE, NOON, PYTHON, Service, as_sent, refusal

RIVALS = 8


def body(**fields: Any) -> dict[str, Any]:
    return {"rule": NOON, "task": {"target": PYTHON}, **fields}


def at(name: str) -> str:
    return f"/v1/schedules/by-name/{name}"


def test_put_creates_a_schedule_and_then_replaces_it(any_service: Service):
    created = any_service.call("PUT", at("daily"), body())

    assert (created.status, created.body["name"]) == (201, "daily")
    assert created.headers["location"] == f"/v1/schedules/{created.body['id']}"
    changed = any_service.call("PUT", at("daily"), body(overlap="queue"))
    assert (changed.status, changed.body["id"]) == (200, created.body["id"])
    assert changed.body["version"] == created.body["version"] + 1
    found = any_service.call("GET", at("daily"))
    assert as_sent(found) == as_sent(changed)
    assert found.body["origin"] == "api"


def test_put_of_the_same_fields_changes_nothing(any_service: Service):
    wanted = body(rule={"type": "rate", "every": 60})
    created = any_service.call("PUT", at("daily"), wanted)
    any_service.clock.advance(MINUTE)
    any_service.store.writes.clear()

    again = any_service.call("PUT", at("daily"), wanted)

    assert (again.status, again.body["version"]) == (200, created.body["version"])
    assert "put schedule" not in any_service.store.writes


@pytest.mark.parametrize("end", [{"ends_at": "2026-11-16T09:10:00Z"}, {"max_runs": 1}])
def test_put_of_the_same_fields_after_the_end_changes_nothing(
    any_service: Service, end: dict[str, Any]
):
    wanted = body(rule={"type": "rate", "every": 60}, **end)
    created = any_service.call("PUT", at("daily"), wanted)
    assert created.status == 201
    any_service.clock.advance(20 * MINUTE)

    again = any_service.call("PUT", at("daily"), wanted)
    other = any_service.call("PUT", at("daily"), {**wanted, "overlap": "queue"})

    assert (again.status, again.body["version"]) == (200, created.body["version"])
    assert other.status == 422


def test_deleted_name_can_be_put_again(any_service: Service):
    first = any_service.call("PUT", at("daily"), body(rule=EVERY_MINUTE)).body

    assert any_service.call("DELETE", at("daily")).status == 204
    assert any_service.call("GET", at("daily")).status == 404
    any_service.clock.advance(MINUTE)
    second = any_service.call("PUT", at("daily"), body(rule=EVERY_MINUTE))

    assert (second.status, second.body["id"]) == (201, first["id"])
    assert second.body["version"] > first["version"]


def test_names_of_two_namespaces_are_two_schedules(any_service: Service):
    one = any_service.call("PUT", at("daily"), body())
    other = any_service.call("PUT", at("daily"), body(), query={"namespace": "growth"})

    assert (other.status, other.body["task"]["namespace"]) == (201, "growth")
    assert one.body["id"] != other.body["id"]
    found = any_service.call("GET", at("daily"), query={"namespace": "growth"})
    assert found.body["id"] == other.body["id"]


def test_name_may_have_any_characters(any_service: Service):
    created = any_service.call("PUT", at("t%C3%A4glich%2F1"), body())

    assert (created.status, created.body["name"]) == (201, "täglich/1")


def test_schedule_that_was_not_put_by_name_is_found_if_it_is_the_only_one(any_service: Service):
    first = any_service.call("POST", "/v1/schedules", body(name="daily")).body

    assert any_service.call("GET", at("daily")).body["id"] == first["id"]
    refused = any_service.call("PUT", at("daily"), body())
    assert refused.status == 409
    assert first["id"] in refused.body["detail"]
    second = any_service.call("POST", "/v1/schedules", body(name="daily")).body
    several = any_service.call("DELETE", at("daily"))
    assert several.status == 409
    assert first["id"] in several.body["detail"]
    assert second["id"] in several.body["detail"]


def declare(service: Service) -> str:
    """Returns the id of the schedule."""
    taken = service.call("POST", "/v1/schedules/sync/generations", {"app": "shop"}).body
    declared = {**body(name="daily"), "source": "reports.py:14"}
    synced = service.call("POST", "/v1/schedules/sync", {**taken, "schedules": [declared]})
    found: str = synced.body["schedules"][0]["id"]
    return found


def test_declared_schedule_is_found_by_name_and_not_deleted(any_service: Service):
    declare(any_service)

    assert any_service.call("GET", at("daily")).body["origin"] == "code"
    assert any_service.call("DELETE", at("daily")).status == 409


def test_put_makes_no_twin_of_a_declared_schedule(any_service: Service):
    declared = declare(any_service)

    refused = any_service.call("PUT", at("daily"), body())

    assert refused.status == 409
    assert f"Schedule {declared} is declared at reports.py:14" in refused.body["detail"]
    assert [s["id"] for s in any_service.call("GET", "/v1/schedules").body["items"]] == [declared]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("first", ["PUT", "POST"])
def test_name_of_a_declared_and_another_schedule_is_not_unique(
    any_service: Service, method: str, first: str
):
    path = at("daily") if first == "PUT" else "/v1/schedules"
    other = any_service.call(first, path, body(name="daily")).body["id"]
    declared = declare(any_service)

    refused = any_service.call(method, at("daily"), body(overlap="queue"))

    assert (refused.status, refused.body["title"]) == (409, "The name is not unique")
    assert other in refused.body["detail"]
    assert declared in refused.body["detail"]
    stored = any_service.call("GET", "/v1/schedules").body["items"]
    assert {s["id"]: s["overlap"] for s in stored} == {other: "skip", declared: "skip"}


def test_declared_schedule_counts_before_the_list_shows_it(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    declare(service)
    nothing = SchedulePage(schedules=[], cursor=None)
    monkeypatch.setattr(service.schedules, "page", lambda listing: nothing)

    assert service.call("GET", at("daily")).body["origin"] == "code"
    assert service.call("PUT", at("daily"), body()).status == 409


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (body(name="other"), "name"),
        (body(task={"target": PYTHON, "namespace": "other"}), "task.namespace"),
        ({"task": {"target": PYTHON}}, "rule"),
        (body(colour="red"), "colour"),
    ],
)
def test_bad_body_is_refused_and_nothing_is_stored(service: Service, given: Any, field: str):
    response = service.call("PUT", at("daily"), given)

    assert list(refusal(response)) == [field]
    assert service.call("GET", "/v1/schedules").body["items"] == []


def test_name_that_is_too_long_is_refused(service: Service):
    assert list(refusal(service.call("PUT", at("x" * 257), body()))) == ["name"]


def test_rivals_that_put_one_name_make_one_schedule(any_service: Service):
    barrier = Barrier(RIVALS)

    def put(number: int) -> int:
        barrier.wait()
        return any_service.call("PUT", at("daily"), body(max_runs=number + 1)).status

    with ThreadPoolExecutor(RIVALS) as pool:
        statuses = list(pool.map(put, range(RIVALS)))

    assert statuses.count(201) == 1
    assert set(statuses) <= {200, 201, 503}  # 503: it lost five times in a row
    assert len(any_service.call("GET", "/v1/schedules").body["items"]) == 1


def test_schedule_that_was_put_by_name_keeps_it(any_service: Service):
    created = any_service.call("PUT", at("daily"), body())
    path = f"/v1/schedules/{created.body['id']}"

    renamed = any_service.call("PUT", path, body(name="weekly"))

    assert refusal(renamed) == {"name": "must stay 'daily': the schedule was put by this name"}
    assert any_service.call("PUT", path, body(name="daily", overlap="queue")).status == 200
    assert any_service.call("GET", at("daily")).body["name"] == "daily"
