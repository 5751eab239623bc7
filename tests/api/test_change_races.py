"""PATCH /v1/tasks/{id}: races with other writers, and answers that are lost."""

from typing import Any

from duetime.core.change import Answer, Applied, Change, Refused, Unknown
from duetime.core.delivery import delivery_of
from duetime.core.steps.claim import claim
from duetime.core.steps.lease import lease
from duetime.core.times import MINUTE
from tests.api.change import patch, put
from tests.api.races import overtaken_by
from tests.api.service import Service
from tests.factories import NOW, WAKE_POLICY, a_draw, a_sent_task, a_task


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
