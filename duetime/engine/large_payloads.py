"""Payloads over 256 KiB: each becomes an object of its task, stored before the task."""

from collections.abc import Mapping, Sequence
from typing import Any

from duetime.core.change import Answer, Unknown
from duetime.core.codec import to_json
from duetime.core.errors import Unavailable
from duetime.core.large_texts import is_too_large, pack_object, reference_to
from duetime.core.ports import ObjectStore, Ports
from duetime.core.task import Task
from duetime.engine.refusal import FieldError, Refusal

# These targets take a payload of any size. The others send it to a service with its own limit.
TARGETS = ("http", "python")
TOO_LARGE = "must be at most 5 MiB, and 5.75 MiB as a JSON string"
NO_ROOM = "must be at most 256 KiB; store it elsewhere and send a reference"
NOT_FOR_TARGET = "must be at most 256 KiB; only http and python targets take more"


class LargePayload:
    """A payload that has passed its checks, as text. `fields` are those of the spec."""

    def __init__(self, payload: Any) -> None:
        self.text = to_json(payload)
        self.reference = reference_to(self.text)

    @property
    def fields(self) -> Mapping[str, Any]:
        return {"payload": None, "payload_object": str(self.reference)}

    def store(self, objects: ObjectStore | None, task_id: str) -> None:
        """Raises Unavailable."""
        if objects is None:
            raise ValueError("a large payload was not refused")
        objects.put(task_id, self.reference.name, pack_object(self.text))


def read_large(payload: Any, target: Mapping[str, Any], ports: Ports) -> LargePayload | Refusal:
    """Returns a Refusal for a payload that cannot be stored."""
    large = LargePayload(payload)
    if ports.objects is None:
        return payload_too_large(NO_ROOM)
    if target.get("type") not in TARGETS:
        return payload_too_large(NOT_FOR_TARGET)
    if is_too_large(large.text):
        return payload_too_large(TOO_LARGE)
    return large


def payload_too_large(message: str) -> Refusal:
    error = FieldError("payload", message)
    return Refusal(413, "too-large", "The payload is too large", errors=[error])


def put_tasks(
    ports: Ports, tasks: Sequence[Task], payloads: Sequence[LargePayload | None]
) -> list[Answer]:
    """Stores tasks, each after its object. If an object cannot be stored, neither is its task. An
    object without a task is deleted with the task that is stored under its id later, or swept."""
    answers: dict[int, Answer] = {}
    for place, (task, payload) in enumerate(zip(tasks, payloads, strict=True)):
        try:
            if payload is not None:
                payload.store(ports.objects, task.id)
        except Unavailable as error:
            answers[place] = Unknown(str(error))
    ready = {place: task for place, task in enumerate(tasks) if place not in answers}
    answers |= zip(ready, ports.store.put(list(ready.values())) if ready else [], strict=True)
    return [answers[place] for place in range(len(tasks))]
