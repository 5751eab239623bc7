"""The size of the SQLite file while short-lived tasks come and go, and what removal costs writers.

200,000 tasks are stored, end, and leave after a retention in which 20,000 of them fit; time is
stepped, so that a retention passes in seconds. Every 20,000 tasks the script prints the size of the
file and of its unused pages. It then measures single writes, without and with a sweep beside them.
"""

import sqlite3
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from percentile import percentile

from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.steps.record import succeed
from duetime.core.steps.submit import submit
from duetime.core.task import Attempt, Spec, Task
from duetime.core.times import DAY, SECOND, Millis
from duetime.core.wake_policy import WakePolicy
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.local.retention import PAUSE, SWEEP_EVERY, RetentionSweep
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.task_store import SqliteTaskStore

TASKS = 200_000
BATCH = 500
KEPT_AT_ONCE = 20_000
RETENTION: Millis = DAY
PAYLOAD = {"user": 4711, "text": "remember to water the plants " * 10}
WRITES = 2_000
TARGET = {"type": "python", "handler": "reports.daily"}
POLICY = WakePolicy(shards=1)


class SteppedClock(SystemClock):
    """The system's clock, moved ahead by hand."""

    ahead: Millis = 0

    def now(self) -> Millis:
        return super().now() + self.ahead

    def monotonic(self) -> Millis:
        return super().monotonic() + self.ahead


class World:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = SteppedClock()
        self.chance = SystemRandom()
        self.store = SqliteTaskStore(path)
        ports = Ports(
            store=self.store,
            schedules=self.store.schedules(self.clock),
            limits=self.store.limits(),
            lanes=MemoryLaneQueue(self.clock),
            wake_policy=POLICY,
            clock=self.clock,
            chance=self.chance,
        )
        self.sweep = RetentionSweep(ports, RETENTION)

    def run_tasks(self, count: int) -> None:
        """Stores tasks and ends them."""
        now = self.clock.now()
        running = [self.a_running_task(now) for _ in range(count)]
        self.store.put(running)
        self.store.apply([succeed(task, result='"done"', now=now) for task in running])

    def a_running_task(self, now: Millis) -> Task:
        spec = Spec(target=TARGET, run_at=now, payload=PAYLOAD)
        task = submit(POLICY, self.chance.new_id(now), spec, now=now, draw=self.chance.draw())
        attempt = Attempt(number=1, started_at=now, drift_ms=0)
        lease = {"lease_until": now + 45 * SECOND, "holder": self.chance.nonce()}
        return replace(task, status=Status.RUNNING, attempt=1, current=attempt, **lease)  # type: ignore[arg-type]

    def sweep_all(self) -> None:
        while self.sweep() != SWEEP_EVERY:
            continue

    def size(self) -> tuple[float, float]:
        """Returns MB of the file and of its unused pages."""
        with closing(sqlite3.connect(self.path)) as connection:
            values = [
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_size", "page_count", "freelist_count")
            ]
        page, pages, unused = values
        return page * pages / 1e6, page * unused / 1e6


def growth(world: World, tasks: int) -> list[float]:
    sizes = []
    print(f"{'tasks':>9}  {'file':>8}  {'unused':>8}")
    for number in range(1, tasks // BATCH + 1):
        world.run_tasks(BATCH)
        world.clock.ahead += RETENTION * BATCH // KEPT_AT_ONCE
        world.sweep_all()
        if number * BATCH % (tasks // 10) == 0:
            size, unused = world.size()
            sizes.append(size)
            print(f"{number * BATCH:9,}  {size:5.1f} MB  {unused:5.1f} MB")
    return sizes


def write_times(world: World) -> list[float]:
    """Returns milliseconds of single submissions."""
    times = []
    for _ in range(WRITES):
        task = world.a_running_task(world.clock.now())
        start = perf_counter()
        world.store.put([task])
        times.append(1_000 * (perf_counter() - start))
    return times


def beside_a_sweep(world: World, tasks: int) -> list[float]:
    for _ in range(tasks // BATCH):
        world.run_tasks(BATCH)
    world.clock.ahead += RETENTION
    stopped = threading.Event()

    def sweep() -> None:
        while not stopped.is_set():
            world.sweep()
            sleep(PAUSE / SECOND)

    thread = threading.Thread(target=sweep)
    thread.start()
    try:
        return write_times(world)
    finally:
        stopped.set()
        thread.join()


def show(what: str, times: Sequence[float]) -> None:
    at = {p: percentile(times, p / 100) for p in (50, 99)}
    print(f"{what}: p50 {at[50]:.2f} ms, p99 {at[99]:.2f} ms, longest {max(times):.1f} ms")


def main() -> None:
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else TASKS
    with TemporaryDirectory() as folder:
        world = World(Path(folder) / "duetime.db")
        sizes = growth(world, tasks)
        print(f"growth over the second half: {100 * (sizes[-1] / sizes[4] - 1):+.1f} %")
        show("single writes", write_times(world))
        show("single writes beside a sweep", beside_a_sweep(world, tasks // 10))
        world.store.close()


if __name__ == "__main__":
    main()
