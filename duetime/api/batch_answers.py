"""Answers to a batch that leave out what Lambda would not let through."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lambdas.api.encoding import NOT_SHOWN
from lambdas.api.http import Response
from lambdas.api.sizes import ESCAPED_LIMIT, escaped_size

# What an answer can do without, the largest first; all of it can be read one by one.
LARGE = (("payload", "result"), ("payload", "result", "target", "tags", "error"))
NOTE = "left out: the answer would be too large; read it by its id"


def fitting(body_without: Callable[[Sequence[str]], Any]) -> Response:
    """The answer with as much in it as Lambda lets through. `body_without` makes its body without
    some fields of the tasks in it."""
    response = Response(status=200, body=body_without(()))
    for fields in LARGE:
        if escaped_size(response.encoded()) <= ESCAPED_LIMIT:
            break
        response = Response(status=200, body=body_without(fields))
    return response


def without(task: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """A task as the API returns it, with a note in the place of each field that is left out."""
    left_out = [name for name in fields if task[name]]
    if not left_out:
        return dict(task)
    notes = (task[NOT_SHOWN] or {}) | dict.fromkeys(left_out, NOTE)
    return {**task, **dict.fromkeys(left_out), NOT_SHOWN: notes}
