"""PATCH /v1/tasks/{id}: what can be changed."""

import json
from dataclasses import replace
from typing import Any

import pytest

from duetime.core.change import Refused
from duetime.core.delivery import delivery_of
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.retry import RetryPolicy
from duetime.core.steps.lease import lease
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, rfc3339
from duetime.core.wakes import WakeKind
from tests.api.change import LONG, a_retrying_task, patch, put, stored
from tests.api.service import PYTHON, Service, refusal
from tests.factories import NOW, a_sent_task, a_spec, a_task


def test_task_moved_from_24_to_48_hours_keeps_its_id(any_service: Service):
    path = put(any_service, a_task(spec=a_spec(run_at=NOW + DAY)))
    before = stored(any_service)
    any_service.clock.advance(MINUTE)

    response = patch(any_service, path, {"delay": 2 * DAY // SECOND})

    due = rfc3339(NOW + MINUTE + 2 * DAY)
    assert response.status == 200
    assert (response.body["run_at"], response.body["due_at"]) == (due, due)
    assert response.body["updated_at"] == rfc3339(NOW + MINUTE)
    assert response.body["created_at"] == rfc3339(NOW)
    assert any_service.get(path).body == response.body
    after = stored(any_service)
    assert after.id == before.id
    assert (after.status, after.wake.kind, after.wake.at) == (
        Status.PENDING,
        WakeKind.DISPATCH,
        NOW + MINUTE + 2 * DAY,
    )
    assert any_service.lanes.sent == []


def test_every_field_is_changed_at_once(any_service: Service):
    path = put(any_service, a_task(spec=a_spec(payload=1, tags={"a": "b"})))
    fields = {
        "run_at": rfc3339(NOW + 2 * HOUR),
        "priority": "high",
        "payload": {"order": LONG},
        "timeout": 30.0,
        "expires_at": rfc3339(NOW + 3 * HOUR),
        "tags": {"team": "growth"},
    }

    body = patch(any_service, path, {**fields, "retry": {"max_attempts": 9}}).body

    assert {name: body[name] for name in fields} == fields
    assert body["retry"]["max_attempts"] == 9
    assert any_service.get(path).body == body
    assert (stored(any_service).budget, stored(any_service).wake.lane) == (9, Lane.HIGH)


def test_other_fields_stay_as_they_are(service: Service):
    task = a_task(spec=a_spec(payload=[1], name="n", tags={"a": "b"}, jitter=3.0, ordering_key="k"))
    path = put(service, task)

    patch(service, path, {"priority": "low"})

    assert stored(service).spec == replace(task.spec, priority=Lane.LOW)


def test_change_without_a_time_keeps_the_due_time_and_replaces_the_token(any_service: Service):
    task = a_sent_task()
    path = put(any_service, task)

    body = patch(any_service, path, {"payload": "new"}).body

    after = stored(any_service)
    assert (after.due_at, after.spec.run_at) == (task.due_at, task.spec.run_at)
    assert after.token != task.token
    assert (body["status"], body["payload"]) == ("ENQUEUED", "new")
    assert [d.token for d in any_service.lanes.sent] == [after.token]


def test_message_of_the_old_version_starts_nothing(any_service: Service):
    task = a_sent_task()
    path = put(any_service, task)
    patch(any_service, path, {"payload": "new"})
    old = lease(delivery_of(task, NOW), now=task.due_at, holder="holder")

    [answer] = any_service.store.apply([old])

    assert answer == Refused(stored(any_service))


def test_task_moved_beyond_the_horizon_is_pending_and_not_sent(any_service: Service):
    path = put(any_service, a_sent_task())

    body = patch(any_service, path, {"delay": 3600}).body

    assert body["status"] == "PENDING"
    assert stored(any_service).wake.kind is WakeKind.DISPATCH
    assert any_service.lanes.sent == []


def test_task_moved_within_the_horizon_is_sent_at_once(any_service: Service):
    path = put(any_service, a_task())

    body = patch(any_service, path, {"run_at": rfc3339(NOW + MINUTE), "priority": "high"}).body

    after = stored(any_service)
    assert body["status"] == "ENQUEUED"
    assert after.wake.kind is WakeKind.WATCH
    [sent] = any_service.lanes.sent
    assert (sent.token, sent.lane, sent.due_at) == (after.token, Lane.HIGH, NOW + MINUTE)


def test_time_in_the_past_means_now(service: Service):
    path = put(service, a_task())

    body = patch(service, path, {"run_at": rfc3339(NOW - DAY)}).body

    assert (body["run_at"], body["due_at"]) == (rfc3339(NOW - DAY), rfc3339(NOW))


def test_jitter_is_added_to_a_new_time_only(service: Service):
    task = a_task(spec=a_spec(jitter=100.0))
    path = put(service, task)
    service.dice.luck = 0.5

    assert patch(service, path, {"payload": 1}).body["due_at"] == rfc3339(task.due_at)
    assert patch(service, path, {"delay": 3600}).body["due_at"] == rfc3339(NOW + HOUR + 50_000)


def test_lane_that_fails_does_not_fail_the_change(service: Service):
    path = put(service, a_task())
    service.lanes.fails = RuntimeError("no queue")

    assert patch(service, path, {"delay": 1}).status == 200
    assert stored(service).wake.kind is WakeKind.WATCH


def test_lane_that_refuses_leaves_the_task_to_the_scanner(service: Service):
    path = put(service, a_task())
    service.lanes.refuses = True

    assert patch(service, path, {"delay": 1}).status == 200
    assert (stored(service).status, stored(service).wake.kind) == ("PENDING", WakeKind.DISPATCH)


def test_retrying_task_keeps_its_attempts(any_service: Service):
    path = put(any_service, a_retrying_task())

    body = patch(any_service, path, {"delay": 10, "payload": LONG}).body

    assert (body["status"], body["attempt"], body["payload"]) == ("RETRYING", 1, LONG)
    [sent] = any_service.lanes.sent
    assert (sent.attempt, sent.due_at) == (2, NOW + 10 * SECOND)
    assert stored(any_service).budget == 5


@pytest.mark.parametrize(
    ("retry", "expected"),
    [
        ({"max_attempts": 7}, RetryPolicy(max_attempts=7, base_delay=30)),
        ({"jitter": 0}, RetryPolicy(max_attempts=4, base_delay=30, jitter=0)),
        ({}, RetryPolicy(max_attempts=4, base_delay=30)),
        (None, RetryPolicy()),
    ],
    ids=str,
)
def test_fields_of_a_retry_policy_change_one_by_one(service: Service, retry: Any, expected: Any):
    spec = a_spec(retry=RetryPolicy(max_attempts=4, base_delay=30))
    path = put(service, a_task(spec=spec))

    assert patch(service, path, {"retry": retry}).status == 200
    assert (stored(service).spec.retry, stored(service).budget) == (expected, expected.max_attempts)


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"payload": None}, "payload", None),
        ({"expires_at": None}, "expires_at", None),
        ({"tags": {}}, "tags", {}),
        ({"payload": "***"}, "payload", "***"),
    ],
    ids=str,
)
def test_null_and_empty_values_replace_the_stored_ones(
    any_service: Service, fields: Any, name: str, value: Any
):
    spec = a_spec(payload={"a": 1}, tags={"a": "b"}, expires_at=NOW + DAY)
    path = put(any_service, a_task(spec=spec))

    assert patch(any_service, path, fields).body[name] == value
    assert any_service.get(path).body[name] == value


def test_masked_header_survives_a_change(service: Service):
    """A change cannot name the target, so `***` never becomes a real value."""
    headers = {"authorization": "Bearer s3cret"}
    target = {"type": "http", "url": "https://example.org", "headers": headers}
    path = put(service, a_task(spec=a_spec(target=target)))
    shown = service.get(path).body

    assert patch(service, path, {"payload": 1}).body["target"] == shown["target"]
    assert stored(service).spec.target == target
    refused = patch(service, path, {"target": shown["target"]})
    assert refusal(refused) == {"target": "unknown field"}


def test_replay_of_the_submission_returns_the_changed_task(service: Service):
    made = service.submit(key="order-1", delay=3600)
    patch(service, f"/v1/tasks/{made.body['id']}", {"payload": 2})

    replayed = service.submit(key="order-1", delay=3600)

    assert (replayed.status, replayed.body["payload"]) == (200, 2)


def test_change_as_it_goes_over_the_wire(service: Service):
    made = service.submit(delay=3600, payload=1).body

    answer = json.loads(patch(service, f"/v1/tasks/{made['id']}", {"payload": [2]}).encoded())

    assert answer == {**made, "payload": [2]}
    assert answer["target"] == PYTHON
