"""The calls of an HTTP worker."""

from typing import Any

import pytest

from duetime.core.codec import to_json
from duetime.worker.http_connection import Address
from duetime.worker.runner_calls import CallRefused, RunnerCalls

LIMIT = 1_000  # bytes of a body


class Runner(RunnerCalls):
    """Refuses a body over the limit, and stores every child."""

    def __init__(self) -> None:
        super().__init__(Address.parse("http://127.0.0.1"), None, "w1")
        self.stored: list[Any] = []

    def _call(self, call: str, fields: Any) -> Any:
        if len(to_json(fields)) > LIMIT:
            raise CallRefused(413, "The body is too large")
        self.stored += fields["tasks"]
        return {"results": [{"status": 201, "task": task} for task in fields["tasks"]]}


def test_children_that_are_too_large_together_go_in_several_calls():
    runner = Runner()
    children = [{"payload": f"{n}{'x' * 150}", "ordinal": 0} for n in range(31)]

    results = runner.submit("parent", "w:w1:0", children)

    assert runner.stored == children
    assert [result["task"] for result in results] == children


def test_child_that_is_too_large_alone_is_refused():
    with pytest.raises(CallRefused):
        Runner().submit("parent", "w:w1:0", [{"payload": "x" * LIMIT}])
