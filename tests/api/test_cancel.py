from dataclasses import replace

import pytest

from duetime.core.change import Refused, Unknown
from duetime.core.delivery import delivery_of
from duetime.core.lifecycle import FINISHED, Status
from duetime.core.steps.lease import lease
from duetime.core.steps.record import succeed
from duetime.core.task import Task
from tests.api.races import overtaken_by
from tests.api.service import Service, refusal
from tests.factories import NOW, a_running_task, a_sent_task, a_task


def put(service: Service, task: Task) -> str:
    service.store.put([task])
    service.store.writes.clear()
    return f"/v1/tasks/{task.id}"


@pytest.mark.parametrize(
    "status", [Status.PENDING, Status.ENQUEUED, Status.RETRYING, Status.WAITING]
)
def test_task_that_is_not_running_is_cancelled_at_once(any_service: Service, status: Status):
    path = put(any_service, a_task(status=status))
    any_service.clock.advance(1_000)

    response = any_service.call("DELETE", path)

    assert (response.status, response.body["status"]) == (200, "CANCELLED")
    assert response.body["finished_at"] == response.body["updated_at"]
    assert any_service.get(path).body == response.body
    [task] = any_service.stored()
    assert task.wake is None


def test_running_task_is_requested_to_cancel(any_service: Service):
    path = put(any_service, a_running_task())

    response = any_service.call("DELETE", path)

    assert response.status == 202
    assert (response.body["status"], response.body["cancel_requested"]) == ("RUNNING", True)


def test_second_cancel_of_a_running_task_is_accepted(service: Service):
    path = put(service, a_running_task())
    service.call("DELETE", path)

    assert service.call("DELETE", path).status == 202


@pytest.mark.parametrize("status", sorted(FINISHED))
def test_finished_task_is_not_changed_by_a_cancel(any_service: Service, status: Status):
    task = a_task(status=status, wake=None, cancel_requested=status is Status.CANCELLED)
    path = put(any_service, task)

    response = any_service.call("DELETE", path)

    assert response.body == {
        "type": "urn:duetime:problem:state-conflict",
        "title": "The task is finished",
        "status": 409,
        "detail": f"Task {task.id} is {status} and cannot be cancelled.",
    }
    assert any_service.store.writes == []


def test_a_cancelled_task_is_finished(service: Service):
    path = put(service, a_task())
    service.call("DELETE", path)

    assert service.call("DELETE", path).status == 409


def test_a_query_is_refused(service: Service):
    path = put(service, a_task())

    response = service.call("DELETE", path, query={"force": "1"})

    assert refusal(response) == {"force": "unknown parameter"}
    assert service.store.writes == []


def test_task_that_starts_during_its_cancel_is_requested_to_cancel(any_service: Service):
    task = a_sent_task()
    path = put(any_service, task)
    overtaken_by(any_service, lease(delivery_of(task, NOW), now=task.due_at, holder="holder"))

    response = any_service.call("DELETE", path)

    assert (response.status, response.body["status"]) == (202, "RUNNING")


def test_task_that_ends_during_its_cancel_is_not_changed(any_service: Service):
    task = a_running_task()
    path = put(any_service, task)
    overtaken_by(any_service, succeed(task, result=None, now=NOW))

    response = any_service.call("DELETE", path)

    assert (response.status, response.body["title"]) == (409, "The task is finished")
    assert "SUCCEEDED" in response.body["detail"]


def test_task_whose_attempt_fails_during_its_cancel_is_cancelled(service: Service):
    """It runs when we look and waits for its next attempt when we write."""
    running = a_running_task()
    path = put(service, replace(running, status=Status.RETRYING))
    stale = iter([running])
    read = service.store.get
    service.store.get = lambda ids: {running.id: next(stale, None) or read(ids)[running.id]}

    response = service.call("DELETE", path)

    assert (response.status, response.body["status"]) == (200, "CANCELLED")


def test_cancel_that_loses_every_race_is_a_503(service: Service):
    task = a_task()
    path = put(service, task)
    service.store.apply_answer = lambda change: Refused(task)

    assert service.call("DELETE", path).status == 503


def test_unanswered_cancel_is_a_503(service: Service):
    path = put(service, a_task())
    service.store.apply_answer = lambda change: Unknown("throttled")

    response = service.call("DELETE", path)

    assert (response.status, response.headers["retry-after"]) == (503, "1")
    assert service.store.writes == ["apply"]
