"""What POST /v1/tasks/cancel, /v1/tasks/retry and /v1/tasks/shift share, and retry."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.api import bulk
from duetime.api.bulk import UNANSWERED
from duetime.core.change import Answer, Change, Refused, Unknown, Unreadable
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status, Step
from duetime.core.listings import Listing, Page
from duetime.core.times import HOUR, MINUTE, SECOND, YEAR
from tests.api.bulk import GROWTH, OPERATIONS, TAG, answer, call, done, due_times, put, tagged
from tests.api.dead import a_dead_task, bury, statuses
from tests.api.service import Service, refusal
from tests.factories import a_spec, a_task

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
