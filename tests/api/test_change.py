"""PATCH /v1/tasks/{id}."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from duetime.core.arns import EXAMPLES
from duetime.core.change import Answer, Applied, Change, Refused, Unknown
from duetime.core.delivery import delivery_of
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.occurrence import Occurrence
from duetime.core.retry import RetryPolicy
from duetime.core.steps.claim import claim
from duetime.core.steps.lease import lease
from duetime.core.task import Task
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, YEAR, rfc3339
from duetime.core.wakes import WakeKind
from tests.api.service import PYTHON, Service, refusal
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_sent_task, a_spec, a_task
from tests.factories import an_id as a_schedule_id

LONG = "x" * 5_000


def put(service: Service, task: Task) -> str:
    service.store.put([task])
    service.store.writes.clear()
    return f"/v1/tasks/{task.id}"


def patch(service: Service, path: str, body: Any, **options: Any) -> Any:
    return service.call("PATCH", path, body, **options)


def stored(service: Service) -> Task:
    [task] = service.stored()
    return task


def a_retrying_task(**fields: Any) -> Task:
    """A task with one failed attempt, which is retried in an hour."""
    running = a_running_task(spec=a_spec(run_at=NOW))
    wake = WAKE_POLICY.wake(WakeKind.DISPATCH, running.id, running.lane, NOW + HOUR, now=NOW)
    task = replace(running, status=Status.RETRYING, due_at=NOW + HOUR, wake=wake, lease_until=None)
    return replace(task, **fields)


# What can be changed


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
    spec = a_spec(payload=[1], name="n", tags={"a": "b"}, jitter=3.0, ordering_key="k")
    path = put(service, a_task(spec=spec))

    patch(service, path, {"priority": "low"})

    assert stored(service).spec == replace(spec, priority=Lane.LOW)


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


# What is refused


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        (
            {},
            {
                "body": "give at least one of payload, run_at, delay, priority, timeout, retry,"
                " expires_at, tags"
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


# Races


def overtaken_by(service: Service, *steps: Change) -> None:
    """Makes one of these changes before each write of the API."""
    left: Iterator[Change] = iter(steps)
    store = service.store

    def answer(change: Change) -> Answer | None:
        if change not in steps and (step := next(left, None)):
            store.apply([step])
        return None

    store.apply_answer = answer


def test_task_that_starts_during_its_change_is_a_409(any_service: Service):
    task = a_sent_task()
    path = put(any_service, task)
    overtaken_by(any_service, lease(delivery_of(task, NOW), now=task.due_at, holder="holder"))

    response = patch(any_service, path, {"delay": 60})

    assert (response.status, "is RUNNING" in response.body["detail"]) == (409, True)
    assert any_service.lanes.sent == []


def test_task_that_is_claimed_during_its_change_is_changed(any_service: Service):
    task = a_task()
    path = put(any_service, task)
    overtaken_by(any_service, claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw()))

    assert patch(any_service, path, {"delay": 7200}).body["status"] == "PENDING"


def test_of_two_concurrent_changes_both_count(any_service: Service):
    task = a_task()
    path = put(any_service, task)
    other = any_service.store._store
    read, overtaken = any_service.store.get, iter([True])

    def stale(ids: Any) -> Any:
        found = read(ids)
        if next(overtaken, False):
            beside = Service(other, any_service.clock, any_service.schedules._store)
            assert patch(beside, path, {"tags": {"team": "growth"}}).status == 200
        return found

    any_service.store.get = stale

    body = patch(any_service, path, {"payload": "new"}).body

    assert (body["payload"], body["tags"]) == ("new", {"team": "growth"})


def test_change_that_loses_every_race_is_a_503(service: Service):
    task = a_task()
    path = put(service, task)
    service.store.apply_answer = lambda change: Refused(task)

    assert patch(service, path, {"delay": 1}).status == 503
    assert service.lanes.sent == []


def test_unanswered_change_is_a_503(service: Service):
    path = put(service, a_task())
    service.store.apply_answer = lambda change: Unknown("throttled")

    response = patch(service, path, {"delay": 1})

    assert (response.status, service.store.writes, service.lanes.sent) == (503, ["apply"], [])


def test_change_whose_answer_was_lost_while_the_task_started_is_a_200(service: Service):
    """The SDK repeats the write, and finds the task that its first try had changed running."""
    path = put(service, a_sent_task())
    store = service.store._store

    def applied_and_started(change: Change) -> Answer:
        [answer] = store.apply([change])
        assert isinstance(answer, Applied)
        delivery = delivery_of(answer.stored, NOW)
        [started] = store.apply([lease(delivery, now=NOW + MINUTE, holder="holder")])
        return Refused(started.stored)

    service.store.apply_answer = applied_and_started

    response = patch(service, path, {"delay": 1, "payload": "new"})

    assert (response.status, response.body["status"]) == (200, "RUNNING")
    assert response.body["payload"] == "new"
    assert service.lanes.sent == [], "the task runs already"


def test_task_that_is_deleted_meanwhile_is_a_404(service: Service):
    path = put(service, a_task())
    service.store.apply_answer = lambda change: Refused(None)

    assert patch(service, path, {"delay": 1}).status == 404


def test_change_as_it_goes_over_the_wire(service: Service):
    made = service.submit(delay=3600, payload=1).body

    answer = json.loads(patch(service, f"/v1/tasks/{made['id']}", {"payload": [2]}).encoded())

    assert answer == {**made, "payload": [2]}
    assert answer["target"] == PYTHON
