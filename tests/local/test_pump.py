import threading
from collections.abc import Sequence
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from duetime.local.pump import Pump
from lambdas.core.errors import Unavailable
from lambdas.core.lanes import Lane
from lambdas.scanner.report import TickReport

PATIENCE = 10  # seconds: a test that waits so long has failed


class Crew:
    """Notes what is offered; fails when it is told to."""

    running = 0

    def __init__(self) -> None:
        self.offered: SimpleQueue[Sequence[Any]] = SimpleQueue()
        self.closed = threading.Event()
        self.error: Exception | None = None

    def run(self) -> None:
        if self.error:
            raise self.error
        assert self.closed.wait(PATIENCE)

    def close(self) -> None:
        self.closed.set()

    def wait_for_slots(self, timeout: float) -> int:
        return 3

    def offer(self, messages: Sequence[Any]) -> None:
        self.offered.put(messages)


class Lanes:
    """Hands out what it is given, an error by raising it."""

    def __init__(self) -> None:
        self.coming: SimpleQueue[Any] = SimpleQueue()
        self.limits: list[int] = []

    def receive(self, lane: Lane, limit: int, wait: float) -> list[Any]:
        self.limits.append(limit)
        item = self.coming.get()
        if isinstance(item, Exception):
            raise item
        return item


class Scanner:
    def __init__(self) -> None:
        self.ticks: SimpleQueue[int] = SimpleQueue()
        self.outcomes: list[Any] = []

    def tick(self) -> TickReport:
        self.ticks.put(1)
        outcome = self.outcomes.pop(0) if self.outcomes else TickReport()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@pytest.fixture
def parts():
    return SimpleNamespace(
        scanner=Scanner(),
        crew=Crew(),
        lanes=Lanes(),
        relayed=SimpleQueue(),
        failed=threading.Event(),
    )


def a_pump(parts, tick: float = 3600) -> Pump:
    parts.changes = SimpleQueue()
    return Pump(
        scanner=parts.scanner,
        crews={Lane.HIGH: parts.crew},
        lanes=parts.lanes,
        relay=SimpleNamespace(relay=parts.relayed.put),
        changes=parts.changes,
        tick=tick,
        poll=0.01,
        on_failure=parts.failed.set,
    )


def stop(pump: Pump, parts) -> int:
    parts.lanes.coming.put([])
    return pump.stop(PATIENCE)


def test_the_first_tick_comes_at_once(parts):
    pump = a_pump(parts)
    pump.start()

    assert parts.scanner.ticks.get(timeout=PATIENCE)
    assert stop(pump, parts) == 0
    assert parts.scanner.ticks.empty()


@pytest.mark.parametrize("outcome", [Unavailable("no answer"), ValueError("a bug")])
def test_a_tick_that_fails_is_followed_by_the_next(parts, outcome):
    parts.scanner.outcomes = [outcome]
    pump = a_pump(parts, tick=0.001)
    pump.start()

    assert [parts.scanner.ticks.get(timeout=PATIENCE) for _ in range(3)] == [1, 1, 1]
    stop(pump, parts)


def test_a_tick_that_could_not_finish_is_soon_followed_by_another(parts):
    parts.scanner.outcomes = [TickReport(unfinished=True)]
    pump = a_pump(parts)
    pump.start()

    assert [parts.scanner.ticks.get(timeout=PATIENCE) for _ in range(2)] == [1, 1]
    stop(pump, parts)


def test_messages_reach_the_crew_of_their_lane_as_it_has_slots(parts):
    pump = a_pump(parts)
    pump.start()
    parts.lanes.coming.put(["a message"])

    assert parts.crew.offered.get(timeout=PATIENCE) == ["a message"]
    stop(pump, parts)
    assert set(parts.lanes.limits) == {3}


def test_a_lane_that_cannot_be_read_is_read_again(parts):
    pump = a_pump(parts)
    pump.start()
    parts.lanes.coming.put(Unavailable("no answer"))
    parts.lanes.coming.put(["a message"])

    assert parts.crew.offered.get(timeout=PATIENCE) == ["a message"]
    stop(pump, parts)


def test_changes_are_relayed(parts):
    pump = a_pump(parts)
    pump.start()
    parts.changes.put(["a change"])

    assert parts.relayed.get(timeout=PATIENCE) == ["a change"]
    stop(pump, parts)


def test_a_crew_that_fails_is_not_passed_over_in_silence(parts):
    parts.crew.error = RuntimeError("a bug")
    pump = a_pump(parts)
    pump.start()

    assert parts.failed.wait(PATIENCE)
    stop(pump, parts)
