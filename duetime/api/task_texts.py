"""GET /v1/tasks/{id}/payload and /result: the JSON text itself, for a download."""

from duetime.api.http import Response, not_found
from duetime.core.codec import to_json
from duetime.core.task import Task


def payload_response(task: Task) -> Response:
    if task.spec.payload is None:
        raise not_found(f"payload of task {task.id}")
    return _download(task, "payload", to_json(task.spec.payload))


def result_response(task: Task) -> Response:
    """The text of a result is stored as the executor encoded it, so it is not parsed here."""
    if task.result is None:
        raise not_found(f"result of task {task.id}: it is {task.status}")
    return _download(task, "result", task.result)


def _download(task: Task, part: str, text: str) -> Response:
    headers = {
        "content-type": "application/json",
        "content-disposition": f'attachment; filename="{task.id}-{part}.json"',
    }
    return Response(status=200, headers=headers, _encoded=text.encode(errors="replace"))
