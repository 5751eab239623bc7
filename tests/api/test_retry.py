"""POST /v1/tasks/{id}/retry."""

from typing import Any

import pytest

from duetime.core.change import Answer, Change, Refused, Unknown
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status
from duetime.core.steps.revive import revive
from duetime.core.task import Task
from duetime.core.times import MINUTE, rfc3339
from tests.api.dead import TRACEBACK, a_dead_task, bury
from tests.api.service import Service, refusal
from tests.factories import NOW, WAKE_POLICY, a_draw, a_task


def retry(service: Service, task_id: str, body: Any = b"", **options: Any) -> Any:
    return service.call("POST", f"/v1/tasks/{task_id}/retry", body, **options)


def test_dead_task_is_retried_at_once(any_service: Service):
    task = a_dead_task(attempt=5)
    bury(any_service, task)
    any_service.clock.advance(MINUTE)

    response = retry(any_service, task.id)

    assert response.status == 200
    assert (response.body["status"], response.body["attempt"]) == ("RETRYING", 5)
    assert response.body["due_at"] == rfc3339(NOW + MINUTE)
    assert response.body["finished_at"] is None
    assert any_service.get(f"/v1/tasks/{task.id}").body == response.body
    revived = any_service.store.get([task.id])[task.id]
    assert revived.budget == 10
    assert [d.token for d in any_service.lanes.sent] == [revived.token]
    assert revived.token != task.token


def test_retried_task_keeps_its_last_error(any_service: Service):
    [task_id] = bury(any_service, a_dead_task(attempt=2))

    assert retry(any_service, task_id).body["error"] == {
        "type": "ValueError",
        "message": "no such day",
        "traceback": TRACEBACK,
        "attempt": 2,
    }


@pytest.mark.parametrize("body", [b"", b" \n", b"{}", b" { } "], ids=repr)
def test_retry_needs_no_body(service: Service, body: bytes):
    [task_id] = bury(service, a_dead_task())

    assert retry(service, task_id, body).status == 200


def test_retry_without_a_body_needs_no_media_type(service: Service):
    [task_id] = bury(service, a_dead_task())

    assert retry(service, task_id, headers={"content-type": ""}).status == 200


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"delay": 5}, {"delay": "unknown field"}),
        ({"a": 1, "b": 2}, {"a": "unknown field", "b": "unknown field"}),
        *((body, {"body": "must be an object"}) for body in (None, [], "", 1, True)),
    ],
    ids=str,
)
def test_any_other_body_is_refused(service: Service, body: Any, errors: dict[str, str]):
    [task_id] = bury(service, a_dead_task())

    assert refusal(retry(service, task_id, body)) == errors
    assert service.store.writes == []


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [(b"{", "application/json", 400), (b"{}", "text/plain", 415), (b"{}", "", 415)],
)
def test_a_body_must_be_json(service: Service, body: bytes, content_type: str, status: int):
    [task_id] = bury(service, a_dead_task())

    response = retry(service, task_id, body, headers={"content-type": content_type})

    assert response.status == status
    assert service.store.writes == []


def test_a_query_is_refused(service: Service):
    [task_id] = bury(service, a_dead_task())

    assert refusal(retry(service, task_id, query={"now": "1"})) == {"now": "unknown parameter"}


ADVICE = {
    Status.PENDING: "It will run when it is due.",
    Status.ENQUEUED: "It will run when it is due.",
    Status.RETRYING: "It will run when it is due.",
    Status.WAITING: "It will run when its earlier steps have ended.",
    Status.RUNNING: "Wait for its end, or cancel it.",
    Status.SUCCEEDED: "It is final; submit the work again as a new task.",
    Status.CANCELLED: "It is final; submit the work again as a new task.",
    Status.EXPIRED: "It is final; submit the work again as a new task.",
}


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.DEAD}))
def test_task_that_is_not_dead_cannot_be_retried(any_service: Service, status: Status):
    task = a_task(status=status)
    bury(any_service, task)

    response = retry(any_service, task.id)

    said = f"Task {task.id} is {status} and only a DEAD task can be retried. {ADVICE[status]}"
    assert response.body == {
        "type": "urn:duetime:problem:state-conflict",
        "title": "The task cannot be retried",
        "status": 409,
        "detail": said,
    }
    assert any_service.store.writes == []
    assert any_service.lanes.sent == []


def test_second_retry_is_refused(any_service: Service):
    [task_id] = bury(any_service, a_dead_task())

    answers = [retry(any_service, task_id) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 409]
    assert "is RETRYING" in answers[1].body["detail"]
    assert len(any_service.lanes.sent) == 1


def overtaken(service: Service, change: Change) -> None:
    """Makes this change between the read and the write of the API."""

    def answer(ours: Change) -> Answer | None:
        if ours is not change:
            service.store.apply([change])
        return None

    service.store.apply_answer = answer


def another_revival(task: Task) -> Change:
    return revive(WAKE_POLICY, task, now=NOW, draw=a_draw())


def test_of_two_concurrent_retries_one_succeeds(any_service: Service):
    task = a_dead_task()
    bury(any_service, task)
    theirs = another_revival(task)
    overtaken(any_service, theirs)

    response = retry(any_service, task.id)

    assert response.status == 409
    assert f"Task {task.id} is RETRYING" in response.body["detail"]
    assert any_service.store.get([task.id])[task.id].token == theirs.sets["token"]
    assert any_service.lanes.sent == []


def test_second_retry_does_not_revive_a_task_that_died_again(service: Service):
    task = a_dead_task()
    bury(service, task)
    again = a_dead_task(id=task.id, attempt=6)
    service.store.apply_answer = lambda change: Refused(again)

    response = retry(service, task.id)

    assert response.status == 409
    assert "Another request has just retried it, and it died again" in response.body["detail"]
    assert service.store.writes == ["apply"]


def test_retry_of_a_task_deleted_meanwhile_is_a_404(service: Service):
    [task_id] = bury(service, a_dead_task())
    service.store.apply_answer = lambda change: Refused(None)

    assert retry(service, task_id).status == 404


def test_unanswered_retry_is_a_503(service: Service):
    [task_id] = bury(service, a_dead_task())
    service.store.apply_answer = lambda change: Unknown("throttled")

    response = retry(service, task_id)

    assert (response.status, response.headers["retry-after"]) == (503, "1")
    assert service.lanes.sent == []


def test_delivery_that_the_lane_refuses_is_left_to_the_scanner(any_service: Service):
    [task_id] = bury(any_service, a_dead_task())
    any_service.lanes.refuses = True

    assert retry(any_service, task_id).status == 200

    task = any_service.store.get([task_id])[task_id]
    assert (task.status, task.wake.kind, task.wake.at) == (Status.RETRYING, "d", NOW)


@pytest.mark.parametrize("error", [Unavailable("gone"), RuntimeError("no such queue")], ids=str)
def test_delivery_that_fails_is_left_to_the_watch(service: Service, error: Exception):
    """It is revived: a problem would say that it is not."""
    [task_id] = bury(service, a_dead_task())
    service.lanes.fails = error

    response = retry(service, task_id)

    assert (response.status, response.body["status"]) == (200, "RETRYING")
    task = service.store.get([task_id])[task_id]
    assert task.wake is not None
    assert task.wake.kind == "w"
