from collections.abc import Iterator
from dataclasses import replace

import pytest

from lambdas.core.change import Answer, Change, Refused, Unknown
from lambdas.core.delivery import delivery_of
from lambdas.core.lifecycle import FINISHED, Status
from lambdas.core.steps.lease import lease
from lambdas.core.steps.record import succeed
from lambdas.core.task import Task
from tests.api.service import Service, refusal
from tests.factories import NOW, a_running_task, a_sent_task, a_task


def put(service: Service, task: Task) -> str:
    service.store.put([task])
    service.store.writes.clear()
    return f"/v1/tasks/{task.id}"


@pytest.mark.parametrize(
    "status", [Status.PENDING, Status.ENQUEUED, Status.RETRYING, Status.WAITING]
)
def test_what_does_not_run_is_cancelled_at_once(any_service: Service, status: Status):
    path = put(any_service, a_task(status=status))
    any_service.clock.advance(1_000)

    response = any_service.call("DELETE", path)

    assert (response.status, response.body["status"]) == (200, "CANCELLED")
    assert response.body["finished_at"] == response.body["updated_at"]
    assert any_service.get(path).body == response.body
    [task] = any_service.stored()
    assert task.wake is None


def test_what_runs_is_asked_to_stop(any_service: Service):
    path = put(any_service, a_running_task())

    response = any_service.call("DELETE", path)

    assert response.status == 202
    assert (response.body["status"], response.body["cancel_requested"]) == ("RUNNING", True)


def test_asking_twice_is_no_mistake(service: Service):
    path = put(service, a_running_task())
    service.call("DELETE", path)

    assert service.call("DELETE", path).status == 202


@pytest.mark.parametrize("status", sorted(FINISHED))
def test_what_is_finished_stays_as_it_is(any_service: Service, status: Status):
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


def overtaken_by(service: Service, *steps: Change) -> None:
    """Before each write that the API makes, somebody else makes one of these."""
    left: Iterator[Change] = iter(steps)
    store = service.store

    def answer(change: Change) -> Answer | None:
        if change not in steps and (step := next(left, None)):
            store.apply([step])
        return None

    store.apply_answer = answer


def test_a_task_that_starts_just_now_is_asked_to_stop(any_service: Service):
    task = a_sent_task()
    path = put(any_service, task)
    overtaken_by(any_service, lease(delivery_of(task, NOW), now=task.due_at, holder="holder"))

    response = any_service.call("DELETE", path)

    assert (response.status, response.body["status"]) == (202, "RUNNING")


def test_a_task_that_ends_just_now_stays_as_it_is(any_service: Service):
    task = a_running_task()
    path = put(any_service, task)
    overtaken_by(any_service, succeed(task, result=None, now=NOW))

    response = any_service.call("DELETE", path)

    assert (response.status, response.body["title"]) == (409, "The task is finished")
    assert "SUCCEEDED" in response.body["detail"]


def test_a_task_whose_attempt_fails_just_now_is_cancelled(service: Service):
    """It runs when we look and waits for its next attempt when we write."""
    running = a_running_task()
    path = put(service, replace(running, status=Status.RETRYING))
    stale = iter([running])
    read = service.store.get
    service.store.get = lambda ids: {running.id: next(stale, None) or read(ids)[running.id]}

    response = service.call("DELETE", path)

    assert (response.status, response.body["status"]) == (200, "CANCELLED")


def test_a_task_that_is_always_faster_is_a_503(service: Service):
    task = a_task()
    path = put(service, task)
    service.store.apply_answer = lambda change: Refused(task)

    assert service.call("DELETE", path).status == 503


def test_a_write_without_an_answer_is_a_503(service: Service):
    path = put(service, a_task())
    service.store.apply_answer = lambda change: Unknown("throttled")

    response = service.call("DELETE", path)

    assert (response.status, response.headers["retry-after"]) == (503, "1")
    assert service.store.writes == ["apply"]
