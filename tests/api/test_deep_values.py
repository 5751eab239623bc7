"""Rows that an earlier release, or another program, has stored deeper than an answer can be."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.api import tasks as tasks_module
from duetime.core.lifecycle import Status
from tests.api.dead import a_dead_task
from tests.api.service import Service, as_sent
from tests.factories import a_running_task, a_schedule, a_spec, an_id

TOO_DEEP = "nested more than 200 levels deep"


def arrays(depth: int) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value]
    return value


def listed(service: Service, path: str = "/v1/tasks") -> dict[str, dict[str, Any]]:
    """The items of a page as they go over the wire, by id."""
    response = service.get(path)
    assert response.status == 200
    return {item["id"]: item for item in as_sent(response)["items"]}


@pytest.mark.parametrize(
    ("stored", "note"),
    [
        ("[" * 252 + "]" * 252, TOO_DEEP),
        ("[" * 5_000 + "]" * 5_000, TOO_DEEP),
        ('{"cut": "o', "not JSON"),
    ],
    ids=["252 deep", "5000 deep", "broken"],
)
def test_stored_result_that_cannot_be_shown_is_null_with_a_note(
    any_service: Service, stored: str, note: str
):
    other = any_service.submit().body["id"]
    task = a_running_task(status=Status.SUCCEEDED, wake=None, result=stored)
    any_service.store.put([task])

    found = listed(any_service)
    assert found[other]["not_shown"] is None
    assert found[task.id]["result"] is None
    assert found[task.id]["not_shown"] == {"result": note}
    assert as_sent(any_service.get(f"/v1/tasks/{task.id}")) == found[task.id]


def test_stored_result_of_200_levels_is_shown(any_service: Service):
    text = "[" * 200 + "]" * 200
    task = a_running_task(status=Status.SUCCEEDED, wake=None, result=text)
    any_service.store.put([task])

    assert listed(any_service)[task.id]["not_shown"] is None


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"payload": arrays(300)}, ["payload"]),
        ({"target": {"type": "http", "headers": arrays(300)}, "payload": 1}, ["target"]),
        ({"target": {"type": "http", "x": arrays(300)}, "payload": arrays(300)}, None),
    ],
    ids=["payload", "target", "both"],
)
def test_stored_payload_or_target_that_cannot_be_shown_is_null_with_a_note(
    service: Service, fields: dict[str, Any], names: list[str] | None
):
    names = names or ["target", "payload"]
    task = replace(a_dead_task(**fields), result="[" * 300 + "]" * 300)
    service.store.put([task])
    shown = as_sent(service.get(f"/v1/tasks/{task.id}"))

    assert shown["not_shown"] == dict.fromkeys([*names, "result"], TOO_DEEP)
    assert [shown[name] for name in names] == [None] * len(names)
    assert listed(service)[task.id] == listed(service, "/v1/dead-letters")[task.id] == shown


def test_schedule_whose_payload_cannot_be_shown_does_not_fail_the_list(service: Service):
    deep = a_schedule(id=an_id(), task=a_spec(run_at=0, payload=arrays(300)))
    service.schedules.put([deep])
    other = service.schedule().body["id"]
    found = listed(service, "/v1/schedules")

    assert found[deep.id]["task"]["payload"] is None
    assert found[deep.id]["task"]["not_shown"] == {"payload": TOO_DEEP}
    assert "not_shown" not in found[other]["task"]


@pytest.mark.parametrize("depth", [100, 199])
def test_submitted_payload_is_shown_as_deep_as_it_was_accepted(service: Service, depth: int):
    payload = arrays(depth)
    task = as_sent(service.submit(payload=payload))
    [result] = as_sent(service.batch({"target": {"type": "python", "handler": "reports.daily"}}))[
        "results"
    ]

    assert result["status"] == 201
    assert listed(service)[task["id"]]["payload"] == payload


def test_answer_that_cannot_be_encoded_at_all_is_a_problem(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tasks_module, "task_json", lambda task: {"id": object()})
    response = service.submit()

    assert response.status == 500
    assert response.headers["content-type"] == "application/problem+json"
    assert as_sent(response)["type"] == "urn:duetime:problem:internal"
