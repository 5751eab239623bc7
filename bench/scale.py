"""Measures whether stored tasks slow down the tasks that are due.

Times one tick and one submission with 1,000 and with 1,000,000 stored future tasks, in turns in one
run; and measures the memory of a runner that stores the million.
"""

import argparse
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

import handlers  # noqa: F401 - registers bench.noop
from harness import duetime_local, post, report

from duetime.api.app import Api
from duetime.api.http import Request
from duetime.core.ports import Ports
from duetime.core.steps.submit import submit
from duetime.core.task import Spec
from duetime.core.times import DAY, HOUR
from duetime.core.wake_policy import WakePolicy
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.handlers import registry
from duetime.scanner.scanner import Scanner
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.task_store import SqliteTaskStore

TARGET = {"type": "python", "handler": "bench.noop"}
DUE = 100  # tasks that each measured tick claims
ROUNDS = 30
JSON = {"content-type": "application/json"}


class Stored:
    """A store with `tasks` that are due between an hour and a month from now."""

    def __init__(self, folder: Path, tasks: int) -> None:
        self.data = folder / str(tasks)
        clock = SystemClock()
        self.store = SqliteTaskStore(self.data / "duetime.db")
        rules = WakePolicy(shards=self.store.shards(clock.now()).count)
        self.ports = Ports(
            store=self.store,
            schedules=self.store.schedules(clock),
            limits=self.store.limits(),
            lanes=MemoryLaneQueue(clock),
            wake_policy=rules,
            clock=clock,
            chance=SystemRandom(),
        )
        self.scanner = Scanner(self.ports, self.store)
        self.api = Api(self.ports, handlers=registry.names, version="bench")
        self.fill(tasks)

    def fill(self, tasks: int) -> None:
        for begin in range(0, tasks, 5_000):
            self.put(min(5_000, tasks - begin), HOUR, 30 * DAY)
        # A write-ahead log that grows costs more to sync than one that is overwritten: both stores
        # begin with an empty one.
        with closing(sqlite3.connect(self.data / "duetime.db")) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def put(self, count: int, least: int, most: int) -> None:
        """Stores tasks as the API does, due so late that only a tick finds them."""
        now = self.ports.clock.now()
        step = (most - least) / count
        self.store.put(
            [
                submit(
                    self.ports.wake_policy,
                    self.ports.chance.new_id(now),
                    Spec(target=TARGET, run_at=now + least + round(step * n)),
                    now=now,
                    draw=self.ports.chance.draw(),
                )
                for n in range(count)
            ]
        )

    def tick(self) -> float:
        """Times one tick that claims and sends a hundred tasks within the horizon."""
        early = WakePolicy(shards=self.ports.wake_policy.shards, horizon=1)
        now = self.ports.clock.now()
        draw = self.ports.chance.draw
        new_id = self.ports.chance.new_id
        spec = Spec(target=TARGET, run_at=now + 60_000)
        self.store.put([submit(early, new_id(now), spec, now=now, draw=draw()) for _ in range(DUE)])
        start = time.perf_counter()
        report = self.scanner.tick()
        took = time.perf_counter() - start
        if report.claimed != DUE:
            raise RuntimeError(f"claimed {report.claimed} of {DUE}")
        return took

    def submission(self) -> float:
        body = json.dumps({"target": TARGET, "delay": 86_400}).encode()
        start = time.perf_counter()
        response = self.api.call(Request(method="POST", path="/v1/tasks", headers=JSON, body=body))
        took = time.perf_counter() - start
        if response.status != 201:
            raise RuntimeError(str(response.body))
        return took


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--few", type=int, default=1_000)
    arguments.add_argument("--many", type=int, default=1_000_000)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as scratch:
        few, many = (Stored(Path(scratch), tasks) for tasks in (given.few, given.many))
        rows = [
            compare("one tick, 100 due", few.tick, many.tick),
            compare("one submission", few.submission, many.submission),
        ]
        few.store.close()
        many.store.close()
        rows.append(memory(many.data))
    report("scale", f"{given.few:,} and {given.many:,} stored tasks", rows)


def compare(what: str, few: Callable[[], float], many: Callable[[], float]) -> dict[str, Any]:
    """Compares medians, measured in turns so that a noisy machine affects both alike."""
    times: dict[Callable[[], float], list[float]] = {few: [], many: []}
    for number in range(ROUNDS):
        for measure in (few, many) if number % 2 else (many, few):
            times[measure].append(measure())
    a, b = (median(times[measure]) * 1_000 for measure in (few, many))
    return {"what": what, "few ms": round(a, 2), "many ms": round(b, 2), "ratio": round(b / a, 2)}


def memory(data: Path) -> dict[str, Any]:
    """Measures a runner with the million tasks, after some submissions and a tick."""
    body = json.dumps({"tasks": [{"target": TARGET}] * 100}).encode()
    with duetime_local(data) as running:
        connection = running.connect()
        for _ in range(20):
            post(connection, "/v1/tasks/batch", body)
        used = running.memory_mb()
    return {"what": "memory MB of the runner", "few ms": "", "many ms": round(used), "ratio": ""}


if __name__ == "__main__":
    main()
