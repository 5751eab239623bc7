"""Answers to a batch, cut to the size that Lambda can return."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duetime.api.http import Response
from duetime.core.task_json import NOT_SHOWN
from duetime.core.text_sizes import is_over_limit

# Fields that are left out of a large answer, step by step. GET /v1/tasks/{id} returns them. The
# OpenAPI document says that each may be null. The others of a hundred tasks always fit.
OMITTED = (("payload", "result"), ("payload", "result", "target", "error"))
NOTE = "left out: the answer would be too large; read it by its id"


def fitting(body_without: Callable[[Sequence[str]], Any]) -> Response:
    """Returns the answer with as many fields as Lambda can return. `body_without` makes its body
    without some fields of the tasks."""
    response = Response(status=200, body=body_without(()))
    for fields in OMITTED:
        if not is_over_limit(response.encoded()):
            break
        response = Response(status=200, body=body_without(fields))
    return response


def without(task: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Returns a task as JSON, with null and a note for each field that is left out."""
    left_out = [name for name in fields if task[name]]
    if not left_out:
        return dict(task)
    notes = (task[NOT_SHOWN] or {}) | dict.fromkeys(left_out, NOTE)
    return {**task, **dict.fromkeys(left_out), NOT_SHOWN: notes}
