"""The outcomes that an HTTP worker reports."""

from collections.abc import Sequence
from typing import Any, cast

from duetime.api.http import BODY_LIMIT
from duetime.core.codec import to_json
from duetime.core.results import SIZE_LIMIT
from duetime.core.times import SECOND
from duetime.engine.clock import SystemClock
from duetime.worker.outbox import BATCH, GATHER, Outbox
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


def test_outbox_gathers_outcomes_while_other_handlers_run():
    clock = SteppedClock()
    outbox = Outbox(cast("RunnerCalls", Calls()), clock, lambda _: None)
    outbox.running = lambda: 3
    outcome = {"id": an_id(0), "holder": "w:w1:1", "outcome": "succeeded", "result": None}

    outbox.put([outcome])
    assert outbox.gathers == 0, "the first one is reported at once"
    outbox.report()
    outbox.put([outcome])
    assert outbox.gathers == GATHER / SECOND
    clock.advance(GATHER)
    assert outbox.gathers == 0


def test_outbox_gathers_nothing_once_no_handler_runs_or_a_call_is_full():
    outbox = Outbox(cast("RunnerCalls", Calls()), SteppedClock(), lambda _: None)
    outcome = {"id": an_id(0), "holder": "w:w1:1", "outcome": "succeeded", "result": None}
    outbox.put([outcome])
    outbox.report()

    outbox.put([outcome])
    assert outbox.gathers == 0, "a step of a workflow may wait for this one"
    outbox.running = lambda: 3
    outbox.put([outcome] * BATCH)
    assert outbox.gathers == 0


def test_outbox_that_gathers_reports_in_the_end():
    """In real time: the outbox has a thread of its own."""
    calls = Calls()
    outbox = Outbox(cast("RunnerCalls", calls), SystemClock(), lambda _: None)
    outbox.running = lambda: 1
    outbox.start()
    outcome = {"id": an_id(0), "holder": "w:w1:1", "outcome": "succeeded", "result": None}
    for _ in range(3):
        outbox.put([outcome])

    assert outbox.close(60) == 0
    assert sum(len(body["outcomes"]) for body in calls.bodies) == 3
