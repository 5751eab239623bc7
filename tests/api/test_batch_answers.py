"""The answer to a batch fits into what Lambda returns, and has every field of the document."""

from typing import Any

from duetime.api.batch_answers import NOTE, fitting, without
from duetime.api.http import Response
from duetime.core.lifecycle import Outcome, Status
from duetime.core.task import Attempt, Task, TaskError
from duetime.core.task_json import task_json
from duetime.core.text_sizes import ESCAPED_LIMIT, escaped_size
from tests.api.openapi import wrong_in
from tests.factories import NOW, a_spec, a_task

LONGEST = "\x01"  # a character takes seven bytes of an answer: \\u0001
TAGS = {f"{n}{LONGEST * 63}": LONGEST * 256 for n in range(10)}
LARGE_TARGET = {"type": "http", "url": "https://a.example/", "headers": {"x": '"' * 8_000}}


def a_failed_task(**fields: Any) -> Task:
    error = TaskError(type="E" * 256, message=LONGEST * 1_000, traceback=LONGEST * 4_000)
    failed = Attempt(number=1, started_at=NOW, drift_ms=0, outcome=Outcome.FAILED, error=error)
    spec = a_spec(name=LONGEST * 256, tags=TAGS, **fields)
    return a_task(spec=spec, status=Status.DEAD, wake=None, attempt=1, current=failed)


def answer_of(task: Task) -> Response:
    shown = task_json(task)
    return fitting(
        lambda fields: {"results": [{"status": 200, "task": without(shown, fields)}] * 100}
    )


def test_largest_answer_to_a_batch_fits_and_keeps_the_tags():
    response = answer_of(a_failed_task(payload='"' * 1_000, target=LARGE_TARGET))

    assert escaped_size(response.encoded()) <= ESCAPED_LIMIT
    shown = response.body["results"][0]["task"]
    assert shown["tags"] == TAGS
    assert shown["not_shown"] == dict.fromkeys(["payload", "target", "error"], NOTE)
    assert wrong_in({"$ref": "#/components/schemas/BatchResults"}, response.body) == []


def test_batch_answer_that_fits_without_payloads_keeps_targets_and_errors():
    task = a_task(spec=a_spec(payload="x" * 200_000, tags=TAGS))

    shown = answer_of(task).body["results"][0]["task"]

    assert shown["target"] == task.spec.target
    assert shown["not_shown"] == {"payload": NOTE}
