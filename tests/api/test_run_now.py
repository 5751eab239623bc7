"""POST /v1/tasks/{id}/run."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.core.change import Applied, Refused
from duetime.core.delivery import delivery_of
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.occurrence import Occurrence
from duetime.core.steps.lease import lease
from duetime.core.times import DAY, HOUR, MINUTE, rfc3339
from duetime.core.wakes import WakeKind
from tests.api.change import a_retrying_task, put, stored
from tests.api.races import overtaken_by
from tests.api.service import Service, refusal
from tests.factories import NOW, a_running_task, a_sent_task, a_spec, a_task, an_id


def run(service: Service, path: str, body: Any = b"", **options: Any) -> Any:
    return service.call("POST", f"{path}/run", body, **options)


def test_task_is_due_now_and_sent(any_service: Service):
    path = put(any_service, a_task(spec=a_spec(run_at=NOW + DAY, jitter=3_600.0)))
    any_service.clock.advance(MINUTE)
    any_service.dice.luck = 0.9

    response = run(any_service, path)

    now = rfc3339(NOW + MINUTE)
    body = response.body
    assert (response.status, body["status"]) == (200, "ENQUEUED")
    assert (body["run_at"], body["due_at"], body["updated_at"]) == (now, now, now)
    assert any_service.get(path).body == body
    after = stored(any_service)
    assert [d.token for d in any_service.lanes.sent] == [after.token]
    assert after.wake.kind is WakeKind.WATCH
    [leased] = any_service.store.apply(
        [lease(any_service.lanes.sent[0], now=NOW + MINUTE, holder="holder")]
    )
    assert isinstance(leased, Applied)


def test_message_of_the_later_time_starts_nothing(any_service: Service):
    task = a_sent_task(spec=a_spec(run_at=NOW + 2 * MINUTE))
    path = put(any_service, task)
    run(any_service, path)

    [answer] = any_service.store.apply(
        [lease(delivery_of(task, NOW), now=task.due_at, holder="holder")]
    )

    assert answer == Refused(stored(any_service))


def test_retrying_task_is_due_now_and_keeps_its_attempts(any_service: Service):
    path = put(any_service, a_retrying_task())

    body = run(any_service, path).body

    assert (body["status"], body["attempt"], body["due_at"]) == ("RETRYING", 1, rfc3339(NOW))
    assert [d.attempt for d in any_service.lanes.sent] == [2]


@pytest.mark.parametrize("body", [b"", b"{}"], ids=repr)
def test_run_needs_no_body(service: Service, body: bytes):
    assert run(service, put(service, a_task()), body).status == 200


def test_any_other_body_and_parameter_is_refused(service: Service):
    path = put(service, a_task())

    assert refusal(run(service, path, {"delay": 5})) == {"delay": "unknown field"}
    assert refusal(run(service, path, query={"x": "1"})) == {"x": "unknown parameter"}
    assert service.store.writes == []


@pytest.mark.parametrize("status", sorted(set(Status) - sources(Step.DEFER)))
def test_task_that_runs_waits_or_has_ended_is_a_409(any_service: Service, status: Status):
    task = a_running_task() if status is Status.RUNNING else a_task(status=status, wake=None)
    path = put(any_service, task)

    response = run(any_service, path)

    assert (response.status, response.body["title"]) == (409, "The task cannot be run now")
    assert f"Task {task.id} is {status}. " in response.body["detail"]
    assert any_service.store.writes == []


def test_expired_task_is_a_409(service: Service):
    path = put(service, a_task(spec=a_spec(expires_at=NOW + 2 * HOUR)))
    service.clock.advance(2 * HOUR)

    response = run(service, path)

    assert (response.status, "has expired" in response.body["detail"]) == (409, True)


def test_unstarted_run_of_a_schedule_is_a_409(any_service: Service):
    of = Occurrence(schedule_id=an_id(), scheduled_for=NOW + MINUTE, version=1)
    path = put(any_service, a_task(spec=a_spec(occurrence=of)))

    response = run(any_service, path)

    assert (response.status, any_service.store.writes) == (409, [])
    assert f"/v1/schedules/{of.schedule_id}/trigger" in response.body["detail"]


def test_retried_run_of_a_schedule_is_due_now(any_service: Service):
    of = Occurrence(schedule_id=an_id(), scheduled_for=NOW, version=1)
    task = a_retrying_task()
    path = put(any_service, replace(task, spec=replace(task.spec, occurrence=of)))

    assert run(any_service, path).body["due_at"] == rfc3339(NOW)


def test_task_that_starts_meanwhile_is_a_409(any_service: Service):
    task = a_sent_task()
    path = put(any_service, task)
    overtaken_by(any_service, lease(delivery_of(task, NOW), now=task.due_at, holder="holder"))

    assert run(any_service, path).status == 409


def test_unknown_task_is_a_404(service: Service):
    assert run(service, f"/v1/tasks/{an_id()}").status == 404
