import logging
import threading
import time
from collections.abc import Iterator, Sequence
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from duetime import supervised_threads
from duetime.core.errors import DuetimeError, Unavailable
from duetime.core.lanes import Lane, Queue
from duetime.core.shares import Shares, Weights
from duetime.core.times import SECOND
from duetime.local import event_pump as pump_module
from duetime.local.event_pump import Pump
from duetime.local.lane_sources import PolledLanes
from duetime.scanner.report import TickReport
from tests.factories import SteppedClock

PATIENCE = 60  # seconds: a test that waits so long has failed


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised_threads, "FIRST_RESTART_PAUSE", 0.001)


@pytest.fixture
def broken_logging() -> Iterator[None]:
    class Raising(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise OSError("Too many open files")

    handler = Raising()
    logging.getLogger().addHandler(handler)
    yield
    logging.getLogger().removeHandler(handler)


class WorkerPool:
    """Records the offered messages; fails if a test says so."""

    running, free, not_stopped = 0, 3, 0

    def __init__(self) -> None:
        self.offered: SimpleQueue[Sequence[Any]] = SimpleQueue()
        self.closed = threading.Event()
        self.error: BaseException | None = None
        self.no_threads = False
        self.refill: Any = None

    def start(self) -> None:
        if self.no_threads:
            raise RuntimeError("can't start new thread")

    def run(self) -> None:
        if self.error:
            raise self.error
        assert self.closed.wait(PATIENCE)

    def drain(self, grace: float) -> None:
        self.closed.set()

    def wait_for_slots(self, timeout: float) -> int:
        return self.free

    def offer(self, messages: Sequence[Any]) -> None:
        self.offered.put(messages)


class Lanes:
    """Hands out what it is given for the lane high, an error by raising it."""

    def __init__(self) -> None:
        self.coming: SimpleQueue[Any] = SimpleQueue()
        self.limits: list[int] = []
        self.handed_back: list[Any] = []

    def receive(self, queue: Queue, limit: int, wait: float) -> list[Any]:
        if queue.lane is not Lane.HIGH:
            time.sleep(wait)
            return []
        self.limits.append(limit)
        item = self.coming.get()
        if isinstance(item, Exception):
            raise item
        return item

    def hand_back(self, message: Any, delay: int) -> None:
        self.handed_back.append(message)


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
        pool=WorkerPool(),
        lanes=Lanes(),
        relayed=SimpleQueue(),
        failed=threading.Event(),
        clock=SteppedClock(),
    )


