"""Runs ten thousand minutely schedules on the SQLite store for ten simulated minutes.

Each minute one tick puts the next occurrence of every schedule and sends it; then the clock is set
to the minute and the executor runs everything in the lanes. The store is a real file, and every
write reaches the disk. At the end each fire time of each schedule must have run once. Then the time
to compute a fire time is measured, for ordinary expressions and for those that seldom or never
match. Exits with 1 if a limit is exceeded.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from harness import report

from duetime.core.lanes import Lane, Queue
from duetime.core.occurrence import OverlapPolicy
from duetime.core.ports import Ports
from duetime.core.recurrence.fire_times import check, next_fire
from duetime.core.recurrence.rules import BadRule, CronRule, Recurrence
from duetime.core.schedules.changes import create
from duetime.core.schedules.plan import Plan
from duetime.core.task import Spec, Task
from duetime.core.times import MINUTE, Millis
from duetime.core.wake_policy import WakePolicy
from duetime.engine.clock import SystemRandom
from duetime.executor.executor import Executor
from duetime.executor.run_control import RunControl
from duetime.executor.runs import Admitted
from duetime.scanner.scanner import Scanner
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.task_store import SqliteTaskStore
from duetime.testing.clock import VirtualClock

START: Millis = 1_798_000_020_000  # 2026-12-22T21:47:00Z
TICK_LIMIT = 20.0  # seconds
FIRE_LIMIT = 100e-6
ODD_LIMIT = 50e-3
ORDINARY = [
    ("* * * * *", "UTC"),
    ("0 9 * * 1-5", "Europe/Berlin"),
    ("*/15 8-18 * * *", "America/New_York"),
    ("30 2 * * *", "Australia/Lord_Howe"),
    ("0 0 1 * *", "America/Santiago"),
    ("0 12 L * *", "Asia/Kolkata"),
    ("0 18 * * 5#2", "Africa/Casablanca"),
]
ODD = ["0 0 30 2 *", "0 0 29 2 1", "0 0 29 2 *", "59 23 31 4,6,9,11 *"]
FIRES = 2_000


class Bench:
    def __init__(self, file: Path, schedules: int, overlap: OverlapPolicy) -> None:
        self.clock = VirtualClock(START)
        self.store = SqliteTaskStore(file)
        self.ports = Ports(
            store=self.store,
            schedules=self.store.schedules(self.clock),
            limits=self.store.limits(),
            lanes=MemoryLaneQueue(self.clock),
            wake_policy=WakePolicy(shards=self.store.shards(START).count),
            clock=self.clock,
            chance=SystemRandom(),
        )
        self.scanner = Scanner(self.ports, self.store)
        self.executor = Executor(self.ports, {"noop": self._run})
        self.ran: Counter[tuple[str, Millis]] = Counter()
        self.ids = [self.ports.chance.new_id(START) for _ in range(schedules)]
        self._fill(overlap)

    def _fill(self, overlap: OverlapPolicy) -> None:
        plan = Plan(
            recurrence=Recurrence(rules=(CronRule(expression="* * * * *"),)),
            task=Spec(target={"type": "noop"}, run_at=0, payload={"report": "daily"}),
            overlap=overlap,
        )
        made = [create(self.ports.wake_policy, i, plan, START) for i in self.ids]
        for first in range(0, len(made), 1_000):
            self.ports.schedules.put(made[first : first + 1_000])

    def minute(self, number: int) -> dict[str, Any]:
        """Ticks in the middle of a minute, and runs the occurrences at its end."""
        self.clock.set(START + number * MINUTE - MINUTE // 2)
        begun = time.perf_counter()
        ticks = [self.scanner.tick()]
        while ticks[-1].unfinished:
            ticks.append(self.scanner.tick())
        ticked = time.perf_counter()
        self.clock.set(START + number * MINUTE)
        done = self._run_lane()
        return {
            "what": f"minute {number}",
            "occurrences put": sum(tick.occurrences for tick in ticks),
            "tick s": ticked - begun,
            "run": done,
            "run s": time.perf_counter() - ticked,
        }

    def _run_lane(self) -> int:
        done = 0
        while messages := self.ports.lanes.receive(Queue(Lane.MEDIUM), 100, 0):
            due = [Admitted(message=message) for message in self.executor.admit(messages)]
            begun = self.executor.record_and_lease(due=due).started
            self.executor.record_and_lease(ended=[self.executor.run_target(run) for run in begun])
            done += len(begun)
        return done

    def _run(self, task: Task, _: RunControl) -> None:
        occurrence = task.spec.occurrence
        assert occurrence is not None
        self.ran[occurrence.schedule_id, occurrence.scheduled_for] += 1

    def wrong(self, minutes: int) -> str:
        """Returns how many fire times were lost, and how many ran twice."""
        fires = [START + n * MINUTE for n in range(1, minutes + 1)]
        counts = Counter(self.ran[i, at] for i in self.ids for at in fires)
        doubled = sum(count for runs, count in counts.items() if runs > 1)
        return f"{counts[0]} lost, {doubled} doubled"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--schedules", type=int, default=10_000)
    arguments.add_argument("--minutes", type=int, default=10)
    arguments.add_argument("--overlap", type=OverlapPolicy, default=OverlapPolicy.SKIP)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as scratch:
        bench = Bench(Path(scratch, "duetime.db"), given.schedules, given.overlap)
        rows = [bench.minute(number) for number in range(1, given.minutes + 1)]
        wrong = bench.wrong(given.minutes)
        bench.store.close()
    slowest = max(row["tick s"] for row in rows)
    title = f"{given.schedules:,} minutely schedules, overlap {given.overlap}: {wrong}"
    report("schedules", f"{title}; slowest tick {slowest:.1f} s, limit {TICK_LIMIT:g} s", rows)
    fires = [ordinary(*rule) for rule in ORDINARY] + [odd(expression) for expression in ODD]
    report("fire-times", "The next fire time", fires)
    late = [row["what"] for row in fires if row["µs"] > row["limit µs"]]
    failed = slowest > TICK_LIMIT or wrong != "0 lost, 0 doubled" or late
    return int(bool(failed))


def ordinary(expression: str, timezone: str) -> dict[str, Any]:
    """Times one fire time after another, as a warm scanner computes them."""
    recurrence = Recurrence(rules=(CronRule(expression=expression, timezone=timezone),))
    at = next_fire(recurrence, START) or 0
    times = []
    for _ in range(FIRES):
        begun = time.perf_counter()
        found = next_fire(recurrence, at)
        times.append(time.perf_counter() - begun)
        assert found is not None
        at = found
    return row(f"{expression}, {timezone}", median(times), FIRE_LIMIT, "")


def odd(expression: str) -> dict[str, Any]:
    """Times the first check of an expression, as the API makes it."""
    begun = time.perf_counter()
    try:
        check(Recurrence(rules=(CronRule(expression=expression, timezone="Europe/Berlin"),)), START)
        answer = "answered"
    except BadRule as error:
        answer = f"refused: {error.reason}"
    return row(expression, time.perf_counter() - begun, ODD_LIMIT, answer)


def row(what: str, seconds: float, limit: float, answer: str) -> dict[str, Any]:
    return {"what": what, "µs": seconds * 1e6, "limit µs": limit * 1e6, "": answer}


if __name__ == "__main__":
    sys.exit(main())
