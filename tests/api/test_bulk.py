"""POST /v1/tasks/cancel, /v1/tasks/retry and /v1/tasks/shift."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duetime.api import bulk
from duetime.api.bulk import UNANSWERED
from duetime.api.bulk_actions import IN_THE_PAST, TRIES
from duetime.api.http import CONTENTION, Response
from duetime.core.change import Answer, Change, Refused, Unknown, Unreadable
from duetime.core.delivery import delivery_of
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status, Step
from duetime.core.occurrence import Occurrence
from duetime.core.ports import Listing, Page
from duetime.core.steps.claim import claim
from duetime.core.steps.defer import Deferral, defer
from duetime.core.steps.lease import lease
from duetime.core.task import Task
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, YEAR
from tests.api.dead import a_dead_task, bury, statuses
from tests.api.service import Service, refusal
from tests.api.test_change import a_retrying_task
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_sent_task, a_spec, a_task

GROWTH = {"team": "growth"}
TAG = "team:growth"
OPERATIONS: dict[str, dict[str, Any]] = {"cancel": {}, "retry": {}, "shift": {"by": 60}}


def call(service: Service, operation: str, body: Any = None, **fields: Any) -> Response:
    return service.call("POST", f"/v1/tasks/{operation}", fields if body is None else body)


def done(service: Service, operation: str, **fields: Any) -> dict[str, Any]:
    response = call(service, operation, **fields)
    assert response.status == 200, response.body
    return response.body


def answer(matched: int, *left: tuple[str, str], **others: Any) -> dict[str, Any]:
    body = {
        "matched": matched,
        "changed": matched - len(left),
        "dry_run": False,
        "not_changed": [{"id": task_id, "reason": reason} for task_id, reason in left],
        "next_cursor": None,
    }
    return body | others


def tagged(count: int, **spec: Any) -> list[Task]:
    return [a_task(spec=a_spec(tags=GROWTH, **spec)) for _ in range(count)]


def put(service: Service, *tasks: Task) -> list[str]:
    for start in range(0, len(tasks), 100):
        service.store.put(tasks[start : start + 100])
    service.store.writes.clear()
    return [task.id for task in tasks]


def due_times(service: Service, ids: list[str]) -> list[int]:
    found = service.store.get(ids)
    return [found[task_id].due_at - NOW for task_id in ids]


def meanwhile(service: Service, *writes: Callable[[Task], Change | None]) -> None:
    """Makes one of these writes just before each of the next writes of the API."""
    left = list(writes)

    def overtake(change: Change) -> Answer | None:
        if left and (write := left.pop(0)(service.store.get([change.task_id])[change.task_id])):
            service.store._store.apply([write])
        return None

    service.store.apply_answer = overtake


def starts(task: Task) -> Change:
    return lease(delivery_of(task, NOW), now=task.due_at, holder="holder")


def retagged(task: Task) -> Change:
    wanted = Deferral(spec=replace(task.spec, tags={"team": "other"}), due_at=task.due_at)
    return defer(WAKE_POLICY, task, wanted, now=NOW, draw=a_draw())


# Which tasks


def test_tagged_tasks_are_cancelled_after_a_dry_run(any_service: Service):
    ids = put(any_service, *tagged(3))
    [other] = put(any_service, a_task(spec=a_spec(tags={"team": "shop"})))

    dry = done(any_service, "cancel", tag=TAG, status=["PENDING"], dry_run=True)
    assert dry == answer(3, dry_run=True)
    assert any_service.store.writes == []
    assert done(any_service, "cancel", tag=TAG, status=["PENDING"]) == answer(3)

    assert statuses(any_service, [*ids, other]) == ["CANCELLED"] * 3 + ["PENDING"]
    assert done(any_service, "cancel", tag=TAG) == answer(0), "a repeated call finds nothing"


def test_1204_tagged_tasks_are_cancelled_in_two_calls(service: Service):
    ids = put(service, *tagged(1_204))
    [other] = put(service, a_task())

    first = done(service, "cancel", tag=TAG)
    assert (first["matched"], first["changed"]) == (1_000, 1_000)
    assert done(service, "cancel", tag=TAG, cursor=first["next_cursor"]) == answer(204)

    assert set(statuses(service, ids)) == {"CANCELLED"}
    assert statuses(service, [other]) == ["PENDING"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_call_goes_on_at_a_cursor(any_service: Service, operation: str):
    tasks = [a_dead_task(tags=GROWTH) for _ in range(5)] if operation == "retry" else tagged(5)
    ids = put(any_service, *tasks)
    fields = {**OPERATIONS[operation], "tag": TAG, "limit": 2}

    counts, cursor = [], None
    while not counts or cursor:
        part = done(any_service, operation, **fields, **({"cursor": cursor} if cursor else {}))
        counts.append(part["changed"])
        cursor = part["next_cursor"]

    assert sum(counts) == 5
    assert max(counts) == 2
    expected = {"cancel": {"CANCELLED"}, "retry": {"RETRYING"}, "shift": {"PENDING"}}
    assert set(statuses(any_service, ids)) == expected[operation]
    if operation == "shift":
        assert set(due_times(any_service, ids)) == {HOUR + MINUTE}


def test_every_field_of_the_list_selects(any_service: Service):
    wanted = a_task(spec=a_spec(namespace="shop", name="mail 1", tags=GROWTH))
    put(any_service, wanted, a_task(spec=a_spec(name="mail 2", tags=GROWTH)))

    for fields in (
        {"namespace": "shop"},
        {"namespace": "*", "tag": TAG, "name": "mail 1"},
        {"namespace": "shop", "name": "mail", "handler": "reports.daily", "target": "python"},
    ):
        assert done(any_service, "cancel", **fields, dry_run=True)["matched"] == 1, fields


def test_task_that_is_submitted_during_the_run_is_not_reached(any_service: Service):
    put(any_service, *tagged(3))
    first = done(any_service, "cancel", tag=TAG, limit=2)
    any_service.clock.advance(SECOND)
    later = any_service.submit(tags=GROWTH, delay=600).body["id"]

    rest = done(any_service, "cancel", tag=TAG, limit=2, cursor=first["next_cursor"])

    assert (rest["changed"], rest["next_cursor"]) == (1, None)
    assert statuses(any_service, [later]) == ["PENDING"]


# Refused requests


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("body", [{}, {"upcoming": True}, {"namespace": "*"}, {"dry_run": True}])
def test_empty_filter_is_refused(service: Service, operation: str, body: dict[str, Any]):
    put(service, a_task(), a_dead_task())

    refused = refusal(call(service, operation, {**body, **OPERATIONS[operation]}))

    assert refused["body"].startswith("give a filter: ")
    assert service.store.writes == []


@pytest.mark.parametrize(
    ("operation", "status", "message"),
    [
        ("cancel", "DEAD", "PENDING, ENQUEUED, RUNNING, RETRYING, WAITING can be cancelled"),
        ("retry", "PENDING", "DEAD can be retried"),
        ("shift", "RUNNING", "PENDING, ENQUEUED, RETRYING can be shifted"),
    ],
)
def test_status_that_can_match_nothing_is_refused(
    service: Service, operation: str, status: str, message: str
):
    fields = {**OPERATIONS[operation], "status": [status]}

    assert refusal(call(service, operation, fields)) == {"status": f"only a task that is {message}"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"tags": TAG}, "tags"),
        ({"by": 5}, "by"),
        ({"limit": 1_001}, "limit"),
        ({"limit": 0}, "limit"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"cursor": 5}, "cursor"),
        ({"dry_run": "yes"}, "dry_run"),
        ({"status": "LATE"}, "status"),
        ({"target": 5}, "target"),
        ({"tag": []}, "tag"),
        ({"created_since": "today"}, "created_since"),
        ({"idempotency_key": "k"}, "idempotency_key"),
    ],
)
def test_bad_field_of_a_bulk_operation_is_refused(
    service: Service, fields: dict[str, Any], field: str
):
    assert list(refusal(call(service, "cancel", {"tag": TAG, **fields}))) == [field]
    assert list(refusal(service.call("POST", "/v1/tasks/cancel", {}, query={"x": "1"}))) == ["x"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_unknown_target_type_of_a_bulk_operation_is_refused(service: Service, operation: str):
    refused = refusal(call(service, operation, {"target": "typo", **OPERATIONS[operation]}))

    assert list(refused) == ["target"]
    assert refused["target"].startswith("must be one of http, python, dynamodb, ")


@pytest.mark.parametrize("by", [0, 0.0001, 10 * YEAR, -10 * YEAR, "1h", None, True])
def test_shift_by_nothing_or_too_much_is_refused(service: Service, by: Any):
    put(service, *tagged(1))

    assert list(refusal(call(service, "shift", {"tag": TAG, "by": by}))) == ["by"]
    assert service.store.writes == []


# Cancel


def test_cancel_ends_what_waits_and_asks_what_runs_to_stop(any_service: Service):
    tasks = [
        *tagged(1),
        a_sent_task(spec=a_spec(run_at=NOW, tags=GROWTH)),
        replace(a_retrying_task(), spec=a_spec(run_at=NOW, tags=GROWTH)),
        a_running_task(spec=a_spec(run_at=NOW, tags=GROWTH)),
        a_task(spec=a_spec(tags=GROWTH), status=Status.SUCCEEDED, wake=None),
        a_dead_task(tags=GROWTH),
    ]
    ids = put(any_service, *tasks)

    assert done(any_service, "cancel", tag=TAG) == answer(4)

    after = ["CANCELLED", "CANCELLED", "CANCELLED", "RUNNING", "SUCCEEDED", "DEAD"]
    assert statuses(any_service, ids) == after
    assert any_service.store.get(ids)[ids[3]].cancel_requested
    assert done(any_service, "cancel", tag=TAG) == answer(0), "it is already asked to stop"


def test_task_that_starts_meanwhile_is_asked_to_stop(any_service: Service):
    [task_id] = put(any_service, a_sent_task(spec=a_spec(run_at=NOW, tags=GROWTH)))
    meanwhile(any_service, starts)

    assert done(any_service, "cancel", tag=TAG) == answer(1)

    assert any_service.store.get([task_id])[task_id].cancel_requested


def test_task_that_starts_meanwhile_is_left_alone_if_the_filter_names_its_status(
    any_service: Service,
):
    [task_id] = put(any_service, a_sent_task(spec=a_spec(run_at=NOW, tags=GROWTH)))
    meanwhile(any_service, starts)

    body = done(any_service, "cancel", tag=TAG, status="ENQUEUED")

    assert body == answer(1, (task_id, "it is RUNNING"))
    assert not any_service.store.get([task_id])[task_id].cancel_requested


def test_task_whose_tags_change_meanwhile_is_left_alone(any_service: Service):
    ids = put(any_service, *tagged(2))
    meanwhile(any_service, retagged, retagged)

    body = done(any_service, "cancel", tag=TAG)

    assert {entry["reason"] for entry in body["not_changed"]} == {"its tags changed"}
    assert statuses(any_service, ids) == ["PENDING"] * 2


def test_task_that_is_claimed_meanwhile_is_cancelled(any_service: Service):
    [task_id] = put(any_service, *tagged(1))

    def claimed(task: Task) -> Change:
        assert task.wake is not None
        return claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw())

    meanwhile(any_service, claimed)

    assert done(any_service, "cancel", tag=TAG, status="PENDING") == answer(1)
    assert statuses(any_service, [task_id]) == ["CANCELLED"]


def test_cancel_gives_up_on_a_task_that_others_keep_changing(service: Service):
    task, *rest = tagged(3)
    put(service, task, *rest)
    tried = []

    def refuse(change: Change) -> Answer | None:
        if change.task_id != task.id:
            return None
        tried.append(change)
        return Refused(task)

    service.store.apply_answer = refuse

    assert done(service, "cancel", tag=TAG) == answer(3, (task.id, CONTENTION))
    assert len(tried) == TRIES


# Retry


def test_dead_tasks_are_retried_by_filter(any_service: Service):
    ids = bury(any_service, *(a_dead_task(tags=GROWTH) for _ in range(3)), a_dead_task())

    assert done(any_service, "retry", tag=TAG, dry_run=True) == answer(3, dry_run=True)
    assert any_service.store.writes == []
    assert done(any_service, "retry", tag=TAG, status="DEAD") == answer(3)

    assert statuses(any_service, ids) == ["RETRYING"] * 3 + ["DEAD"]
    assert sorted(d.task_id for d in any_service.lanes.sent) == sorted(ids[:3])
    assert done(any_service, "retry", tag=TAG) == answer(0)


def test_task_that_another_request_retries_meanwhile_is_reported(service: Service):
    task = a_dead_task(tags=GROWTH)
    bury(service, task)
    service.store.apply_answer = lambda _: Refused(replace(task, status=Status.RETRYING))

    assert done(service, "retry", tag=TAG) == answer(1, (task.id, "it is RETRYING"))


# Shift


def test_tagged_tasks_are_moved_by_an_hour(any_service: Service):
    tasks = [
        *tagged(1, jitter=30.0, payload={"order": "x" * 3_000}),
        a_sent_task(spec=a_spec(run_at=NOW + MINUTE, tags=GROWTH)),
        replace(a_retrying_task(), spec=a_spec(run_at=NOW, tags=GROWTH)),
    ]
    ids = put(any_service, *tasks, *tagged(1, namespace="shop"))

    assert done(any_service, "shift", tag=TAG, by=3_600) == answer(3)

    assert due_times(any_service, ids) == [2 * HOUR, HOUR + MINUTE, 2 * HOUR, HOUR]
    after = any_service.store.get(ids)
    assert statuses(any_service, ids) == ["PENDING", "PENDING", "RETRYING", "PENDING"]
    assert after[ids[0]].spec.run_at == NOW + 2 * HOUR
    assert after[ids[0]].spec.payload == {"order": "x" * 3_000}
    for before in tasks:
        assert after[before.id].token != before.token
    [refused] = any_service.store.apply([starts(tasks[1])])
    assert isinstance(refused, Refused), "the message of the old time starts nothing"


def test_shift_towards_now_sends_what_is_due_soon(any_service: Service):
    [task_id] = put(any_service, *tagged(1))

    assert done(any_service, "shift", tag=TAG, by=-3_599.5) == answer(1)

    assert due_times(any_service, [task_id]) == [SECOND // 2]
    assert [d.task_id for d in any_service.lanes.sent] == [task_id]


def test_repeated_shift_with_its_key_moves_no_task_twice(any_service: Service):
    ids = put(any_service, *tagged(3))
    shift = {"tag": TAG, "by": 3_600, "idempotency_key": "move-1"}
    first = done(any_service, "shift", **shift, limit=2)
    assert first["changed"] == 2

    again = done(any_service, "shift", **shift)

    assert again == answer(3), "the answer counts what this shift has moved before"
    assert due_times(any_service, ids) == [2 * HOUR] * 3
    writes = len(any_service.store.writes)
    assert done(any_service, "shift", **shift) == answer(3)
    assert len(any_service.store.writes) == writes


def test_shift_whose_answer_was_lost_moves_no_task_twice(any_service: Service):
    ids = put(any_service, *tagged(3))
    lost = iter([Unknown("lost")])

    def lose(change: Change) -> Answer | None:
        answer = next(lost, None)
        if answer is not None:
            any_service.store._store.apply([change])
        return answer

    any_service.store.apply_answer = lose
    body = {"tag": TAG, "by": 60}

    def shift() -> dict[str, Any]:
        response = any_service.call(
            "POST", "/v1/tasks/shift", body, headers={"idempotency-key": "k"}
        )
        assert response.status == 200
        return response.body

    assert [entry["reason"] for entry in shift()["not_changed"]] == [UNANSWERED]
    assert shift() == answer(3)
    assert due_times(any_service, ids) == [HOUR + MINUTE] * 3


def test_mark_of_a_shift_outlasts_a_change_and_other_shifts(any_service: Service):
    [task_id] = put(any_service, *tagged(1))
    first = {"tag": TAG, "by": 60, "idempotency_key": "first"}
    done(any_service, "shift", **first)
    any_service.call("PATCH", f"/v1/tasks/{task_id}", {"payload": 1})
    for key in "abc":
        done(any_service, "shift", tag=TAG, by=60, idempotency_key=key)

    assert done(any_service, "shift", **first) == answer(1)

    assert due_times(any_service, [task_id]) == [HOUR + 4 * MINUTE]


def test_shift_without_a_key_moves_each_time(service: Service):
    ids = put(service, *tagged(1))
    for _ in range(2):
        done(service, "shift", tag=TAG, by=60)
    assert due_times(service, ids) == [HOUR + 2 * MINUTE]


def test_shift_takes_its_key_once(service: Service):
    body = {"tag": TAG, "by": 60, "idempotency_key": "k"}
    response = service.call("POST", "/v1/tasks/shift", body, headers={"idempotency-key": "k"})
    assert list(refusal(response)) == ["idempotency_key"]


def test_task_that_would_be_due_in_the_past_is_reported_and_the_others_are_moved(
    any_service: Service,
):
    soon, later = put(any_service, *tagged(1), *tagged(1, run_at=NOW + DAY))

    body = done(any_service, "shift", tag=TAG, by=-7_200)

    assert body == answer(2, (soon, IN_THE_PAST))
    assert due_times(any_service, [soon, later]) == [HOUR, DAY - 2 * HOUR]


@pytest.mark.parametrize("dry_run", [False, True])
def test_shift_that_moves_every_task_into_the_past_is_refused(any_service: Service, dry_run: bool):
    ids = put(any_service, *tagged(2))

    refused = refusal(call(any_service, "shift", tag=TAG, by=-7_200, dry_run=dry_run))

    assert refused == {"by": "would put every matching task (2) into the past"}
    assert due_times(any_service, ids) == [HOUR, HOUR]
    assert any_service.store.writes == []


def test_task_that_cannot_be_shifted_is_reported(any_service: Service):
    occurrence = Occurrence(schedule_id="s", scheduled_for=NOW, version=1)
    run, expiring, far, stopping = put(
        any_service,
        *tagged(1, occurrence=occurrence),
        *tagged(1, expires_at=NOW + HOUR + MINUTE),
        *tagged(1, run_at=NOW + 10 * YEAR),
        replace(a_retrying_task(cancel_requested=True), spec=a_spec(run_at=NOW, tags=GROWTH)),
    )

    body = done(any_service, "shift", tag=TAG, by=60)

    reasons = {entry["id"]: entry["reason"] for entry in body["not_changed"]}
    assert (body["matched"], body["changed"]) == (4, 0)
    assert "is a run of a schedule that has not started" in reasons[run]
    assert reasons[expiring].startswith("it expires before it would be due, at 2026-")
    assert reasons[far] == "it would be due more than 10 years ahead"
    assert "is being cancelled" in reasons[stopping]


def test_task_that_starts_meanwhile_is_not_shifted(any_service: Service):
    [task_id] = put(any_service, a_sent_task(spec=a_spec(run_at=NOW, tags=GROWTH)))
    meanwhile(any_service, starts)

    assert done(any_service, "shift", tag=TAG, by=60) == answer(1, (task_id, "it is RUNNING"))


# Limits of a call


def test_call_stops_with_a_cursor_when_its_time_is_used_up(service: Service, monkeypatch: Any):
    monkeypatch.setattr(bulk, "BATCH", 2)
    ids = put(service, *tagged(6))
    service.store.apply_answer = lambda _: service.clock.advance(2 * SECOND)

    first = done(service, "cancel", tag=TAG)

    assert (first["changed"], first["next_cursor"] is None) == (4, False)
    assert done(service, "cancel", tag=TAG, cursor=first["next_cursor"]) == answer(2)
    assert set(statuses(service, ids)) == {"CANCELLED"}


def test_call_ends_early_if_the_store_stops_answering(service: Service, monkeypatch: Any):
    monkeypatch.setattr(bulk, "BATCH", 2)
    put(service, *tagged(4))
    pages = [service.store.page]

    def page(listing: Listing) -> Page:
        if not pages:
            raise Unavailable("no answer")
        return pages.pop()(listing)

    service.store.page = page

    first = done(service, "cancel", tag=TAG)

    assert (first["changed"], first["next_cursor"] is None) == (2, False)
    assert call(service, "cancel", tag=TAG).status == 503


def test_call_stops_after_a_write_without_an_answer_and_reports_it(
    service: Service, monkeypatch: Any
):
    monkeypatch.setattr(bulk, "BATCH", 2)
    ids = put(service, *tagged(4))
    answers: dict[str, Answer] = {ids[3]: Unknown("lost"), ids[2]: Unreadable("broken")}
    service.store.apply_answer = lambda change: answers.get(change.task_id)

    first = done(service, "cancel", tag=TAG)

    left = [(ids[3], UNANSWERED), (ids[2], bulk.UNREADABLE)]
    assert first == answer(2, *left, next_cursor=first["next_cursor"])
    assert done(service, "cancel", tag=TAG, cursor=first["next_cursor"]) == answer(2)


def test_one_write_is_made_for_each_task(service: Service):
    ids = put(service, *tagged(3))
    seen: list[tuple[Step, str]] = []

    def note(change: Change) -> None:
        seen.append((change.step, change.task_id))

    service.store.apply_answer = note
    done(service, "cancel", tag=TAG)

    assert sorted(seen) == sorted((Step.CANCEL, task_id) for task_id in ids)
