"""POST /v1/tasks/shift: new due times, keys of repeated calls, the past."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.api.bulk import UNANSWERED
from duetime.api.bulk_actions import IN_THE_PAST
from duetime.core.change import Answer, Change, Refused, Unknown
from duetime.core.occurrence import Occurrence
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, YEAR
from tests.api.bulk import GROWTH, TAG, answer, call, done, due_times, put, starts, tagged
from tests.api.change import a_retrying_task
from tests.api.dead import statuses
from tests.api.races import meanwhile
from tests.api.service import Service, refusal
from tests.factories import NOW, a_sent_task, a_spec


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
