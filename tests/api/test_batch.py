from typing import Any

import pytest

from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from tests.api.service import PYTHON, Service, refusal

TASK = {"target": PYTHON}


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_batch_answers_for_each_task_in_order(any_service: Service, size: int):
    response = any_service.batch(*({**TASK, "name": str(n)} for n in range(size)))

    assert response.status == 200
    assert list(response.body) == ["results"]
    results = response.body["results"]
    assert [(r["status"], r["task"]["name"]) for r in results] == [
        (201, str(n)) for n in range(size)
    ]
    assert len(any_service.stored()) == len(any_service.lanes.sent) == size


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"tasks": []}, {"tasks": "must have at least 1 entry"}),
        ({"tasks": [TASK] * 101}, {"tasks": "must have at most 100 entries"}),
        ({"tasks": TASK}, {"tasks": "must be a list"}),
        ({"tasks": None}, {"tasks": "must be a list"}),
        ({}, {"tasks": "required"}),
        ({"tasks": [TASK], "namespace": "x"}, {"namespace": "unknown field"}),
        ([TASK], {"body": "must be an object"}),
        (None, {"body": "must be an object"}),
    ],
    ids=lambda value: f"{value!s:.50}",
)
def test_bad_batch_is_refused_as_a_whole(service: Service, body: Any, errors: dict[str, str]):
    assert refusal(service.call("POST", "/v1/tasks/batch", body)) == errors
    assert service.store.writes == []


def test_a_bad_task_fails_alone(any_service: Service):
    results = any_service.batch(
        {**TASK, "name": "first"},
        {**TASK, "timeout": 0},
        "no task at all",
        {"target": {"type": "python", "handler": "nobody"}},
        {**TASK, "payload": "x" * (256 * 1024)},
        {**TASK, "name": "last"},
    ).body["results"]

    assert [result["status"] for result in results] == [201, 422, 422, 422, 413, 201]
    assert [task.spec.name for task in any_service.stored()] == ["last", "first"]


def test_the_error_of_a_bad_task_is_a_problem(service: Service):
    [result] = service.batch({**TASK, "timeout": 0}).body["results"]

    assert result == {"status": 422, "error": service.submit(timeout=0).body}


def test_a_batch_of_bad_tasks_writes_nothing(service: Service):
    assert service.batch(None, {}, {**TASK, "unheard_of": 1}).status == 200
    assert service.store.writes == []
    assert service.stored() == []


def test_batch_refuses_an_idempotency_key_header(service: Service):
    headers = {"idempotency-key": "order-1"}

    response = service.call("POST", "/v1/tasks/batch", {"tasks": [TASK]}, headers=headers)

    assert refusal(response) == {"Idempotency-Key": "a batch takes keys per task, in the body"}
    assert service.store.writes == []


def test_unanswered_write_is_a_503_for_that_task_only(service: Service):
    service.store.put_answer = lambda task: Unknown("?") if task.spec.name == "lost" else None

    results = service.batch({**TASK, "name": "lost"}, {**TASK, "name": "kept"}).body["results"]

    assert [result["status"] for result in results] == [503, 201]
    assert results[0]["error"]["type"] == "urn:duetime:problem:unavailable"
    assert [delivery.task_id for delivery in service.lanes.sent] == [results[1]["task"]["id"]]


def test_unanswered_key_reservation_is_a_503(service: Service, monkeypatch: pytest.MonkeyPatch):
    def unreached(*arguments: object) -> None:
        raise Unavailable("throttled")

    monkeypatch.setattr(service.store, "reserve", unreached)

    assert service.batch({**TASK, "idempotency_key": "order-1"}).status == 503
    assert service.stored() == []


def test_a_refused_delivery_does_not_fail_its_task(service: Service):
    service.lanes.refuses = True

    results = service.batch(TASK, TASK).body["results"]

    assert [result["status"] for result in results] == [201, 201]
    assert [task.status for task in service.stored()] == ["PENDING", "PENDING"]
