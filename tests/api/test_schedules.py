"""Schedules: create, read and list."""

from typing import Any

import pytest

from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, rfc3339
from tests.api.service import EVERY_MINUTE, NOON, PYTHON, Service, as_sent, refusal
from tests.factories import NOW, an_id

TIME = rfc3339(NOW)


def test_schedule_is_returned_with_every_default(any_service: Service):
    response = any_service.schedule()

    assert response.status == 201
    schedule_id = response.body["id"]
    assert response.headers == {
        "content-type": "application/json",
        "location": f"/v1/schedules/{schedule_id}",
    }
    assert as_sent(response) == {
        "id": schedule_id,
        "status": "active",
        "name": None,
        "rule": {"type": "cron", "expression": "0 12 * * *", "timezone": "UTC"},
        "exclude": [],
        "task": {
            "target": PYTHON,
            "payload": None,
            "priority": "medium",
            "timeout": 60.0,
            "retry": {
                "max_attempts": 5,
                "base_delay": 1.0,
                "multiplier": 2.0,
                "max_delay": 3600.0,
                "jitter": 0.5,
            },
            "name": None,
            "namespace": "default",
            "ordering_key": None,
            "on_dead": None,
            "limits": [],
            "fairness_key": None,
            "pool": None,
            "tags": {},
        },
        "starts_at": None,
        "ends_at": None,
        "max_runs": None,
        "jitter": 0.0,
        "misfire": {"policy": "run_once", "grace": 60.0, "window": None, "per_minute": 60.0},
        "overlap": "skip",
        "pause_on_failure": None,
        "origin": "api",
        "app": None,
        "source": None,
        "version": 1,
        "next_fire_at": rfc3339(NOW + 3 * HOUR),
        "last_fired_at": None,
        "runs": 0,
        "last_error": None,
        "note": None,
        "paused_at": None,
        "paused_by": None,
        "description": "at 12:00 every day",
        "created_at": TIME,
        "updated_at": TIME,
    }
    assert any_service.get(f"/v1/schedules/{schedule_id}").body == response.body


FULL: dict[str, Any] = {
    "name": "Any text, 漢字",
    "rules": [
        {
            "type": "cron",
            "expression": "30 2 * * MON-FRI",
            "timezone": "Europe/Berlin",
            "dst": {"gap": "skip", "overlap": "both"},
        },
        {"type": "rate", "every": 90.5, "anchor": "2026-11-16T12:00:00.250Z"},
    ],
    "exclude": [
        {"type": "cron", "expression": "* * 24 12 *", "timezone": "Asia/Tokyo"},
        {"type": "dates", "dates": ["2026-12-25", "2027-01-01"], "timezone": "Europe/Berlin"},
    ],
    "task": {
        "target": {
            "type": "http",
            "url": "https://example.org/{{scheduled_for}}?page={{previous.result.next}}",
            "method": "PUT",
            "headers": {"X-Run": "{{schedule.id}}"},
        },
        "payload": {"after": "{{previous.result}}", "braces": "{{{{", "n": [1, None]},
        "priority": "high",
        "timeout": 5.5,
        "retry": {
            "max_attempts": 3,
            "base_delay": 0.5,
            "multiplier": 1.5,
            "max_delay": 60.0,
            "jitter": 0.0,
        },
        "name": "run of {{ schedule.name }} at {{scheduled_for}}",
        "namespace": "growth",
        "ordering_key": "account-7",
        "on_dead": "block",
        "limits": [],
        "fairness_key": "tenant-7",
        "pool": None,
        "tags": {"team": "growth", "schedule": "{{schedule.id}}"},
    },
    "starts_at": "2026-12-01T00:00:00.000Z",
    "ends_at": "2030-01-01T00:00:00.000Z",
    "max_runs": 100,
    "jitter": 30.0,
    "misfire": {"policy": "run_all", "grace": 5.0, "window": 3600.0, "per_minute": 10.0},
    "overlap": "queue",
    "pause_on_failure": 3,
}


