from typing import Any

import pytest

from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.times import HOUR, MINUTE, SECOND, rfc3339
from duetime.core.wakes import WakeKind
from tests.api.service import PYTHON, Service, as_sent
from tests.factories import NOW, WAKE_POLICY

TIME = rfc3339(NOW)


def test_task_is_returned_with_every_default(any_service: Service):
    response = any_service.submit()

    assert response.status == 201
    task_id = response.body["id"]
    assert response.headers == {
        "content-type": "application/json",
        "location": f"/v1/tasks/{task_id}",
    }
    assert as_sent(response) == {
        "id": task_id,
        "status": "ENQUEUED",
        "name": None,
        "namespace": "default",
        "target": PYTHON,
        "payload": None,
        "run_at": TIME,
        "due_at": TIME,
        "priority": "medium",
        "lane": "medium",
        "promoted_at": None,
        "timeout": 60.0,
        "retry": {
            "max_attempts": 5,
            "base_delay": 1.0,
            "multiplier": 2.0,
            "max_delay": 3600.0,
            "jitter": 0.5,
        },
        "jitter": 0.0,
        "expires_at": None,
        "ordering_key": None,
        "on_dead": None,
        "limits": [],
        "fairness_key": None,
        "pool": None,
        "waiting_for": None,
        "idempotency_key": None,
        "unique": None,
        "tags": {},
        "attempt": 0,
        "created_at": TIME,
        "updated_at": TIME,
        "started_at": None,
        "finished_at": None,
        "drift_ms": None,
        "progress": None,
        "result": None,
        "error": None,
        "cancel_requested": False,
        "reason": None,
        "schedule_id": None,
        "scheduled_for": None,
        "parent_id": None,
        "run_id": None,
        "step": None,
        "index": None,
        "not_shown": None,
    }


FULL: dict[str, Any] = {
    "target": {
        "type": "http",
        "url": "https://example.org/hook?x=1#y",
        "method": "PUT",
        "headers": {"X-Team": "growth", "Accept": "text/plain"},
    },
    "payload": {"deep": [1, 2.5, None, True, "é\u0000🎈"], "": {}},
    "run_at": "2026-11-16T12:00:00.250Z",
    "priority": "high",
    "timeout": 5.5,
    "retry": {
        "max_attempts": 3,
        "base_delay": 0.5,
        "multiplier": 1.5,
        "max_delay": 60.0,
        "jitter": 0.0,
    },
    "jitter": 30.0,
    "expires_at": "2026-11-17T00:00:00.000Z",
    "name": "  Any text, 漢字\n",
    "namespace": "growth",
    "ordering_key": "account-7",
    "on_dead": "block",
    "limits": [],
    "fairness_key": "tenant-7",
    "idempotency_key": "order:4711",
    "tags": {"team": "growth", "any key ☃": ""},
}


def test_every_field_is_returned_as_submitted(any_service: Service):
    response = any_service.post(FULL)

    assert response.status == 201
    assert as_sent(response).items() >= FULL.items()
    assert any_service.get(f"/v1/tasks/{response.body['id']}").body == response.body


def test_a_part_of_a_retry_policy_leaves_the_rest_at_its_default(service: Service):
    retry = service.submit(retry={"max_attempts": 1}).body["retry"]

    assert retry == {
        "max_attempts": 1,
        "base_delay": 1.0,
        "multiplier": 2.0,
        "max_delay": 3600.0,
        "jitter": 0.5,
    }


def headers_of(length: int) -> dict[str, str]:
    """Headers that make a target of so many bytes as JSON."""
    target = '{"type":"http","url":"http://x","method":"POST","headers":{"A":""}}'
    return {"A": "a" * (length - len(target))}


INSIDE: list[tuple[str, Any]] = [
    ("payload", "x" * (256 * 1024 - 2)),
    ("payload", "é" * (128 * 1024 - 1)),
    ("payload", 10**4299),
    ("payload", [[[[[[[[[[]]]]]]]]]]),
    ("payload", False),
    ("run_at", "1970-01-01T00:00:00Z"),
    ("run_at", "2036-11-13T09:00:00Z"),  # 3,650 days
    ("delay", 0),
    ("delay", 0.001),
    ("delay", 315_360_000),
    ("timeout", 1),
    ("timeout", 604_800),
    ("jitter", 0),
    ("jitter", 3_600),
    ("retry", {"max_attempts": 1, "base_delay": 0, "multiplier": 1, "max_delay": 0, "jitter": 0}),
    ("retry", {"max_attempts": 100, "base_delay": 86_400, "multiplier": 100}),
    ("retry", {"max_delay": 86_400, "jitter": 86_400}),
    ("retry", None),
    ("expires_at", "2026-11-16T09:00:00.001Z"),
    ("expires_at", "9999-12-31T23:59:59.999Z"),
    ("name", ""),
    ("name", "é" * 256),
    ("namespace", "a" * 128),
    ("namespace", "AZaz09._:-"),
    ("ordering_key", "a" * 128),
    ("idempotency_key", "a" * 128),
    ("tags", {str(n): "" for n in range(10)}),
    ("tags", {"é" * 64: "é" * 256}),
    ("target", {"type": "http", "url": "http://x", "headers": headers_of(16 * 1024)}),
]


