"""The parameter `q` of lists and of operations on many tasks."""

from typing import Any

import pytest

from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.times import MINUTE, rfc3339
from tests.api.dead import a_dead_task, bury
from tests.api.service import PYTHON, Service, refusal
from tests.factories import NOW, a_spec, a_task, an_id

PATH = "/v1/tasks"


def found(service: Service, q: str, **query: str) -> list[str]:
    answer = service.get(PATH, q=q, **query)
    assert answer.status == 200, answer.body
    return [item["id"] for item in answer.body["items"]]


def put(service: Service, **fields: Any) -> str:
    status = fields.pop("status", Status.PENDING)
    task = a_task(spec=a_spec(**fields), status=status)
    service.store.put([task])
    return task.id


def test_query_lists_what_its_fields_list(any_service: Service):
    dead = bury(any_service, a_dead_task(namespace="shop", tags={"team": "growth"}))[0]
    put(any_service, namespace="shop", tags={"team": "growth"})
    put(any_service, namespace="shop")

    assert found(any_service, "ns:shop tag.team:growth status:DEAD") == [dead]
    assert found(any_service, "ns:shop tag.team:growth", status="DEAD") == [dead]
    assert len(found(any_service, "ns:shop")) == 3
    assert found(any_service, "ns:shop since:2040-01-01T00:00:00Z") == []


def test_id_is_found_in_every_namespace(any_service: Service):
    first, second = put(any_service, namespace="a"), put(any_service, namespace="b", name="x")

    assert found(any_service, first) == [first]
    assert found(any_service, f"id:{first},{second},{an_id()}") == sorted([first, second])[::-1]
    assert found(any_service, f"id:{first},{second} ns:b") == [second]
    assert found(any_service, f"{first} name:x") == []
    assert found(any_service, first, fields="summary") == [first]


def test_words_about_the_state_of_a_task_find_it(any_service: Service):
    low = put(any_service, priority=Lane.LOW, idempotency_key="order-17")
    soon = put(any_service, pool="batch", run_at=NOW + 30 * MINUTE)
    failed = bury(any_service, a_dead_task(error_type="Http503"))[0]

    assert found(any_service, "lane:low") == [low]
    assert found(any_service, "lane:low,batch/medium") == sorted([low, soon])[::-1]
    assert found(any_service, "key:order-17") == [low]
    assert found(any_service, "error:Http503") == [failed]
    assert found(any_service, "error:Http50") == []
    assert found(any_service, "due:1h") == [soon]
    assert found(any_service, "due:1h", order="soonest") == [soon]
    assert found(any_service, "due:2h..", order="soonest") == []


@pytest.mark.parametrize(
    ("query", "field", "message", "position"),
    [
        ({"q": "status:DEAD colour:red"}, "q", "unknown word 'colour'", 13),
        ({"q": "status:DEAD", "status": "PENDING"}, "status", "is given in q, too", None),
        ({"q": "tag.a:b", "tag": "a"}, "tag", "is given in q, too", None),
        ({"q": an_id(), "order": "soonest"}, "q", "has an id, which goes with neither", None),
        ({"q": "since:1h until:2h"}, "created_before", "must be later than", None),
        ({"q": "due:2h..1h"}, "due_before", "must be later than", None),
        ({"run_id": an_id(), "order": "soonest"}, "order", "goes without a run", None),
        ({"run_id": an_id(), "cursor": "x"}, "cursor", "not a cursor of this list", None),
    ],
)
def test_query_that_cannot_be_served_is_refused(
    service: Service, query: dict[str, str], field: str, message: str, position: int | None
):
    answer = service.get(PATH, **query)

    [error] = answer.body["errors"]
    assert (answer.status, error["field"], error.get("position")) == (422, field, position)
    assert error["message"].startswith(message)


def test_query_selects_the_tasks_of_an_operation(any_service: Service):
    ours = any_service.submit(delay=600, tags={"team": "growth"}).body["id"]
    any_service.submit(delay=600)
    body = {"q": "tag.team:growth status:PENDING"}

    tried = any_service.call("POST", f"{PATH}/cancel", {**body, "dry_run": True})
    done = any_service.call("POST", f"{PATH}/cancel", body)

    assert (tried.body["changed"], done.body["changed"]) == (1, 1)
    assert any_service.get(f"{PATH}/{ours}").body["status"] == "CANCELLED"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"q": "colour:red"}, "q"),
        ({"q": ""}, "body"),
        ({"q": "ns:*"}, "body"),
        ({"q": 7}, "q"),
        ({"q": an_id()}, "q"),
        ({"q": "status:DEAD", "status": ["DEAD"]}, "status"),
        ({"q": "status:SUCCEEDED"}, "status"),
    ],
)
def test_operation_with_a_bad_query_changes_nothing(service: Service, body: Any, field: str):
    service.post({"target": PYTHON, "run_at": rfc3339(NOW + 600_000)})
    service.store.writes.clear()

    assert list(refusal(service.call("POST", f"{PATH}/cancel", body))) == [field]
    assert service.store.writes == []