def test_every_field_is_returned_as_submitted(any_service: Service):
    response = any_service.call("POST", "/v1/schedules", FULL)

    assert response.status == 201
    assert as_sent(response).items() >= FULL.items()
    assert any_service.get(f"/v1/schedules/{response.body['id']}").body == response.body


def test_returned_schedule_can_be_submitted_again(service: Service):
    returned = as_sent(service.call("POST", "/v1/schedules", FULL))

    again = service.call("POST", "/v1/schedules", {name: returned[name] for name in FULL})

    assert again.status == 201
    assert as_sent(again).items() >= FULL.items()


def test_one_rule_in_a_list_is_a_rule(service: Service):
    body = service.schedule(rules=[NOON]).body

    assert body["rule"] == {**NOON, "timezone": "UTC"}
    assert "rules" not in body


def test_a_rate_counts_from_when_it_was_created(service: Service):
    body = service.schedule(rule={"type": "rate", "every": 600}).body

    assert body["rule"] == {"type": "rate", "every": 600.0, "anchor": TIME}
    assert body["next_fire_at"] == rfc3339(NOW + 10 * MINUTE)


def test_a_delay_first_runs_when_it_has_passed(service: Service):
    body = service.schedule(rule={"type": "delay", "delay": 600.5}).body

    assert body["rule"] == {"type": "delay", "delay": 600.5}
    assert body["next_fire_at"] == rfc3339(NOW + 600_500)
    assert body["description"] == "600.5 seconds after the previous run ended"


INSIDE: list[dict[str, Any]] = [
    {"name": ""},
    {"name": "é" * 256},
    {"rule": {"type": "rate", "every": 1}},
    {"rule": {"type": "rate", "every": 31_536_000}},
    {"rule": {"type": "delay", "delay": 1}},
    {"rule": {**NOON, "timezone": "Europe/Berlin", "dst": {}}},
    {"rule": {**NOON, "dst": None}},
    {"rule": {"type": "cron", "expression": "@daily"}},
    {"rule": {"type": "cron", "expression": "*/5 * * * * 30", "seconds": "last"}},
    {"rules": [NOON] * 10},
    {"rule": NOON, "rules": None},
    {"exclude": [{"type": "dates", "dates": ["2026-12-25"] * 366}] * 50},
    {"exclude": []},
    {"starts_at": "2020-01-01T00:00:00Z"},
    {"starts_at": "2036-11-01T00:00:00Z", "ends_at": "2036-12-01T00:00:00Z"},
    {"ends_at": "2026-11-16T12:00:00.001Z"},
    {"max_runs": 1},
    {"max_runs": 1_000_000_000},
    {"jitter": 3_600},
    {"misfire": {}},
    {"misfire": None},
    {"misfire": {"policy": "skip", "grace": 0, "window": 0, "per_minute": 1}},
    {"misfire": {"policy": "run_all", "grace": 86_400, "window": 31_536_000, "per_minute": 6_000}},
    *({"overlap": overlap} for overlap in ("allow", "skip", "queue", "cancel")),
    {"pause_on_failure": 1},
    {"pause_on_failure": 100},
    {"task": {"target": PYTHON, "payload": "x" * (256 * 1024 - 2)}},
]


@pytest.mark.parametrize("fields", INSIDE, ids=[f"{fields!r:.60}" for fields in INSIDE])
def test_value_at_its_limit_is_accepted(service: Service, fields: dict[str, Any]):
    response = service.schedule(**fields)

    assert response.status == 201, response.body
    schedule_id = response.body["id"]
    assert service.get(f"/v1/schedules/{schedule_id}").body == response.body


def test_run_that_is_due_soon_is_put_at_once(any_service: Service):
    body = any_service.schedule(rule=EVERY_MINUTE).body

    tasks = any_service.get("/v1/tasks", schedule_id=body["id"]).body["items"]
    times = [rfc3339(NOW + n * MINUTE) for n in (4, 3, 2, 1)]
    assert [task["scheduled_for"] for task in tasks] == times
    assert {task["schedule_id"] for task in tasks} == {body["id"]}
    assert {task["status"] for task in tasks} == {"ENQUEUED"}
    assert (body["runs"], body["next_fire_at"]) == (0, times[-1])
    assert len(any_service.lanes.sent) == 4


