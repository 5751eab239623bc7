"""A client-made id: the same task sent again is stored once."""

from typing import Any

import pytest

from duetime.core.change import Unknown
from duetime.core.ids import new_id
from duetime.core.listings import Listing
from duetime.core.occurrence import occurrence_id
from duetime.core.times import MINUTE
from duetime.engine.materialise import materialise
from tests.api.service import PYTHON, Service
from tests.factories import NOW, an_id

ID = new_id(NOW, 4_711)


def conflict(response: Any) -> dict[str, str]:
    assert response.status == 409, response.body
    return {error["field"]: error["message"] for error in response.body["errors"]}


def test_task_gets_the_id_of_its_client(any_service: Service):
    response = any_service.submit(id=ID)

    assert (response.status, response.body["id"]) == (201, ID)
    assert any_service.get(f"/v1/tasks/{ID}").body == response.body


def test_same_id_and_body_return_the_task_and_send_nothing(any_service: Service):
    first = any_service.submit(id=ID, delay=5, jitter=3)
    any_service.clock.advance(MINUTE)

    second = any_service.submit(id=ID, jitter=3, delay=5)

    assert (second.status, second.body) == (200, first.body)
    assert len(any_service.lanes.sent) == 1


@pytest.mark.parametrize("other", [{"payload": 2}, {"payload": 1, "namespace": "shop"}])
def test_id_with_another_body_or_namespace_is_refused(any_service: Service, other: dict[str, Any]):
    any_service.submit(id=ID, payload=1, name="secret")

    response = any_service.submit(id=ID, name="secret", **other)

    assert conflict(response) == {"id": "was used for another task, or with another body"}
    assert "secret" not in str(response.body)
    assert len(any_service.stored()) == 1
    assert any_service.stored("shop") == []


def test_id_of_a_task_that_duetime_named_is_refused(service: Service):
    task_id = service.submit().body["id"]

    assert set(conflict(service.submit(id=task_id))) == {"id"}


def test_id_that_got_no_answer_is_stored_by_its_repetition(any_service: Service):
    any_service.store.put_answer = lambda task: Unknown("no answer")
    assert any_service.submit(id=ID).status == 503
    any_service.store.put_answer = lambda task: None

    assert any_service.submit(id=ID).status == 201


def test_ids_of_a_batch_are_handled_each_alone(any_service: Service):
    other = new_id(NOW, 1)
    task = {"target": PYTHON, "id": ID}

    answer = any_service.batch(task, task, {**task, "payload": 1}, {**task, "id": other})

    assert [result["status"] for result in answer.body["results"]] == [201, 200, 409, 201]
    assert {task.id for task in any_service.stored()} == {ID, other}


def test_submission_with_an_id_makes_no_more_writes(service: Service):
    service.submit(id=ID)

    assert service.store.writes == ["put"]


def test_id_with_a_new_idempotency_key_names_the_task(any_service: Service):
    first = any_service.submit("order-1", id=ID)
    again = any_service.submit("order-1", id=new_id(NOW, 1))

    assert (first.status, first.body["id"]) == (201, ID)
    assert (again.status, again.body["id"]) == (200, ID), "the key decides"


def test_key_with_an_id_that_is_taken_names_no_other_task(any_service: Service):
    any_service.submit(id=ID, payload="theirs")

    first = any_service.submit("order-1", id=ID, payload="mine")
    again = any_service.submit("order-1", payload="mine")

    assert set(conflict(first)) == {"id"}
    assert set(conflict(again)) == {"idempotency_key"}


def test_id_in_the_task_of_a_schedule_is_refused(service: Service):
    response = service.schedule(task={"target": PYTHON, "id": ID})

    assert [error["field"] for error in response.body["errors"]] == ["task.id"]


def test_fire_time_whose_id_a_client_has_used_is_in_the_ledger_as_broken(any_service: Service):
    rule = {"type": "cron", "expression": "0 12 * * *"}
    schedule = any_service.schedule(rule=rule).body
    noon = NOW + 180 * MINUTE
    any_service.clock.advance(noon - NOW - 5 * MINUTE)
    forged = occurrence_id(schedule["id"], f"v{schedule['version']}", noon)
    assert any_service.submit(id=forged).status == 201

    any_service.clock.advance(2 * MINUTE)
    stored = any_service.schedules.get([schedule["id"]])[schedule["id"]]
    materialise(any_service.ports, [stored], now=any_service.clock.now())
    any_service.clock.advance(5 * MINUTE)

    path = f"/v1/schedules/{schedule['id']}"
    [entry] = any_service.get(f"{path}/ledger").body["items"]
    assert (entry["fire_time"], entry["outcome"]) == ("2026-11-16T12:00:00.000Z", "broken")
    assert entry["error"] == "a client has used the id of this run for another task"
    assert any_service.get(path).body["next_fire_at"] == "2026-11-17T12:00:00.000Z"
    assert len(any_service.stored()) == 1


def test_list_shows_a_task_with_a_client_made_id(any_service: Service):
    any_service.submit(id=ID)
    other = an_id()
    any_service.submit(id=other)

    assert {t.id for t in any_service.store.page(Listing()).tasks} == {ID, other}
