"""GET /v1/tasks/{id}/payload and /result: the JSON text itself, for a download."""

import logging

from duetime.api.http import Response, not_found
from duetime.core.codec import to_json
from duetime.core.errors import Corrupt
from duetime.core.large_texts import Reference, read_object, reference_in
from duetime.core.ports import Ports
from duetime.core.task import Task

log = logging.getLogger(__name__)


def payload_response(ports: Ports, task: Task) -> Response:
    reference = reference_in(task.spec.payload_object)
    if reference is not None:
        return _download(task, "payload", _large_text(ports, task, reference, "payload"))
    if task.spec.payload is None:
        raise not_found(f"payload of task {task.id}")
    return _download(task, "payload", to_json(task.spec.payload))


def result_response(ports: Ports, task: Task) -> Response:
    """The text of a result is stored as the executor encoded it, so it is not parsed here."""
    if task.result is None:
        raise not_found(f"result of task {task.id}: it is {task.status}")
    reference = reference_in(task.result)
    if reference is not None:
        return _download(task, "result", _large_text(ports, task, reference, "result"))
    return _download(task, "result", task.result)


def _large_text(ports: Ports, task: Task, reference: Reference, part: str) -> str:
    try:
        if ports.objects is not None:
            return read_object(ports.objects, task.id, reference, part)
        reason = "this stage has no bucket for large payloads and results"
    except Corrupt as error:
        reason = str(error)
    log.error("object not read: %s", reason, extra={"step": "request", "task_id": task.id})
    raise not_found(f"{part} of task {task.id} any more: {reason}")


def _download(task: Task, part: str, text: str) -> Response:
    headers = {
        "content-type": "application/json",
        "content-disposition": f'attachment; filename="{task.id}-{part}.json"',
    }
    return Response(status=200, headers=headers, _encoded=text.encode(errors="replace"))
