"""An idempotency key belongs to one task of its namespace, for a day."""

import pytest

from duetime.core.change import Unknown
from duetime.core.times import DAY
from tests.api.service import PYTHON, Service, refusal


def statuses(service: Service, *tasks: object) -> list[int]:
    return [result["status"] for result in service.batch(*tasks).body["results"]]


def test_replay_returns_the_same_task(any_service: Service):
    first = any_service.submit("order-1", name="a")
    any_service.clock.advance(1_000)

    second = any_service.submit("order-1", name="a")

    assert (first.status, second.status) == (201, 200)
    assert second.body == first.body
    assert second.headers["location"] == first.headers["location"]
    assert len(any_service.stored()) == 1


def test_replay_enqueues_nothing(any_service: Service):
    any_service.submit("order-1")
    any_service.submit("order-1")

    assert len(any_service.lanes.sent) == 1


def test_replay_returns_the_current_status_of_the_task(service: Service):
    task_id = service.submit("order-1").body["id"]
    service.call("DELETE", f"/v1/tasks/{task_id}")

    assert service.submit("order-1").body["status"] == "CANCELLED"


def test_a_delay_does_not_make_a_replay_another_body(service: Service):
    first = service.submit("order-1", delay=60)
    service.clock.advance(5_000)

    second = service.submit("order-1", delay=60)

    assert (second.status, second.body["run_at"]) == (200, first.body["run_at"])


def test_the_header_and_the_body_mean_the_same_key(service: Service):
    by_header = service.submit("order-1", name="a")

    by_body = service.submit(name="a", idempotency_key="order-1")

    assert (by_body.status, by_body.body) == (200, by_header.body)
    assert by_header.body["idempotency_key"] == "order-1"


def test_the_order_of_the_fields_does_not_matter(service: Service):
    service.post({"name": "a", "target": PYTHON, "tags": {"x": "1", "y": "2"}}, **KEY)
    again = service.post({"tags": {"y": "2", "x": "1"}, "target": PYTHON, "name": "a"}, **KEY)

    assert again.status == 200


KEY = {"idempotency-key": "order-1"}


@pytest.mark.parametrize(
    "change",
    [{"name": "b"}, {"payload": 1}, {"tags": {"x": "y"}}, {"delay": 1}, {"priority": "low"}],
    ids=str,
)
def test_another_body_is_a_conflict(any_service: Service, change: dict[str, object]):
    task_id = any_service.submit("order-1", name="a").body["id"]

    response = any_service.submit("order-1", **{"name": "a", **change})

    reason = f"was used for task {task_id} with another body"
    assert response.headers["content-type"] == "application/problem+json"
    assert response.body == {
        "type": "urn:duetime:problem:key-conflict",
        "title": "The idempotency key belongs to another task",
        "status": 409,
        "detail": f"idempotency_key: {reason}",
        "errors": [{"field": "idempotency_key", "message": reason}],
    }
    assert len(any_service.stored()) == 1


def test_key_in_both_header_and_body_is_refused(service: Service):
    response = service.submit("order-1", idempotency_key="order-1")

    assert refusal(response) == {"idempotency_key": "give it in the body or as a header, not both"}
    assert service.store.writes == []


def test_null_key_in_the_body_is_ignored(service: Service):
    assert service.submit("order-1", idempotency_key=None).body["idempotency_key"] == "order-1"


@pytest.mark.parametrize("key", ["", "a b", "a,b", "é", "x" * 129])
def test_a_bad_key_in_the_header_is_refused(service: Service, key: str):
    assert list(refusal(service.submit(key))) == ["idempotency_key"]
    assert service.store.writes == []


def test_a_namespace_has_its_own_keys(any_service: Service):
    mine = any_service.submit("order-1", namespace="mine")
    theirs = any_service.submit("order-1", namespace="theirs")

    assert (mine.status, theirs.status) == (201, 201)
    assert mine.body["id"] != theirs.body["id"]


@pytest.mark.parametrize(("later", "status"), [(DAY - 1, 200), (DAY, 201)])
def test_a_key_lasts_for_a_day(any_service: Service, later: int, status: int):
    any_service.submit("order-1")
    any_service.clock.advance(later)

    assert any_service.submit("order-1").status == status


def test_expired_key_may_have_another_body(any_service: Service):
    any_service.submit("order-1", name="a")
    any_service.clock.advance(DAY)

    assert any_service.submit("order-1", name="b").status == 201


def test_replay_stores_the_task_that_its_reservation_lacks(any_service: Service):
    """The first request died between its reservation and the write of its task."""
    reserved: list[str] = []
    any_service.store.put_answer = lambda task: reserved.append(task.id) or Unknown("died")
    any_service.submit("order-1")
    any_service.store.put_answer = lambda task: None

    replay = any_service.submit("order-1")

    assert (replay.status, [replay.body["id"]]) == (201, reserved)
    assert [delivery.task_id for delivery in any_service.lanes.sent] == reserved


def test_the_same_key_twice_in_one_batch_is_one_task(any_service: Service):
    task = {"target": PYTHON, "idempotency_key": "order-1"}

    results = any_service.batch(task, task).body["results"]

    assert sorted(result["status"] for result in results) == [200, 201]
    assert results[0]["task"]["id"] == results[1]["task"]["id"]
    assert (len(any_service.stored()), len(any_service.lanes.sent)) == (1, 1)


def test_the_same_key_with_two_bodies_in_one_batch_is_a_conflict(any_service: Service):
    task = {"target": PYTHON, "idempotency_key": "order-1"}

    assert sorted(statuses(any_service, task, {**task, "name": "b"})) == [201, 409]
    assert len(any_service.stored()) == 1


def test_replayed_batch_returns_the_stored_tasks(any_service: Service):
    tasks = [{"target": PYTHON, "idempotency_key": f"order-{n}"} for n in range(3)]

    assert statuses(any_service, *tasks[:2]) == [201, 201]
    assert statuses(any_service, *tasks, {"target": PYTHON}) == [200, 200, 201, 201]


def test_key_of_a_refused_task_is_not_reserved(service: Service):
    service.submit("order-1", timeout=0)

    assert service.submit("order-1", timeout=5).status == 201
