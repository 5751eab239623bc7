"""Bulk operations on tagged tasks, for the tests of cancel, retry and shift."""

from typing import Any

from duetime.api.http import Response
from duetime.core.change import Change
from duetime.core.delivery import delivery_of
from duetime.core.steps.lease import lease
from duetime.core.task import Task
from tests.api.service import Service
from tests.factories import NOW, a_spec, a_task

GROWTH = {"team": "growth"}
TAG = "team:growth"
OPERATIONS: dict[str, dict[str, Any]] = {"cancel": {}, "retry": {}, "shift": {"by": 60}}


def call(service: Service, operation: str, body: Any = None, **fields: Any) -> Response:
    return service.call("POST", f"/v1/tasks/{operation}", fields if body is None else body)


def done(service: Service, operation: str, **fields: Any) -> dict[str, Any]:
    response = call(service, operation, **fields)
    assert response.status == 200, response.body
    return response.body


def answer(matched: int, *left: tuple[str, str], **others: Any) -> dict[str, Any]:
    body = {
        "matched": matched,
        "changed": matched - len(left),
        "dry_run": False,
        "not_changed": [{"id": task_id, "reason": reason} for task_id, reason in left],
        "next_cursor": None,
    }
    return body | others


def tagged(count: int, **spec: Any) -> list[Task]:
    return [a_task(spec=a_spec(tags=GROWTH, **spec)) for _ in range(count)]


def put(service: Service, *tasks: Task) -> list[str]:
    for start in range(0, len(tasks), 100):
        service.store.put(tasks[start : start + 100])
    service.store.writes.clear()
    return [task.id for task in tasks]


def due_times(service: Service, ids: list[str]) -> list[int]:
    found = service.store.get(ids)
    return [found[task_id].due_at - NOW for task_id in ids]


def starts(task: Task) -> Change:
    return lease(delivery_of(task, NOW), now=task.due_at, holder="holder")
