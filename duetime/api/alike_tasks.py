"""Tasks of one batch that differ in nothing but their payload, as most do: their other fields are
read and checked once, and their answers are made from the first one's."""

import marshal
from collections.abc import Callable, Mapping
from typing import Any

from duetime.api.task_models import PLAIN_TARGETS, is_large
from duetime.core.task import Task
from duetime.core.task_json import task_json
from duetime.core.times import rfc3339
from duetime.core.value import replace
from duetime.engine.submission import TaskRequest

NAMES = ("id", "idempotency_key", "unique")  # of one task, not of several


class AlikeTasks:
    """`read` reads a body; it raises Problem."""

    def __init__(self, read: Callable[[Any], TaskRequest]) -> None:
        self._read = read
        self._fields: bytes | None = None  # of the task that was read last
        self._last: TaskRequest | None = None

    def request(self, body: Any) -> TaskRequest:
        fields = _fields(body)
        if fields is None:
            return self._read(body)
        if self._last is None or fields != self._fields:
            self._last = self._read(body)
            self._fields = fields
            return self._last
        payload = body.get("payload")
        if payload is None and self._last.spec.payload is None:
            return self._last
        return replace(self._last, spec=replace(self._last.spec, payload=payload))


def _fields(body: Any) -> bytes | None:
    """Returns the fields of a task but its payload, as bytes: 1, 1.0 and true are equal, but not
    alike. None for a task that is read on its own."""
    if not isinstance(body, dict) or any(name in body for name in NAMES):
        return None
    target = body.get("target")
    if not isinstance(target, dict) or target.get("type") not in PLAIN_TARGETS:
        return None  # these take any payload
    if (payload := body.get("payload")) is not None and is_large(payload):
        return None
    return marshal.dumps({name: body[name] for name in body if name != "payload"}, 2)


class NewTasks:
    """The JSON of the new tasks of one batch."""

    def __init__(self) -> None:
        self._target: Mapping[str, Any] | None = None
        self._json: dict[str, Any] = {}

    def json(self, task: Task) -> dict[str, Any]:
        if task.spec.target is not self._target:
            self._target, self._json = task.spec.target, task_json(task)
            return self._json
        return {
            **self._json,
            "id": task.id,
            "status": task.status.value,
            "payload": task.spec.payload,
            "due_at": rfc3339(task.due_at),
            "created_at": rfc3339(task.created_at),
            "updated_at": rfc3339(task.updated_at),
        }
