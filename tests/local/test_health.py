"""The health of the local runner: it checks the real parts, and never hangs."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from duetime.api.app import Api
from duetime.api.http import Request, Response
from duetime.core.change import Applied, Unknown
from duetime.core.errors import DiskFull, Unavailable
from duetime.core.lanes import Lane
from duetime.core.ports import Ports
from duetime.core.shares import Shares, Weights
from duetime.core.times import HOUR
from duetime.core.wake_policy import WakePolicy
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.executor.executor import Executor
from duetime.executor.worker_pool import WorkerPool
from duetime.local import event_pump as pump_module
from duetime.local.event_pump import Pump
from duetime.local.health import Probe, RunnerHealth
from duetime.local.lane_sources import MemoryLanes
from duetime.relay import Relay
from duetime.scanner.scanner import Scanner
from duetime.sqlite import database
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import a_spec, a_task

PATIENCE = 60  # seconds: a test that waits so long has failed


class Running:
    """The parts of a runner on a real store, with threads, and the API before them."""

    def __init__(self, path: Path, tick: float = 3_600) -> None:
        self.failures: SimpleQueue[str] = SimpleQueue()
        clock = SystemClock()
        self.store = SqliteTaskStore(path)
        lanes = MemoryLaneQueue(clock)
        ports = Ports(
            store=self.store,
            schedules=self.store.schedules(clock),
            limits=self.store.limits(),
            lanes=lanes,
            wake_policy=WakePolicy(shards=self.store.shards(clock.now()).count),
            clock=clock,
            chance=SystemRandom(),
        )
        self.executor = Executor(ports, {})
        self.scanner = Scanner(ports, self.store)
        self.ticked = threading.Event()
        self.pool = WorkerPool(self.executor, clock, 2)
        self.pump = Pump(
            scanner=SimpleNamespace(tick=self._tick),
            pool=self.pool,
            source=MemoryLanes(lanes),
            shares=Shares(Weights()),
            relay=Relay([], lambda _: None),
            changes=SimpleQueue(),
            clock=clock,
            tick=tick,
            poll=0.05,
            on_failure=self.failures.put,
            sweep=lambda: HOUR,
        )
        health = RunnerHealth(self.store.check, self.pump)
        self.api = Api(ports, handlers=set, version="9", health=health)
        self.pump.start()
        assert self.ticked.wait(PATIENCE)

    def _tick(self) -> Any:
        try:
            return self.scanner.tick()
        finally:
            self.ticked.set()

    def health(self) -> Response:
        return self.api.call(Request(method="GET", path="/v1/health"))

    def wrong(self) -> dict[str, str]:
        response = self.health()
        found = {name: why for name, why in response.body["checks"].items() if why != "ok"}
        assert response.status == (503 if found else 200)
        return found


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    running = Running(tmp_path / "duetime.db")
    yield running
    running.pump.stop(PATIENCE)
    running.store.close()


def test_healthy_runner_says_what_it_has_looked_at(running: Running):
    response = running.health()

    assert response.status == 200
    assert response.body["status"] == "ok"
    assert set(response.body["checks"]) == {
        "store",
        "scanner",
        "lane high",
        "lane medium",
        "lane low",
        "relay",
        "retention",
    }
    assert 0 <= response.body["last_tick_age"] < PATIENCE


def fill(store: SqliteTaskStore) -> None:
    """SQLite says the same of a full disk and of a file that has reached its limit."""
    writer = store._database._writer
    assert writer
    [pages] = writer.execute("PRAGMA page_count").fetchone()
    writer.execute(f"PRAGMA max_page_count = {pages}")


def make_room(store: SqliteTaskStore) -> None:
    writer = store._database._writer
    assert writer
    writer.execute("PRAGMA max_page_count = 1000000")


def test_full_disk_is_named_and_over_once_there_is_room(
    running: Running, caplog: pytest.LogCaptureFixture
):
    fill(running.store)
    big = a_task(spec=a_spec(payload="p" * 200_000))
    [answer] = running.store.put([big])
    assert isinstance(answer, Unknown)
    assert answer.reason == "the disk is full"
    assert "store not written: the disk is full" in caplog.text

    with suppress(DiskFull):  # a retry may still find room in a page
        running.store.check()
    running.store.put([big])
    assert running.store._database.write_fault

    make_room(running.store)
    assert running.wrong() == {}
    [answer] = running.store.put([big])
    assert isinstance(answer, Applied)
    assert "store recovered" in caplog.text


def test_disk_without_room_is_unhealthy_before_a_write_fails(
    running: Running, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("duetime.sqlite.database.has_room", lambda path: False)

    response = running.health()

    assert (response.status, response.body["status"]) == (503, 503)
    assert response.headers["content-type"] == "application/problem+json"
    assert response.body["type"] == "urn:duetime:problem:unhealthy"
    assert response.body["detail"] == "store: the disk is full"
    assert response.body["checks"]["store"] == "the disk is full"
    assert response.body["checks"]["lane high"] == "ok"


def test_write_that_failed_is_tried_again_before_health_says_so(
    running: Running, monkeypatch: pytest.MonkeyPatch
):
    def no(*_: object) -> None:
        raise Unavailable("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(running.store._database, "_check_commit", no)
        running.store.put([a_task()])
        assert running.wrong() == {"store": "disk I/O error"}

    assert running.wrong() == {}


def test_deleted_file_is_unhealthy(running: Running, tmp_path: Path):
    (tmp_path / "duetime.db").unlink()

    assert "deleted or moved" in running.wrong()["store"]


def test_lanes_are_unhealthy_when_the_worker_pool_died(
    running: Running, monkeypatch: pytest.MonkeyPatch
):
    def die(*_: object) -> None:
        raise SystemExit

    monkeypatch.setattr(running.pool._loop, "accept", die)
    running.pool.offer([])
    assert "the thread pool failed" in running.failures.get(timeout=PATIENCE)

    reason = "the thread pool failed: SystemExit: "
    assert running.wrong() == {f"lane {lane}": reason for lane in Lane}


def test_scanner_that_does_not_tick_any_more_is_unhealthy(
    running: Running, monkeypatch: pytest.MonkeyPatch
):
    running.pump._tick = 60
    now = pump_module.monotonic()
    monkeypatch.setattr(pump_module, "monotonic", lambda: now + 170)
    assert running.wrong() == {}

    monkeypatch.setattr(pump_module, "monotonic", lambda: now + 190)
    running.pump._tick_failure = "the disk is full"
    reason = running.wrong()["scanner"]
    assert reason.startswith("no tick for 190 s; the last one failed: the disk is full")


def test_store_that_hangs_is_unhealthy_after_a_moment():
    go_on = threading.Event()
    asked: list[int] = []

    def hang() -> None:
        asked.append(1)
        assert go_on.wait(PATIENCE)

    probe = Probe(hang, timeout=0.01)
    assert [probe.reason() for _ in range(3)] == ["no answer for 0 s"] * 3
    assert asked == [1]  # one call hangs, so no other starts

    go_on.set()
    patient = Probe(hang, timeout=PATIENCE)
    assert patient.reason() is None


def test_health_asks_the_store_although_no_more_threads_can_be_started(
    monkeypatch: pytest.MonkeyPatch,
):
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    answers = iter([None, "disk I/O error", None])

    def check() -> None:
        if reason := next(answers):
            raise Unavailable(reason)

    probe = Probe(check, timeout=PATIENCE)
    monkeypatch.setattr(threading.Thread, "start", refuse)

    assert [probe.reason() for _ in range(3)] == [None, "disk I/O error", None]


def test_write_that_another_program_holds_up_is_unhealthy(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begun = threading.Event()
    monkeypatch.setattr(
        running.store._database, "_get_writer", _signalling_writer(running.store, begun)
    )
    with closing(sqlite3.connect(tmp_path / "duetime.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writing = threading.Thread(target=running.store.put, args=([a_task()],))
        writing.start()
        assert begun.wait(PATIENCE)
        assert running.wrong() == {}

        now = database.monotonic()
        monkeypatch.setattr(database, "monotonic", lambda: now + 10)
        assert "a write has been running for 10 s" in running.wrong()["store"]
        other.execute("ROLLBACK")
        writing.join(PATIENCE)

    assert running.wrong() == {}


def _signalling_writer(store: SqliteTaskStore, begun: threading.Event) -> Any:
    real = store._database._get_writer

    def writing() -> sqlite3.Connection:
        begun.set()
        return real()

    return writing
