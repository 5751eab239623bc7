"""GET of one task, of its attempts, of the health."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.core.lifecycle import Outcome, Status
from duetime.core.task import Attempt, Progress, TaskError
from duetime.core.times import SECOND, rfc3339
from tests.api.dead import TRACEBACK, a_dead_task
from tests.api.service import Service, refusal
from tests.factories import NOW, a_running_task, a_task, an_id

FAILED = TaskError(type="HTTPError", message="503")


def an_attempt(number: int, **overrides: Any) -> Attempt:
    fields = {
        "started_at": NOW + number * SECOND,
        "drift_ms": number,
        "finished_at": NOW + number * SECOND + 500,
        "outcome": Outcome.FAILED,
        "error": FAILED,
    }
    return Attempt(number=number, **(fields | overrides))


def test_task_reads_as_it_was_returned_by_submit(any_service: Service):
    body = any_service.submit(name="a").body

    response = any_service.get(f"/v1/tasks/{body['id']}")

    assert (response.status, response.body) == (200, body)


def test_running_task_shows_its_attempt(service: Service):
    task = a_running_task(progress=Progress(fraction=0.5, message="half"))
    service.store.put([task])

    body = service.get(f"/v1/tasks/{task.id}").body

    assert task.current is not None
    assert (body["status"], body["attempt"], body["drift_ms"]) == ("RUNNING", 1, 0)
    assert body["started_at"] == rfc3339(task.current.started_at)
    assert body["progress"] == {"fraction": 0.5, "message": "half"}
    assert (body["finished_at"], body["error"]) == (None, None)


def test_finished_task_shows_how_it_ended(service: Service):
    attempt = an_attempt(1, outcome=Outcome.SUCCEEDED, error=None)
    task = a_running_task(status=Status.SUCCEEDED, wake=None, result='{"sent":3}', current=attempt)
    service.store.put([task])

    body = service.get(f"/v1/tasks/{task.id}").body

    assert (body["status"], body["result"]) == ("SUCCEEDED", {"sent": 3})
    assert body["finished_at"] == body["updated_at"]


def test_dead_task_shows_its_error_and_the_attempt(service: Service):
    task = a_running_task(status=Status.DEAD, wake=None, attempt=5, current=an_attempt(5))
    service.store.put([task])

    error = service.get(f"/v1/tasks/{task.id}").body["error"]

    assert error == {"type": "HTTPError", "message": "503", "traceback": None, "attempt": 5}


def test_error_of_a_handler_has_its_traceback(any_service: Service):
    task = a_dead_task(attempt=2)
    any_service.store.put([task])
    error = {"type": "ValueError", "message": "no such day", "traceback": TRACEBACK}

    path = f"/v1/tasks/{task.id}"

    assert any_service.get(path).body["error"] == {**error, "attempt": 2}
    assert any_service.get(f"{path}/attempts").body["items"][0]["error"] == error


def test_snoozed_attempt_has_the_outcome_snoozed(any_service: Service):
    snoozed = an_attempt(1, outcome=Outcome.SNOOZED, error=None)
    task = a_running_task(status=Status.RETRYING, current=snoozed)
    any_service.store.put([task])

    [attempt] = any_service.get(f"/v1/tasks/{task.id}/attempts").body["items"]

    assert attempt["outcome"] == "snoozed"


STRANGE_IDS = [
    "x",
    "01NOPE",
    "%00",
    "%F0%28",
    "..",
    "a%2Fb",
    "x" * 10_000,
    an_id().lower(),
    an_id(),
]


@pytest.mark.parametrize("task_id", STRANGE_IDS, ids=lambda task_id: task_id[:30])
@pytest.mark.parametrize(
    ("method", "end"),
    [("GET", ""), ("DELETE", ""), ("GET", "/attempts"), ("POST", "/retry")],
    ids=["get", "cancel", "attempts", "retry"],
)
def test_unknown_task_is_a_404(any_service: Service, method: str, end: str, task_id: str):
    response = any_service.call(method, f"/v1/tasks/{task_id}{end}", b"")

    assert response.status == 404
    assert response.body["type"] == "urn:duetime:problem:not-found"
    assert response.body["detail"].startswith("There is no task ")
    assert len(response.encoded()) < 4_000
    assert any_service.store.writes == []


def test_malformed_id_is_not_looked_up(service: Service):
    """DynamoDB would refuse a key as long as this."""
    service.store.get = lambda ids: pytest.fail(f"asked for {ids}")

    assert service.get(f"/v1/tasks/{'x' * 3_000}").status == 404


@pytest.mark.parametrize("path", ["/v1/tasks/{id}", "/v1/tasks/{id}/attempts"])
def test_an_unknown_parameter_is_refused(service: Service, path: str):
    task_id = service.submit().body["id"]

    response = service.get(path.format(id=task_id), verbose="1")

    assert refusal(response) == {"verbose": "unknown parameter"}


def test_a_task_that_has_not_started_has_no_attempts(any_service: Service):
    task_id = any_service.submit().body["id"]

    assert any_service.get(f"/v1/tasks/{task_id}/attempts").body == {
        "items": [],
        "next_cursor": None,
    }


def test_attempts_are_listed_oldest_first_wherever_they_are_stored(any_service: Service):
    task = replace(
        a_running_task(),
        attempt=4,
        current=an_attempt(4, finished_at=None, outcome=None, error=None),
        previous=an_attempt(3, outcome=Outcome.LEASE_EXPIRED),
    )
    any_service.store.put([task])
    for number in (1, 2):
        any_service.store.keep_attempt(task.id, an_attempt(number))

    items = any_service.get(f"/v1/tasks/{task.id}/attempts").body["items"]

    assert [item["number"] for item in items] == [1, 2, 3, 4]
    assert [item["outcome"] for item in items] == ["failed", "failed", "lease_expired", None]
    assert items[0] == {
        "number": 1,
        "started_at": rfc3339(NOW + SECOND),
        "finished_at": rfc3339(NOW + SECOND + 500),
        "outcome": "failed",
        "error": {"type": "HTTPError", "message": "503", "traceback": None},
        "drift_ms": 1,
    }


def test_attempt_that_is_stored_twice_is_listed_once(service: Service):
    task = replace(a_running_task(), attempt=2, current=an_attempt(2), previous=an_attempt(1))
    service.store.put([task])
    service.store.keep_attempt(task.id, an_attempt(1))

    items = service.get(f"/v1/tasks/{task.id}/attempts").body["items"]

    assert [item["number"] for item in items] == [1, 2]


@pytest.mark.parametrize(
    ("limit", "pages"),
    [("1", [[1], [2], [3], [4], [5]]), ("2", [[1, 2], [3, 4], [5]]), ("5", [[1, 2, 3, 4, 5]])],
)
def test_attempts_come_in_pages(service: Service, limit: str, pages: list[list[int]]):
    task = a_running_task(attempt=5, current=an_attempt(5))
    service.store.put([task])
    for number in range(1, 5):
        service.store.keep_attempt(task.id, an_attempt(number))

    read: list[list[int]] = []
    cursor: dict[str, str] = {}
    while not read or cursor:
        page = service.get(f"/v1/tasks/{task.id}/attempts", limit=limit, **cursor).body
        read.append([item["number"] for item in page["items"]])
        cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else {}

    assert read == pages


@pytest.mark.parametrize(
    ("query", "errors"),
    [
        ({"limit": "0"}, {"limit": "must be from 1 to 100"}),
        ({"limit": "101"}, {"limit": "must be from 1 to 100"}),
        ({"cursor": "x"}, {"cursor": "must be a whole number"}),
        ({"cursor": "9" * 50}, {"cursor": "must be a whole number"}),
        ({"status": "DEAD"}, {"status": "unknown parameter"}),
    ],
    ids=str,
)
def test_a_bad_query_for_attempts_is_refused(
    service: Service, query: dict[str, str], errors: dict[str, str]
):
    task = a_task()
    service.store.put([task])

    assert refusal(service.get(f"/v1/tasks/{task.id}/attempts", **query)) == errors


def test_health(service: Service):
    response = service.get("/v1/health")

    assert response.status == 200
    assert response.body == {
        "status": "ok",
        "version": "9.9.9",
        "time": rfc3339(NOW),
        "last_tick_age": None,
        "checks": {"store": "ok"},
    }