@pytest.mark.parametrize(
    ("field", "value"), INSIDE, ids=[f"{field}={value!r:.40}" for field, value in INSIDE]
)
def test_value_at_its_limit_is_accepted(service: Service, field: str, value: Any):
    assert service.submit(**{field: value}).status == 201


@pytest.mark.parametrize(
    ("fields", "run_at"),
    [
        ({}, NOW),
        ({"run_at": None, "delay": None}, NOW),
        ({"delay": 0}, NOW),
        ({"delay": 1.5}, NOW + 1_500),
        ({"run_at": "2026-11-16T10:00:00Z"}, NOW + HOUR),
        ({"run_at": "2026-11-16t11:00:00.5+01:00"}, NOW + HOUR + 500),
        ({"run_at": "2026-11-16 10:00:00z"}, NOW + HOUR),
        ({"run_at": "2026-11-16T10:00:00.0001Z"}, NOW + HOUR + 1),  # never early
        ({"run_at": "2026-11-15T10:00:00-23:59"}, NOW + 59 * MINUTE),
    ],
    ids=str,
)
def test_run_at_is_always_filled(service: Service, fields: dict[str, Any], run_at: int):
    body = service.submit(**fields).body

    assert (body["run_at"], body["due_at"]) == (rfc3339(run_at), rfc3339(run_at))


def test_a_past_run_at_means_now(service: Service):
    body = service.submit(run_at="2020-01-01T00:00:00Z").body

    assert body["run_at"] == "2020-01-01T00:00:00.000Z"
    assert (body["status"], body["due_at"]) == ("ENQUEUED", TIME)


@pytest.mark.parametrize(("luck", "later"), [(0.0, 0), (0.5, 30 * SECOND), (0.999, 59_940)])
def test_jitter_moves_the_due_time_by_a_drawn_part_of_it(service: Service, luck: float, later: int):
    service.dice.luck = luck

    body = service.submit(jitter=60).body

    assert (body["run_at"], body["due_at"]) == (TIME, rfc3339(NOW + later))


@pytest.mark.parametrize("priority", list(Lane))
def test_task_due_within_the_horizon_is_enqueued(service: Service, priority: Lane):
    body = service.submit(priority=priority.value, delay=WAKE_POLICY.horizon / SECOND).body

    [delivery] = service.lanes.sent
    [task] = service.stored()
    assert body["status"] == "ENQUEUED"
    assert (delivery.task_id, delivery.token, delivery.lane) == (task.id, task.token, priority)
    assert task.wake is not None
    assert task.wake.kind is WakeKind.WATCH


def test_task_due_later_waits_for_the_scanner(service: Service):
    body = service.submit(delay=WAKE_POLICY.horizon / SECOND + 0.001).body

    [task] = service.stored()
    assert (body["status"], service.lanes.sent) == ("PENDING", [])
    assert task.wake is not None
    assert (task.wake.kind, task.wake.at) == (WakeKind.DISPATCH, task.due_at)


def test_a_refused_delivery_is_left_to_the_scanner(any_service: Service):
    any_service.lanes.refuses = True

    response = any_service.submit(delay=10)

    [task] = any_service.stored()
    assert response.status == 201
    assert task.status is Status.PENDING
    assert task.wake is not None
    assert (task.wake.kind, task.wake.at) == (WakeKind.DISPATCH, NOW + 10 * SECOND)


@pytest.mark.parametrize("error", [Unavailable("gone"), RuntimeError("no such queue")], ids=str)
def test_lane_that_fails_does_not_fail_the_submission(service: Service, error: Exception):
    """A client that got an error would submit again, and without a key it would run twice."""
    service.lanes.fails = error

    assert service.submit().status == 201
    assert [r["status"] for r in service.batch({"target": PYTHON}).body["results"]] == [201]
    assert [t.wake.kind for t in service.stored() if t.wake] == [WakeKind.WATCH] * 2


def test_unanswered_submission_is_a_503_with_retry_after(service: Service):
    service.store.put_answer = lambda task: Unknown("throttled")

    response = service.submit()

    assert (response.status, response.headers["retry-after"]) == (503, "1")
    assert response.body["type"] == "urn:duetime:problem:unavailable"
    assert "idempotency key" in response.body["detail"]
    assert service.lanes.sent == []