def a_pump(parts, tick: float = 3600, **options: Any) -> Pump:
    parts.changes = SimpleQueue()
    return Pump(
        scanner=parts.scanner,
        pool=parts.pool,
        source=PolledLanes(parts.lanes),
        shares=Shares(Weights()),
        relay=SimpleNamespace(relay=parts.relayed.put),
        changes=parts.changes,
        clock=parts.clock,
        tick=tick,
        poll=0.01,
        on_failure=lambda reason: parts.failed.set(),
        **options,
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


@pytest.mark.parametrize("error", [Unavailable("the archive is full"), ValueError("a bug")])
def test_a_sweep_that_fails_is_followed_by_the_next(parts, error, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pump_module, "SHORT_PAUSE", 0.001)
    monkeypatch.setattr(pump_module, "FAILED_SWEEP_PAUSE", 0.001)
    swept: SimpleQueue[int] = SimpleQueue()

    def sweep() -> int:
        swept.put(1)
        raise error

    pump = a_pump(parts, sweep=sweep)
    pump.start()

    assert [swept.get(timeout=PATIENCE) for _ in range(3)] == [1, 1, 1]
    assert not parts.failed.is_set()
    stop(pump, parts)


def test_a_sweep_waits_as_long_as_it_says(parts, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pump_module, "SHORT_PAUSE", 0.001)
    swept: SimpleQueue[int] = SimpleQueue()
    waits = [1, 1, 3600 * SECOND]
    pump = a_pump(parts, sweep=lambda: swept.put(1) or waits.pop(0))
    pump.start()

    assert [swept.get(timeout=PATIENCE) for _ in range(3)] == [1, 1, 1]
    stop(pump, parts)
    assert swept.empty()


def test_a_tick_that_could_not_finish_is_soon_followed_by_another(parts):
    parts.scanner.outcomes = [TickReport(unfinished=True)]
    pump = a_pump(parts)
    pump.start()

    assert [parts.scanner.ticks.get(timeout=PATIENCE) for _ in range(2)] == [1, 1]
    stop(pump, parts)


def test_tick_waits_for_the_leases_when_the_wall_clock_was_set(parts, monkeypatch):
    """By the new time a lease that is about to be renewed looks expired."""
    waits: SimpleQueue[float] = SimpleQueue()
    monkeypatch.setattr(pump_module, "CLOCK_JUMP_PAUSE", 0.002)
    pump = a_pump(parts, tick=0.001)
    wait = pump._stopping.wait
    pump._stopping.wait = lambda seconds: (waits.put(seconds), wait(seconds))[1]
    parts.clock.set_by(3_600 * SECOND)
    pump.start()

    assert parts.scanner.ticks.get(timeout=PATIENCE)
    assert [waits.get(timeout=PATIENCE) for _ in range(3)] == [0, 0.002, 0.001]
    stop(pump, parts)


def test_messages_reach_the_worker_pool_as_it_has_slots(parts):
    pump = a_pump(parts)
    pump.start()
    parts.lanes.coming.put(["1", "2", "3", "4"])

    assert parts.pool.offered.get(timeout=PATIENCE) == ["1", "2", "3"]
    assert parts.pool.offered.get(timeout=PATIENCE) == ["4"]
    stop(pump, parts)


def test_messages_that_found_no_slot_are_given_back_at_the_end(parts):
    parts.pool.free = 0
    pump = a_pump(parts)
    pump.start()
    parts.lanes.coming.put(["1", "2"])
    assert pump._source.ready(PATIENCE, 100) == {Lane.HIGH: 2}

    assert stop(pump, parts) == 0
    assert sorted(parts.lanes.handed_back) == ["1", "2"]
    assert parts.pool.offered.empty()


def test_a_lane_that_cannot_be_read_is_read_again(parts):
    pump = a_pump(parts)
    pump.start()
    parts.lanes.coming.put(Unavailable("no answer"))
    parts.lanes.coming.put(["a message"])

    assert parts.pool.offered.get(timeout=PATIENCE) == ["a message"]
    stop(pump, parts)


def test_pump_that_cannot_start_its_threads_takes_nothing_in(parts):
    parts.pool.no_threads = True
    parts.lanes.coming.put(["a message"])

    with pytest.raises(DuetimeError, match="no more threads: can't start new thread; allow more"):
        a_pump(parts).start()
    assert parts.pool.offered.empty()
    assert parts.lanes.limits == []


def test_lanes_are_not_read_before_every_thread_has_started(parts, monkeypatch):
    """A runner that fails at its start must not have leased anything."""
    start = threading.Thread.start
    pump = a_pump(parts)
    parts.lanes.coming.put(["a message"])

    def start_all_but_the_last(thread):
        if thread is last:
            raise RuntimeError("can't start new thread")
        start(thread)

    pump._sweep_threads.append(pump._thread(lambda: None, "one more"))
    last = pump._sweep_threads[-1]._thread
    monkeypatch.setattr(threading.Thread, "start", start_all_but_the_last)

    with pytest.raises(DuetimeError, match="no more threads: can't start new thread; allow more"):
        pump.start()
    assert not pump._started.is_set()
    assert parts.lanes.limits == []


def test_changes_are_relayed(parts):
    pump = a_pump(parts)
    pump.start()
    parts.changes.put(["a change"])

    assert parts.relayed.get(timeout=PATIENCE) == ["a change"]
    stop(pump, parts)


def test_changes_that_have_come_meanwhile_are_relayed_together(parts):
    pump = a_pump(parts)
    for change in ("one", "two", "three"):
        parts.changes.put([change])
    pump.start()
    assert parts.relayed.get(timeout=PATIENCE) == ["one", "two", "three"]
    parts.changes.put(["four"])

    assert parts.relayed.get(timeout=PATIENCE) == ["four"]
    stop(pump, parts)


def test_relay_that_is_stopped_relays_first_what_has_come(parts):
    pump = a_pump(parts)
    for change in ("one", "two"):
        parts.changes.put([change])
    parts.changes.put(None)
    pump.start()

    assert parts.relayed.get(timeout=PATIENCE) == ["one", "two"]
    stop(pump, parts)


def test_relay_waits_for_more_changes_only_after_a_flood(parts):
    pauses: SimpleQueue[float] = SimpleQueue()
    pump = a_pump(parts)
    pump._drained = SimpleNamespace(wait=pauses.put, set=lambda: None)  # type: ignore[assignment]
    flood = [str(n) for n in range(pump_module.FLOOD)]
    pump.start()
    parts.changes.put(flood)
    assert parts.relayed.get(timeout=PATIENCE) == flood
    assert pauses.get(timeout=PATIENCE) == pump_module.FLOOD_PAUSE
    parts.changes.put(flood[1:])
    assert parts.relayed.get(timeout=PATIENCE) == flood[1:]
    stop(pump, parts)

    assert pauses.empty()


@pytest.mark.parametrize("error", [RuntimeError("a bug"), MemoryError(), SystemExit(1)], ids=repr)
@pytest.mark.usefixtures("broken_logging")
def test_worker_pool_that_fails_ends_the_runner_although_logging_fails_too(parts, error):
    parts.pool.error = error
    pump = a_pump(parts)
    pump.start()

    assert parts.failed.wait(PATIENCE)
    stop(pump, parts)


@pytest.mark.usefixtures("broken_logging")
def test_poll_thread_that_fails_while_it_logs_is_started_again(parts):
    pump = a_pump(parts)
    pump.start()
    parts.lanes.coming.put(Unavailable("no answer"))
    parts.lanes.coming.put(["a message"])

    assert parts.pool.offered.get(timeout=PATIENCE) == ["a message"]
    assert not parts.failed.is_set()
    stop(pump, parts)


@pytest.mark.usefixtures("broken_logging")
def test_tick_thread_that_fails_while_it_logs_is_started_again(parts):
    parts.scanner.outcomes = [Unavailable("no answer")]
    pump = a_pump(parts)
    pump.start()

    assert [parts.scanner.ticks.get(timeout=PATIENCE) for _ in range(2)] == [1, 1]
    stop(pump, parts)


@pytest.mark.usefixtures("broken_logging")
def test_relay_thread_that_fails_goes_on_with_the_next_changes(parts):
    def relay(changes: Any) -> None:
        parts.relayed.put(changes)
        if changes == ["a bad change"]:
            raise SystemExit

    pump = a_pump(parts)
    pump._relay = SimpleNamespace(relay=relay)  # type: ignore[assignment]
    pump.start()
    parts.changes.put(["a bad change"])
    assert parts.relayed.get(timeout=PATIENCE) == ["a bad change"]
    parts.changes.put(["a change"])

    assert parts.relayed.get(timeout=PATIENCE) == ["a change"]
    stop(pump, parts)


@pytest.mark.usefixtures("broken_logging")
def test_feed_that_fails_is_read_again_until_the_last_run_has_ended(parts):
    coming: list[Any] = [Unavailable("no answer"), [], ["a change"]]

    def feed() -> Any:
        item = coming.pop(0) if coming else []
        if isinstance(item, Exception):
            raise item
        return item

    pump = a_pump(parts, feed=feed)
    pump.start()

    assert parts.relayed.get(timeout=PATIENCE) == ["a change"]
    stop(pump, parts)
