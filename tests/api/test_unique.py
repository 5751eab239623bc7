"""A unique key: no second task with it while one is live."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from duetime.core.change import Applied, Change, Unknown
from duetime.core.delivery import delivery_of
from duetime.core.ids import new_id
from duetime.core.lifecycle import Outcome, Status
from duetime.core.ports import UniqueKey
from duetime.core.steps.lease import lease
from duetime.core.steps.record import Failure, fail, succeed
from duetime.core.task import Task, TaskError
from duetime.core.times import DAY, MINUTE, SECOND
from tests.api.service import PYTHON, Service
from tests.factories import NOW, WAKE_POLICY, a_draw, an_id

RIVALS = 50
K = {"key": "k"}
FAILED = Failure(outcome=Outcome.FAILED, error=TaskError(type="E", message="no"), permanent=True)


def applied(service: Service, change: Change) -> Task:
    [answer] = service.store.apply([change])
    assert isinstance(answer, Applied), answer
    return answer.stored


def task_of(service: Service, task_id: str) -> Task:
    return service.store.get([task_id])[task_id]


def start(service: Service, task_id: str) -> Task:
    task = task_of(service, task_id)
    return applied(service, lease(delivery_of(task, task.due_at), now=task.due_at, holder="me"))


def end(service: Service, task_id: str) -> None:
    running = start(service, task_id)
    applied(service, succeed(running, result=None, now=running.due_at + SECOND))


def die(service: Service, task_id: str) -> None:
    running = start(service, task_id)
    now = running.due_at + SECOND
    applied(service, fail(WAKE_POLICY, running, FAILED, now=now, draw=a_draw()))


def cancel(service: Service, task_id: str) -> None:
    assert service.call("DELETE", f"/v1/tasks/{task_id}").status == 200


def expire(service: Service, task_id: str) -> None:
    """Ends it as the scanner would."""
    from duetime.core.steps.cancel import expire

    applied(service, expire(task_of(service, task_id), now=NOW + DAY))


def live(service: Service) -> list[str]:
    return [task.id for task in service.stored() if not task.status.finished]


def conflict(response: Any) -> dict[str, str]:
    assert response.status == 409, response.body
    return {error["field"]: error["message"] for error in response.body["errors"]}


def test_second_task_with_a_unique_key_returns_the_first(any_service: Service):
    first = any_service.submit(unique=K, payload=1)
    second = any_service.submit(unique=K, payload=2)

    assert (first.status, second.status) == (201, 200)
    assert second.body == first.body
    assert second.headers["location"] == first.headers["location"]
    assert first.body["unique"] == {
        "key": "k",
        "while": "running",
        "on_conflict": "return_existing",
    }
    assert len(any_service.lanes.sent) == 1


def test_unique_keys_of_two_namespaces_are_two_keys(any_service: Service):
    assert any_service.submit(unique=K).status == 201
    assert any_service.submit(unique=K, namespace="shop").status == 201


@pytest.mark.parametrize("over", [end, cancel, die, expire])
def test_unique_key_is_free_once_its_task_is_over(any_service: Service, over: Any):
    first = any_service.submit(unique=K).body["id"]
    over(any_service, first)

    second = any_service.submit(unique=K)

    assert second.status == 201
    assert second.body["id"] != first
    assert any_service.submit(unique=K).body["id"] == second.body["id"]
    assert live(any_service) == [second.body["id"]]


def test_unique_task_holds_its_key_while_it_runs(any_service: Service):
    first = any_service.submit(unique=K).body["id"]
    start(any_service, first)

    assert any_service.submit(unique=K).body["id"] == first


def test_unique_key_while_pending_is_free_once_its_task_has_started(any_service: Service):
    unique = {"key": "k", "while": "pending"}
    first = any_service.submit(unique=unique).body["id"]
    assert any_service.submit(unique=unique).body["id"] == first
    start(any_service, first)

    second = any_service.submit(unique=unique)

    assert second.status == 201
    assert len(live(any_service)) == 2


def test_reject_names_the_task_that_holds_the_key(any_service: Service):
    first = any_service.submit(unique=K).body["id"]

    response = any_service.submit(unique={**K, "on_conflict": "reject"})

    assert conflict(response) == {"unique.key": f"is held by task {first}"}
    assert len(any_service.stored()) == 1


def test_replace_cancels_a_task_that_has_not_started(any_service: Service):
    first = any_service.submit(unique=K, delay=600).body["id"]

    second = any_service.submit(unique={**K, "on_conflict": "replace"}, payload=2)

    replaced = any_service.get(f"/v1/tasks/{first}").body
    assert (second.status, replaced["status"], replaced["reason"]) == (201, "CANCELLED", "replaced")
    assert live(any_service) == [second.body["id"]]


def test_replace_leaves_a_task_that_has_started_alone(any_service: Service):
    first = any_service.submit(unique=K).body["id"]
    start(any_service, first)

    response = any_service.submit(unique={**K, "on_conflict": "replace"})

    reason = f"is held by task {first}, which has started and cannot be replaced"
    assert conflict(response) == {"unique.key": reason}
    assert live(any_service) == [first]


def test_dead_task_that_lost_its_unique_key_cannot_be_revived(any_service: Service):
    first = any_service.submit(unique=K).body["id"]
    die(any_service, first)
    second = any_service.submit(unique=K).body["id"]

    retried = any_service.call("POST", f"/v1/tasks/{first}/retry", b"")
    redriven = any_service.call("POST", "/v1/dead-letters/redrive", {"all": True})
    in_bulk = any_service.call("POST", "/v1/tasks/retry", {"status": ["DEAD"]})

    assert retried.status == 409
    assert (in_bulk.body["matched"], in_bulk.body["changed"]) == (1, 0)
    assert "a newer task has taken its unique key" in in_bulk.body["not_changed"][0]["reason"]
    assert "a newer task has taken its unique key" in retried.body["detail"]
    assert redriven.body["redriven"] == 0
    assert redriven.body["not_redriven"][0]["id"] == first
    assert live(any_service) == [second]
    assert task_of(any_service, first).status is Status.DEAD


def test_dead_task_that_is_revived_holds_its_unique_key_again(any_service: Service):
    first = any_service.submit(unique=K).body["id"]
    die(any_service, first)
    assert any_service.call("POST", f"/v1/tasks/{first}/retry", b"").status == 200

    assert any_service.submit(unique=K).body["id"] == first


def test_revival_that_races_with_a_submission_leaves_one_live_task(any_service: Service):
    """The task is revived after the submission has found it dead."""
    first = any_service.submit(unique=K).body["id"]
    die(any_service, first)

    def revive(change: Change) -> None:
        any_service.store.apply_answer = lambda change: None
        assert any_service.call("POST", f"/v1/tasks/{first}/retry", b"").status == 200

    any_service.store.apply_answer = revive

    assert any_service.submit(unique=K).body["id"] == first
    assert live(any_service) == [first]


def test_many_submissions_of_one_unique_key_make_one_task(any_service: Service):
    barrier = Barrier(RIVALS)

    def go(rival: int) -> tuple[int, str]:
        barrier.wait()
        response = any_service.submit(unique=K, id=new_id(NOW, rival), payload=rival)
        return response.status, response.body["id"]

    with ThreadPoolExecutor(RIVALS) as threads:
        answers = list(threads.map(go, range(RIVALS)))

    assert len(any_service.stored()) == 1
    assert {task_id for _, task_id in answers} == {any_service.stored()[0].id}
    assert sorted(status for status, _ in answers) == [200] * (RIVALS - 1) + [201]


def test_many_submissions_that_reject_get_one_task(any_service: Service):
    barrier = Barrier(RIVALS)

    def go(rival: int) -> int:
        barrier.wait()
        return any_service.submit(
            unique={**K, "on_conflict": "reject"}, id=new_id(NOW, rival)
        ).status

    with ThreadPoolExecutor(RIVALS) as threads:
        statuses = sorted(threads.map(go, range(RIVALS)))

    assert statuses == [201] + [409] * (RIVALS - 1)


def test_unique_key_of_a_submission_that_died_gets_the_next_task(any_service: Service):
    """It took the key, and died before it stored its task."""
    any_service.store.put_answer = lambda task: Unknown("died")
    assert any_service.submit(unique=K, id=new_id(NOW, 1)).status == 503
    any_service.store.put_answer = lambda task: None

    second = any_service.submit(unique={**K, "on_conflict": "reject"}, id=new_id(NOW, 2))
    repeated = any_service.submit(unique={**K, "on_conflict": "reject"}, id=new_id(NOW, 2))
    first = any_service.submit(unique=K, id=new_id(NOW, 1))

    assert (second.status, second.body["id"]) == (201, new_id(NOW, 1))
    assert (repeated.status, repeated.body) == (200, second.body), "its own task"
    assert (first.status, first.body) == (200, second.body)


def test_submission_whose_id_was_used_for_its_key_can_replace_that_task(any_service: Service):
    any_service.store.put_answer = lambda task: Unknown("died")
    any_service.submit(unique=K, id=new_id(NOW, 1))
    any_service.store.put_answer = lambda task: None
    other = any_service.submit(unique=K, id=new_id(NOW, 2), payload=2)

    replacing = {"unique": {**K, "on_conflict": "replace"}, "id": new_id(NOW, 1), "payload": 1}
    first = any_service.submit(**replacing)
    again = any_service.submit(**replacing)

    assert other.body["id"] == new_id(NOW, 1)
    assert first.status == 201
    assert (again.status, again.body) == (200, first.body)
    assert live(any_service) == [first.body["id"]]


def test_unique_key_that_was_abandoned_long_ago_is_taken_over(any_service: Service):
    any_service.store.take_keys([UniqueKey(namespace="default", key="k", task_id=an_id())])
    any_service.clock.advance(DAY + MINUTE)

    task_id = new_id(NOW + DAY + MINUTE, 1)
    assert any_service.submit(unique=K, id=task_id).body["id"] == task_id


def test_repeated_unique_submission_with_its_id_returns_its_own_task(any_service: Service):
    reject = {"unique": {**K, "on_conflict": "reject"}, "id": new_id(NOW, 1)}
    first = any_service.submit(**reject)
    again = any_service.submit(**reject)
    end(any_service, first.body["id"])
    second = any_service.submit(unique=K)
    late = any_service.submit(**reject)

    assert (first.status, again.status, second.status) == (201, 200, 201)
    assert (late.status, late.body["id"]) == (200, first.body["id"])


def test_unique_task_with_an_idempotency_key_is_found_by_that_key(any_service: Service):
    first = any_service.submit("order-1", unique=K)
    end(any_service, first.body["id"])
    second = any_service.submit("order-2", unique=K)

    again = any_service.submit("order-1", unique=K)
    other_body = any_service.submit("order-1", unique=K, payload=2)

    assert (first.status, second.status) == (201, 201)
    assert (again.status, again.body["id"]) == (200, first.body["id"])
    assert set(conflict(other_body)) == {"idempotency_key"}


def test_unique_tasks_of_a_batch_are_handled_one_after_the_other(any_service: Service):
    task = {"target": PYTHON, "unique": K}
    other = {"target": PYTHON, "unique": {"key": "other"}}
    replacing = {"target": PYTHON, "unique": {**K, "on_conflict": "replace"}}

    answer = any_service.batch(
        task, {"target": PYTHON}, task, other, replacing, {**task, "id": "x"}
    )

    results = answer.body["results"]
    assert [result["status"] for result in results] == [201, 201, 200, 201, 201, 422]
    assert results[2]["task"]["id"] == results[0]["task"]["id"]
    assert task_of(any_service, results[0]["task"]["id"]).status is Status.CANCELLED


def test_unique_tasks_of_a_batch_with_one_key_never_race_with_each_other(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    """A store may write the tasks of one call in parallel."""
    calls: list[list[str]] = []
    take_keys = service.store.take_keys

    def noted(keys: list[UniqueKey]) -> list[str]:
        calls.append([key.key for key in keys])
        return take_keys(keys)

    monkeypatch.setattr(service.store, "take_keys", noted, raising=False)
    service.batch(*({"target": PYTHON, "unique": {"key": key}} for key in "abab"))

    assert calls == [["a", "b"], ["a", "b"]]


def test_unique_key_costs_one_more_write(service: Service):
    service.submit(unique=K)

    assert service.store.writes == ["take_keys", "put"]


@pytest.mark.parametrize(
    ("unique", "field", "reason"),
    [
        ({}, "unique.key", "required"),
        ({"key": ""}, "unique.key", "must not be empty"),
        ({"key": "a b"}, "unique.key", "must have only letters, digits and ._:-"),
        ({"key": "k" * 129}, "unique.key", "must have at most 128 characters"),
        ({"key": "k", "while": "x"}, "unique.while", "must be 'pending' or 'running'"),
        (
            {"key": "k", "on_conflict": "x"},
            "unique.on_conflict",
            "must be 'return_existing', 'replace' or 'reject'",
        ),
        ({"key": "k", "held_while": "pending"}, "unique.held_while", "unknown field"),
    ],
)
def test_bad_unique_is_refused(service: Service, unique: Any, field: str, reason: str):
    response = service.submit(unique=unique)

    assert response.status == 422
    assert {e["field"]: e["message"] for e in response.body["errors"]} == {field: reason}
    assert service.store.writes == []


def test_unique_in_the_task_of_a_schedule_is_refused(service: Service):
    response = service.schedule(task={"target": PYTHON, "unique": K})

    assert response.status == 422
    assert [error["field"] for error in response.body["errors"]] == ["task.unique"]
