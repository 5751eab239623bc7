"""Tasks of a batch that differ in their payload alone: they are read once, and stored and shown
as if each had been read."""

from typing import Any

import pytest

from duetime.api.alike_tasks import AlikeTasks, NewTasks
from duetime.core.task_json import task_json
from duetime.core.value import replace
from duetime.engine.submission import TaskRequest
from tests.factories import NOW, a_spec, a_task

TARGET = {"type": "python", "handler": "shop.restock"}


class Reader:
    def __init__(self) -> None:
        self.read: list[Any] = []

    def __call__(self, body: Any) -> TaskRequest:
        self.read.append(body)
        spec = a_spec(target=dict(body["target"]), payload=body.get("payload"))
        return TaskRequest(spec=spec, body_hash="")


def test_task_with_another_payload_is_not_read_again():
    reader = Reader()
    alike = AlikeTasks(reader)

    requests = [alike.request({"target": TARGET, "payload": {"n": n}}) for n in range(3)]
    without = alike.request({"target": TARGET})

    assert len(reader.read) == 1
    assert [request.spec.payload for request in requests] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert without.spec.payload is None


@pytest.mark.parametrize(
    "other",
    [
        {"timeout": 1.0},
        {"timeout": True},
        {"timeout": 1, "name": "n"},
        {"timeout": 1, "id": "01M7RE00000000000000000000"},
        {"timeout": 1, "idempotency_key": "k"},
        {"timeout": 1, "unique": {"key": "k"}},
        {"timeout": 1, "target": {"type": "http", "url": "http://127.0.0.1"}},
        {"timeout": 1, "target": {**TARGET, "handler": "shop.count"}},
    ],
)
def test_task_with_another_field_is_read(other: dict[str, Any]):
    reader = Reader()
    alike = AlikeTasks(reader)
    alike.request({"target": TARGET, "timeout": 1})

    alike.request({"target": TARGET, **other})

    assert len(reader.read) == 2


def test_large_payload_is_read_on_its_own():
    reader = Reader()
    alike = AlikeTasks(reader)
    alike.request({"target": TARGET})

    alike.request({"target": TARGET, "payload": "p" * 300_000})

    assert len(reader.read) == 2


def test_json_of_a_new_task_is_that_of_the_first_with_its_own_fields():
    spec = a_spec(payload=1)
    first = a_task(spec=spec)
    second = replace(
        a_task(spec=replace(spec, payload=2)),
        due_at=NOW + 1,
        created_at=NOW + 2,
        updated_at=NOW + 3,
    )
    other = a_task(spec=a_spec(name="another"))
    new = NewTasks()

    assert [new.json(task) for task in (first, second, other)] == [
        task_json(task) for task in (first, second, other)
    ]
