"""PATCH /v1/tasks/{id}: what is refused, and why."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.core.arns import EXAMPLES
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.occurrence import Occurrence
from duetime.core.times import DAY, HOUR, YEAR, rfc3339
from tests.api.change import a_retrying_task, patch, put, stored
from tests.api.service import Service, refusal
from tests.factories import NOW, a_running_task, a_spec, a_task
from tests.factories import an_id as a_schedule_id


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        (
            {},
            {
                "body": "give at least one of payload, run_at, delay, priority, timeout, retry,"
                " expires_at, on_dead, limits, fairness_key, tags"
            },
        ),
        ([], {"body": "must be an object"}),
        (None, {"body": "must be an object"}),
        ({"name": "n"}, {"name": "unknown field"}),
        ({"run_at": rfc3339(NOW), "delay": 1}, {"delay": "give run_at or delay, not both"}),
        ({"run_at": rfc3339(NOW + 11 * YEAR)}, {"run_at": "must be at most 10 years ahead"}),
        ({"run_at": None}, {"run_at": "must be a string such as 2026-11-16T09:00:00+01:00"}),
        ({"delay": None}, {"delay": "must be a number"}),
        ({"delay": -1}, {"delay": "must be at least 0"}),
        ({"priority": None}, {"priority": "must be 'high', 'medium' or 'low'"}),
        ({"priority": "urgent"}, {"priority": "must be 'high', 'medium' or 'low'"}),
        ({"timeout": None}, {"timeout": "must be a number"}),
        ({"timeout": 604_801}, {"timeout": "must be at most 604800 seconds here"}),
        ({"tags": None}, {"tags": "must be an object"}),
        ({"tags": {"a": 1}}, {"tags.a": "must be a string"}),
        ({"retry": {"max_attempts": 0}}, {"retry.max_attempts": "must be at least 1"}),
        ({"retry": {"tries": 1}}, {"retry.tries": "unknown field"}),
        ({"expires_at": rfc3339(NOW)}, {"expires_at": "must be after the task is due"}),
        ({"expires_at": rfc3339(NOW + HOUR)}, {"expires_at": "must be after the task is due"}),
    ],
    ids=str,
)
def test_bad_change_names_the_field_and_writes_nothing(
    service: Service, body: Any, errors: dict[str, str]
):
    path = put(service, a_task())

    assert refusal(patch(service, path, body)) == errors
    assert service.store.writes == []


def test_timeout_is_at_most_what_the_executors_support(service: Service):
    stage = Service(service.store._store, service.clock, longest_timeout=840)
    path = put(stage, a_task())

    assert patch(stage, path, {"timeout": 840}).status == 200
    refused = {"timeout": "must be at most 840 seconds here"}
    assert refusal(patch(stage, path, {"timeout": 841})) == refused


QUEUE = {"type": "sqs", "queue": EXAMPLES["sqs"], "group": "g"}
TOPIC = {"type": "sns", "topic": EXAMPLES["sns"], "subject": "s"}
MAIL = {"type": "email", "from": "a@example.com", "to": "b@example.com"}
INSERT = {"type": "sql", "database": "main", "statement": "INSERT INTO t VALUES (:a)"}


@pytest.mark.parametrize(
    ("target", "first", "second", "field", "message"),
    [
        (QUEUE, 1, "", "payload", "must be text without control characters, not empty"),
        (TOPIC, 1, "x" * 262_000, "payload", "must be at most 256 KiB, the limit of SNS"),
        (MAIL, {"subject": "s", "text": "t"}, {"text": "t"}, "payload.subject", "required"),
        (INSERT, {"a": 1}, {"b": 1}, "payload.a", "required: the statement names it"),
    ],
    ids=["sqs", "sns", "email", "sql"],
)
def test_target_of_a_task_limits_its_new_payload_as_it_limited_the_first(
    service: Service, target: Any, first: Any, second: Any, field: str, message: str
):
    made = service.submit(target=target, payload=first, delay=60).body
    path = f"/v1/tasks/{made['id']}"

    response = patch(service, path, {"payload": second, "delay": 120})

    assert refusal(response) == {field: message}
    assert service.get(path).body == made
    assert patch(service, path, {"payload": first, "delay": 120}).status == 200
    assert patch(service, path, {"delay": 180}).status == 200


def test_payload_that_is_too_large_for_any_task_is_a_413_for_a_queue_too(service: Service):
    made = service.submit(target=QUEUE, payload=1, delay=60).body

    response = patch(service, f"/v1/tasks/{made['id']}", {"payload": "x" * 2_000_000})

    assert (response.status, response.body["errors"][0]["field"]) == (413, "payload")


def test_payload_that_is_too_large_is_a_413(service: Service):
    path = put(service, a_task())

    response = patch(service, path, {"payload": "x" * 262_143})

    assert (response.status, service.store.writes) == (413, [])
    assert [e["field"] for e in response.body["errors"]] == ["payload"]


@pytest.mark.parametrize("name", ["run_at", "delay"])
def test_time_after_the_expiry_says_so(service: Service, name: str):
    path = put(service, a_task(spec=a_spec(expires_at=NOW + 2 * HOUR)))
    value = rfc3339(NOW + 3 * HOUR) if name == "run_at" else 3 * 3600
    expires = rfc3339(NOW + 2 * HOUR)

    assert refusal(patch(service, path, {name: value})) == {
        name: f"must be before the task expires, at {expires}; or change expires_at too"
    }
    assert patch(service, path, {name: value, "expires_at": None}).status == 200


def test_fewer_attempts_than_are_used_up_are_refused(any_service: Service):
    """A snooze and the life before a revival use up no attempt."""
    path = put(any_service, a_retrying_task(attempt=7, budget=9))

    response = patch(any_service, path, {"retry": {"max_attempts": 3}})

    message = "must be at least 4: the task has used 3"
    assert refusal(response) == {"retry.max_attempts": message}
    assert patch(any_service, path, {"retry": {"max_attempts": 4}}).status == 200
    assert stored(any_service).budget == 8


@pytest.mark.parametrize("status", sorted(set(Status) - sources(Step.DEFER)))
def test_task_that_runs_waits_or_has_ended_is_a_409(any_service: Service, status: Status):
    running = a_running_task() if status is Status.RUNNING else a_task(status=status, wake=None)
    path = put(any_service, running)

    response = patch(any_service, path, {"delay": 60})

    assert (response.status, response.body["type"]) == (409, "urn:duetime:problem:state-conflict")
    assert response.body["detail"].startswith(f"Task {running.id} is {status}. ")
    assert any_service.store.writes == []


def test_task_that_is_being_cancelled_is_a_409(service: Service):
    path = put(service, a_retrying_task(cancel_requested=True))

    response = patch(service, path, {"delay": 60})

    assert (response.status, "being cancelled" in response.body["detail"]) == (409, True)
    assert service.store.writes == []


def test_expiry_of_a_started_task_is_a_409(service: Service):
    path = put(service, a_retrying_task())

    response = patch(service, path, {"expires_at": rfc3339(NOW + DAY)})

    assert response.status == 409
    assert "only before the first attempt" in response.body["detail"]


def test_task_that_has_expired_is_a_409_unless_its_expiry_moves(service: Service):
    path = put(service, a_task(spec=a_spec(expires_at=NOW + 2 * HOUR)))
    service.clock.advance(3 * HOUR)

    response = patch(service, path, {"payload": 1})

    assert (response.status, "has expired" in response.body["detail"]) == (409, True)
    later = {"expires_at": rfc3339(NOW + DAY)}
    assert patch(service, path, later).status == 200


def an_occurrence(**fields: Any) -> Occurrence:
    return Occurrence(schedule_id=a_schedule_id(), scheduled_for=NOW, version=1, **fields)


@pytest.mark.parametrize("body", [{"delay": 60}, {"payload": 1}, {"priority": "high"}], ids=str)
def test_unstarted_run_of_a_schedule_is_a_409(any_service: Service, body: Any):
    occurrence = an_occurrence()
    task = a_task(spec=a_spec(occurrence=occurrence))
    path = put(any_service, task)

    response = patch(any_service, path, body)

    schedule = f"/v1/schedules/{occurrence.schedule_id}"
    assert (response.status, any_service.store.writes) == (409, [])
    assert response.body["detail"] == (
        f"Task {task.id} is a run of a schedule that has not started. Change the schedule"
        f" (PUT {schedule}), or run its task now (POST {schedule}/trigger)."
    )


def test_started_run_of_a_schedule_is_an_ordinary_task(any_service: Service):
    retrying = a_retrying_task()
    spec = replace(retrying.spec, occurrence=an_occurrence())
    path = put(any_service, replace(retrying, spec=spec))

    body = patch(any_service, path, {"delay": 60, "payload": 1}).body

    assert (body["payload"], body["schedule_id"]) == (1, spec.occurrence.schedule_id)


def test_payload_that_names_the_previous_run_cannot_be_replaced(service: Service):
    retrying = a_retrying_task()
    spec = replace(retrying.spec, occurrence=an_occurrence(open=True))
    path = put(service, replace(retrying, spec=spec))

    response = patch(service, path, {"payload": 1})

    assert (response.status, "previous run" in response.body["detail"]) == (409, True)
    assert patch(service, path, {"delay": 60}).status == 200


@pytest.mark.parametrize("path", ["/v1/tasks/nothing", f"/v1/tasks/{a_task().id}"])
def test_unknown_task_is_a_404(service: Service, path: str):
    assert patch(service, path, {"delay": 1}).status == 404


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [(b"", "application/json", 400), (b"{", "application/json", 400), (b"{}", "text/plain", 415)],
)
def test_change_must_be_json(service: Service, body: bytes, content_type: str, status: int):
    path = put(service, a_task())

    response = patch(service, path, body, headers={"content-type": content_type})

    assert (response.status, service.store.writes) == (status, [])


def test_parameters_are_refused(service: Service):
    path = put(service, a_task())

    response = patch(service, path, {"delay": 1}, query={"force": "1"})

    assert refusal(response) == {"force": "unknown parameter"}
