"""The outcomes that an HTTP worker reports."""

from collections.abc import Sequence
from typing import Any, cast

from duetime.api.http import BODY_LIMIT
from duetime.core.codec import to_json
from duetime.core.results import SIZE_LIMIT
from duetime.worker.outbox import Outbox
from duetime.worker.runner_calls import RunnerCalls
from tests.factories import SteppedClock, an_id

MANY = 100


class Calls:
    """A runner that takes every outcome."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def report(self, outcomes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        self.bodies.append({"worker": "w" * 64, "outcomes": outcomes})
        return [{"status": 200}] * len(outcomes)


def test_outcomes_with_the_largest_results_fit_into_their_calls():
    calls = Calls()
    outbox = Outbox(cast("RunnerCalls", calls), SteppedClock(), lambda _: None)
    largest = {
        "id": an_id(0),
        "holder": f"w:{'w' * 64}:{'0' * 32}",
        "outcome": "succeeded",
        "started_after": 0.123,
        "result": "x" * (SIZE_LIMIT - 2),
    }
    outbox.put([largest] * MANY)

    while outbox.left:
        outbox.report()

    assert sum(len(body["outcomes"]) for body in calls.bodies) == MANY
    assert max(len(to_json(body).encode()) for body in calls.bodies) <= BODY_LIMIT
