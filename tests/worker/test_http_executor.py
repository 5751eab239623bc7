"""The executor of an HTTP worker, against a runner that answers what a test says."""

from typing import Any

import pytest

from duetime.core.errors import Unavailable
from duetime.core.lanes import Lane
from duetime.core.steps.lease import MAX_SILENCE
from duetime.core.task_json import task_json
from duetime.core.times import rfc3339
from duetime.core.value import replace
from duetime.executor.attempt_loop import AttemptLoop
from duetime.executor.runs import Run
from duetime.worker.http_connection import Address
from duetime.worker.http_executor import HttpExecutor
from duetime.worker.http_source import GATHER, HttpLanes, Wanted
from duetime.worker.runner_calls import RunnerCalls
from tests.factories import NOW, SteppedClock, a_running_task, a_spec

HOLDER = "w:w1:abc"
TARGET = {"type": "python", "handler": "shop.restock"}
LOST = {"status": 409, "error": {"detail": "The lease is lost"}}


class Runner(RunnerCalls):
    """`answers` has the answer to each call, by its name."""

    def __init__(self) -> None:
        super().__init__(Address.parse("http://127.0.0.1"), None, "w1")
        self.answers: dict[str, Any] = {"outcome": {"results": [{"status": 200}]}}
        self.calls: list[tuple[str, Any]] = []

    def lease(self, fields: Any) -> Any:
        return self._call("lease", fields)

    def _call(self, call: str, fields: Any) -> Any:
        self.calls.append((call, fields))
        return self.answers[call]


class Worker:
    def __init__(self) -> None:
        self.clock = SteppedClock()
        self.runner = Runner()
        self.executor = HttpExecutor(self.runner, self.clock)
        self.loop = AttemptLoop(self.executor, self.clock)
        wanted = Wanted(
            pool=None,
            lanes=tuple(Lane),
            handlers=lambda: ["shop.restock"],
            concurrency=1,
            host="here",
            new_request=lambda: "request",
        )
        self.lanes = HttpLanes(self.runner, self.executor, self.clock, wanted)

    def lease(self) -> None:
        """Leases a task and gives it to the loop."""
        task = a_running_task(spec=a_spec(target=TARGET), holder=HOLDER)
        given = {"task": task_json(task), "attempt": 1, "holder": HOLDER, "previous": None}
        given |= {"lease_until": rfc3339(NOW), "schedule_name": None}
        self.runner.answers["lease"] = {"leases": [given], "leased_after": 0.0}
        for lane, count in self.lanes.ready(0, 1).items():
            self.loop.accept(self.lanes.take(lane, count))

    def run(self) -> Run:
        """Leases a task and starts its attempt."""
        self.lease()
        [run] = self.loop.step().started
        return run


class Slots:
    """Free slots of a worker, as its pool has them."""

    def __init__(self) -> None:
        self.waits: list[tuple[float, int]] = []
        self.freed = 0

    def wait(self, timeout: float, at_least: int) -> int:
        self.waits.append((timeout, at_least))
        return self.freed


def leases_with(slots: Slots, worker: Worker, concurrency: int) -> HttpLanes:
    """Returns lanes that have had an answer."""
    wanted = replace(worker.lanes._wanted, concurrency=concurrency)
    lanes = HttpLanes(worker.runner, worker.executor, worker.clock, wanted, slots.wait)
    worker.runner.answers["lease"] = {"leases": [], "leased_after": 0.0}
    lanes.ready(0, 1)
    assert slots.waits == []
    return lanes


@pytest.fixture
def worker() -> Worker:
    return Worker()


def test_worker_that_was_frozen_after_its_lease_gives_the_attempt_back(worker: Worker):
    worker.lease()
    worker.clock.advance(MAX_SILENCE)

    assert worker.loop.step().started == []
    assert worker.loop.unfinished == 0
    worker.executor.outbox.report()
    [(_, fields)] = [call for call in worker.runner.calls if call[0] == "outcome"]
    assert [(each["holder"], each["outcome"]) for each in fields["outcomes"]] == [
        (HOLDER, "interrupted")
    ]


def test_handler_whose_lease_the_runner_does_not_know_is_stopped_at_once(worker: Worker):
    run = worker.run()
    worker.runner.answers["renew"] = {"results": [LOST]}

    worker.executor.renew([run])
    worker.loop.step()

    assert run.context.reason == "lease_lost"
    assert run.control.force_stopped


def test_child_of_which_the_store_does_not_answer_is_unavailable_and_not_refused(worker: Worker):
    run = worker.run()
    unknown = {"status": 503, "error": {"detail": "The store did not answer"}}
    worker.runner.answers["submit"] = {"results": [unknown]}

    with pytest.raises(Unavailable, match="did not answer"):
        run.control.submit([{"target": TARGET}])


def test_worker_whose_slots_are_busy_asks_once_for_those_that_become_free(worker: Worker):
    slots = Slots()
    lanes = leases_with(slots, worker, concurrency=8)
    worker.clock.advance(GATHER - 5)
    slots.freed = 3

    lanes.ready(0, 1)

    assert slots.waits == [(0.005, 4)]
    assert [fields["max"] for _, fields in worker.runner.calls] == [1, 3]


@pytest.mark.parametrize(("free", "concurrency"), [(4, 8), (1, 1), (1, 2), (1, 3)])
def test_worker_with_half_of_its_slots_free_asks_at_once(
    worker: Worker, free: int, concurrency: int
):
    slots = Slots()
    leases_with(slots, worker, concurrency).ready(0, free)

    assert slots.waits == []
    assert worker.runner.calls[-1][1]["max"] == free


def test_worker_asks_at_once_some_time_after_the_last_answer(worker: Worker):
    slots = Slots()
    lanes = leases_with(slots, worker, concurrency=8)
    worker.clock.advance(GATHER)

    lanes.ready(0, 1)

    assert slots.waits == []
    assert len(worker.runner.calls) == 2