def test_run_that_is_due_later_is_left_to_the_scanner(service: Service):
    schedule_id = service.schedule().body["id"]

    [stored_schedule] = service.schedules.get([schedule_id]).values()
    assert stored_schedule.wake.at == NOW + 3 * HOUR - service.ports.wake_policy.horizon
    assert service.stored() == []


@pytest.mark.parametrize("error", [Unavailable("gone"), RuntimeError("no such queue")], ids=str)
def test_run_that_cannot_be_put_does_not_fail_the_create(service: Service, error: Exception):
    service.schedules.fail("write_ledger", error)

    response = service.schedule(rule=EVERY_MINUTE)

    assert response.status == 201
    assert service.lanes.sent == []
    assert service.get(f"/v1/schedules/{response.body['id']}").body["status"] == "active"


def test_unanswered_create_is_a_503(service: Service):
    service.schedules.put_answer = lambda schedule: Unknown("throttled")

    response = service.schedule()

    assert (response.status, response.headers["retry-after"]) == (503, "1")


def test_tasks_of_other_schedules_are_not_listed(service: Service):
    service.schedule(rule=EVERY_MINUTE)
    service.submit()

    assert service.get("/v1/tasks", schedule_id=an_id()).body["items"] == []
    assert refusal(service.get("/v1/tasks", schedule_id="a b")).keys() == {"schedule_id"}


# Keys


def test_replay_returns_the_same_schedule(any_service: Service):
    first = any_service.schedule("order-1", rule={"type": "rate", "every": 600})
    any_service.clock.advance(SECOND)

    second = any_service.schedule("order-1", rule={"type": "rate", "every": 600})

    assert (first.status, second.status) == (201, 200)
    assert second.body == first.body
    assert second.headers["location"] == first.headers["location"]
    assert len(any_service.get("/v1/schedules").body["items"]) == 1


def test_the_key_with_another_body_is_refused(any_service: Service):
    first = any_service.schedule("order-1")

    response = any_service.schedule("order-1", name="x")

    assert (response.status, response.body["type"]) == (409, "urn:duetime:problem:key-conflict")
    assert first.body["id"] in response.body["detail"]
    assert any_service.schedule("order-1", task={"target": PYTHON, "namespace": "b"}).status == 201


def test_a_key_of_a_task_is_no_key_of_a_schedule(service: Service):
    service.submit("order-1")

    assert service.schedule("order-1").status == 201


def test_key_expires_after_a_day(service: Service):
    first = service.schedule("order-1")
    service.clock.advance(DAY)

    assert service.schedule("order-1").body["id"] != first.body["id"]


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 129])
def test_bad_key_is_refused(service: Service, key: str):
    message = "must be 1 to 128 letters, digits and ._:- only"

    assert refusal(service.schedule(key)) == {"Idempotency-Key": message}
    assert service.store.writes == []


def test_replay_stores_the_schedule_that_its_reservation_lacks(service: Service):
    """The first request died after its reservation."""
    service.schedules.put_answer = lambda schedule: Unknown("throttled")
    service.schedule("order-1")
    service.schedules.put_answer = lambda schedule: None

    assert service.schedule("order-1").status == 201


# Read


