"""Ten thousand minutely schedules on the embedded store, for ten simulated minutes.

Each minute one tick puts the next occurrence of every schedule and sends it; then the clock is
set to the minute and the lanes are worked off. The clock is set by hand, the store is a real file
and every write reaches the disk. Afterwards every fire time of every schedule is looked for: each
must have run once. Then what a fire time costs to compute, for ordinary expressions and for those
that seldom or never match. Ends with 1 if a limit is passed.
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

from duetime.embedded.lanes import MemoryLanes
from duetime.embedded.store import EmbeddedStore
from lambdas.core.lanes import Lane
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.ports import Ports
from lambdas.core.recurrence.fire_times import check, next_fire
from lambdas.core.recurrence.rules import BadRule, CronRule, Recurrence
from lambdas.core.rules import Rules
from lambdas.core.schedules.changes import create
from lambdas.core.schedules.plan import Plan
from lambdas.core.task import Spec, Task
from lambdas.core.times import MINUTE, Millis
from lambdas.executor.context import Context
from lambdas.executor.executor import Executor
from lambdas.executor.runs import Admitted
from lambdas.scanner.scanner import Scanner
from lambdas.system import SystemChance

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


class SetClock:
    def __init__(self, now: Millis) -> None:
        self._now = now

    def now(self) -> Millis:
        return self._now

    def monotonic(self) -> Millis:
        return self._now

    def set(self, now: Millis) -> None:
        self._now = now


class Bench:
    def __init__(self, file: Path, schedules: int, overlap: OverlapPolicy) -> None:
        self.clock = SetClock(START)
        self.store = EmbeddedStore(file)
        self.ports = Ports(
            store=self.store,
            schedules=self.store.schedules(self.clock),
            lanes=MemoryLanes(self.clock),
            rules=Rules(shards=self.store.shards(START).count),
            clock=self.clock,
            chance=SystemChance(),
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
        made = [create(self.ports.rules, i, plan, START) for i in self.ids]
        for first in range(0, len(made), 1_000):
            self.ports.schedules.put(made[first : first + 1_000])

    def minute(self, number: int) -> dict[str, Any]:
        """The tick comes in the middle of a minute, the occurrences are worked off at its end."""
        self.clock.set(START + number * MINUTE - MINUTE // 2)
        begun = time.perf_counter()
        ticks = [self.scanner.tick()]
        while ticks[-1].unfinished:
            ticks.append(self.scanner.tick())
        ticked = time.perf_counter()
        self.clock.set(START + number * MINUTE)
        done = self._work_off()
        return {
            "what": f"minute {number}",
            "occurrences put": sum(tick.occurrences for tick in ticks),
            "tick s": ticked - begun,
            "run": done,
            "run s": time.perf_counter() - ticked,
        }

    def _work_off(self) -> int:
        done = 0
        while messages := self.ports.lanes.receive(Lane.MEDIUM, 100, 0):
            due = [Admitted(message=message) for message in self.executor.admit(messages)]
            begun = self.executor.advance(due=due).begun
            self.executor.advance(ended=[self.executor.execute(run) for run in begun])
            done += len(begun)
        return done

    def _run(self, task: Task, _: Context) -> None:
        occurrence = task.spec.occurrence
        assert occurrence is not None
        self.ran[occurrence.schedule_id, occurrence.scheduled_for] += 1

    def wrong(self, minutes: int) -> str:
        """Lost and doubled runs, of the fire times that have passed."""
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
    """The next, and the next after that, as a scanner that keeps its schedules warm asks."""
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
    """Once, cold, as the API that is asked to take it."""
    begun = time.perf_counter()
    try:
        check(Recurrence(rules=(CronRule(expression=expression, timezone="Europe/Berlin"),)), START)
        said = "answered"
    except BadRule as error:
        said = f"refused: {error.reason}"
    return row(expression, time.perf_counter() - begun, ODD_LIMIT, said)


def row(what: str, seconds: float, limit: float, said: str) -> dict[str, Any]:
    return {"what": what, "µs": seconds * 1e6, "limit µs": limit * 1e6, "": said}


if __name__ == "__main__":
    sys.exit(main())