@pytest.mark.parametrize("schedule_id", ["x", "01M7HSBBM00000000000000ZZZ", "%20"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/trigger"),
        ("POST", "/backfill"),
        ("GET", "/upcoming"),
        ("GET", "/ledger"),
    ],
)
def test_unknown_schedule_is_a_404(service: Service, method: str, path: str, schedule_id: str):
    bodies = {
        "": {"rule": NOON, "task": {"target": PYTHON}},
        "/backfill": {"from": "2026-11-01T00:00:00Z", "to": "2026-11-02T00:00:00Z"},
    }
    body = bodies.get(path, b"") if method in ("PUT", "POST") else b""

    response = service.call(method, f"/v1/schedules/{schedule_id}{path}", body)

    assert (response.status, response.body["title"]) == (404, "Not found")
    assert service.store.writes == []


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("DELETE", "/v1/schedules", "POST, GET"),
        ("PATCH", "/v1/schedules/x", "GET, PUT, DELETE"),
        ("GET", "/v1/schedules/x/pause", "POST"),
    ],
)
def test_other_method_is_a_405_that_names_the_allowed_ones(
    service: Service, method: str, path: str, allow: str
):
    response = service.call(method, path)

    assert (response.status, response.headers["allow"]) == (405, allow)


def test_the_list_is_by_namespace_and_status_newest_first(any_service: Service):
    ids = []
    for name in ("a", "b", "c"):
        any_service.clock.advance(SECOND)
        ids.append(any_service.schedule(name=name).body["id"])
    any_service.schedule(task={"target": PYTHON, "namespace": "other"})
    any_service.on(ids[1], "pause")

    def names(**query: str) -> list[str]:
        items = any_service.get("/v1/schedules", **query).body["items"]
        return [item["name"] for item in items]

    assert names() == ["c", "b", "a"]
    assert names(status="paused") == ["b"]
    assert names(status="active") == ["c", "a"]
    assert names(namespace="other") == [None]
    whole = any_service.get(f"/v1/schedules/{ids[2]}").body
    assert any_service.get("/v1/schedules", limit="1").body["items"] == [whole]


def test_pages_of_schedules_neither_skip_nor_repeat(any_service: Service):
    names = [str(n) for n in range(5)]
    for name in names:
        any_service.clock.advance(SECOND)
        any_service.schedule(name=name)

    found, cursor = [], {}
    while True:
        page = any_service.get("/v1/schedules", limit="2", **cursor).body
        found += [item["name"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}

    assert found == names[::-1]


def test_a_page_is_short_enough_for_one_answer(service: Service):
    for _ in range(12):
        service.clock.advance(SECOND)
        service.schedule(task={"target": PYTHON, "payload": "x" * (250 * 1024)})

    page = service.get("/v1/schedules").body

    assert 1 <= len(page["items"]) < 12
    assert page["next_cursor"] is not None


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"status": "PAUSED"}, "status"),
        ({"limit": "101"}, "limit"),
        ({"cursor": "x"}, "cursor"),
        ({"namespace": "a b"}, "namespace"),
        ({"x": "1"}, "x"),
    ],
)
def test_a_bad_query_is_refused(service: Service, query: dict[str, str], field: str):
    assert refusal(service.get("/v1/schedules", **query)).keys() == {field}


def test_schedule_whose_rule_cannot_be_evaluated_is_still_returned(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    schedule_id = service.schedule().body["id"]
    monkeypatch.setattr("duetime.api.schedules.views.describe", lambda recurrence: 1 / 0)
    monkeypatch.setattr("duetime.api.schedules.views.upcoming", lambda schedule, now: 1 / 0)

    [item] = service.get("/v1/schedules").body["items"]

    assert (item["id"], item["description"], item["next_fire_at"]) == (schedule_id, None, None)


def test_deleted_schedule_that_is_created_again_by_its_key_fires(any_service: Service):
    """The runs of the deleted schedule were cancelled, and must not block the new ones."""
    first = any_service.schedule("key-1", rule=EVERY_MINUTE).body
    any_service.clock.advance(2 * SECOND)
    any_service.call("DELETE", f"/v1/schedules/{first['id']}", b"")
    again = any_service.schedule("key-1", rule=EVERY_MINUTE).body

    tasks = any_service.get("/v1/tasks", schedule_id=again["id"], status="ENQUEUED").body["items"]
    assert (again["id"], len(tasks)) == (first["id"], 4)
    assert again["version"] > first["version"]
