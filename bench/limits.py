"""Limits under load: 32 executors race for the times of one rate limit, and for the slots of one
concurrency limit, on the embedded backend and on moto.

Time is virtual: at every moment at which something is due, the executors that have something to do
act in parallel threads, and the clock moves on when all are done. So the races are real, and the
starts do not depend on the machine. Handlers take the time that the part says.

    python bench/limits.py                  both parts, both backends: some minutes
    python bench/limits.py --part rate --backend embedded --seconds 10
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from heapq import heappop, heappush
from math import ceil
from random import Random
from threading import Lock
from typing import Any

from harness import report

from bench.billing.meter import Meter
from duetime.aws import clients
from duetime.aws.lane_queue import delay_seconds
from duetime.aws.provision import ensure_resources
from duetime.core.delivery import Delivery, Message
from duetime.core.lanes import Lane, Queue
from duetime.core.limits.definition import Limit, LimitUse, Rate
from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.executor.attempt_loop import AttemptLoop
from duetime.executor.executor import Executor
from duetime.executor.run_control import RunControl
from duetime.executor.runs import Ended, Run
from duetime.local.moto_backend import fair_moto
from duetime.scanner.scanner import Scanner
from tests.faulty_ports import FaultyLanes, FaultyPort
from tests.world import World, moto_world, sqlite_world

EXECUTORS = 32
SLOTS = 10  # of each executor
TABLE = "limits"
LANE = Lane.MEDIUM


class TimedLanes(FaultyPort):
    """Lanes that note when their messages become visible. Their calls take turns: moto's queues are
    not made for threads."""

    def __init__(self, port: Any, now: Callable[[], Millis], whole_seconds: bool) -> None:
        super().__init__(port)
        self._now = now
        self._whole_seconds = whole_seconds
        self._turn = Lock()
        self.visible: list[Millis] = []

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        with self._turn:
            sent: list[bool] = self.port.send(deliveries, now)
            for delivery in deliveries:
                delay = delay_seconds(delivery.visible_at, now) * SECOND
                heappush(self.visible, now + delay if self._whole_seconds else delivery.visible_at)
        return sent

    def hand_back(self, message: Message, delay: Millis) -> None:
        whole = ceil(delay / SECOND) * SECOND
        with self._turn:
            self.port.hand_back(message, delay)
            heappush(self.visible, self._now() + (whole if self._whole_seconds else delay))

    def _call(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ARG002
        with self._turn:
            return call(*arguments)


@dataclass
class RacingExecutor:
    """One executor: its loop, and the handlers that run in virtual time."""

    ports: Ports
    takes: Millis
    on_start: Callable[[Task], None]
    on_end: Callable[[Task], None]
    running: dict[str, tuple[Millis, Run]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._executor = Executor(self.ports, {"python": self._run})
        self._loop = AttemptLoop(self._executor, self.ports.clock)

    @property
    def next_event(self) -> Millis | None:
        times = [at for at, _ in self.running.values()]
        times += [] if self._loop.next_timer is None else [self._loop.next_timer]
        return min(times, default=None)

    def receive(self) -> bool:
        free = SLOTS - self._loop.unfinished
        messages = self.ports.lanes.receive(Queue(LANE), free, 0) if free > 0 else []
        self._loop.accept(messages)
        return bool(messages)

    def step(self) -> None:
        now = self.ports.clock.now()
        over = [run for at, run in self.running.values() if at <= now]
        ended: list[Ended] = []
        for run in over:
            del self.running[run.holder]
            ended.append(self._executor.run_target(run))
            self.on_end(run.task)
        for run in self._loop.step(ended).started:
            self.on_start(run.task)
            self.running[run.holder] = (self.ports.clock.now() + self.takes, run)

    def _run(self, _task: Task, _control: RunControl) -> None:
        """The handler has ended in virtual time already."""


@dataclass
class Race:
    world: World
    lanes: TimedLanes
    takes: Millis = 0
    starts: list[Millis] = field(default_factory=list)
    holding: Counter[str] = field(default_factory=Counter)
    ended: set[str] = field(default_factory=set)
    most_at_once: int = 0

    def __post_init__(self) -> None:
        self.executors = [self._executor() for _ in range(EXECUTORS)]
        self._threads = ThreadPoolExecutor(EXECUTORS)
        self._tick_at = self.world.clock.now()

    def submit(self, tasks: int, **spec: Any) -> None:
        for _ in range(tasks):
            self.world.submit(**spec)

    def run(self, until: Millis, done: Callable[[], bool] = lambda: False) -> None:
        """Goes from one moment at which something is due to the next."""
        while not done() and self.world.clock.now() <= until:
            self._act()
            self.world.advance_to(min(self._next_event(), until + 1))

    def kill(self, number: int) -> None:
        """Replaces an executor by a new one. Its handlers and messages are gone."""
        for _, run in self.executors[number].running.values():
            del self.holding[run.task.id]
        self.executors[number] = self._executor()

    def close(self) -> None:
        self._threads.shutdown()

    def _executor(self) -> RacingExecutor:
        ports = self.world.ports.with_lanes(self.lanes)  # type: ignore[arg-type]
        return RacingExecutor(ports, self.takes, self._started, self._ended)

    def _act(self) -> None:
        now = self.world.clock.now()
        if now >= self._tick_at:
            self.world.tick()
            self._tick_at += MINUTE
        while self.lanes.visible and self.lanes.visible[0] <= now:
            heappop(self.lanes.visible)
            self._receive_all(now)
        busy = [e for e in self.executors if e.next_event is not None and e.next_event <= now]
        while busy:
            list(self._threads.map(RacingExecutor.step, busy))
            busy = [e for e in busy if e.next_event is not None and e.next_event <= now]

    def _receive_all(self, now: Millis) -> None:
        """All executors race for the messages until there are none, or no free slots."""
        while self.world.lanes.depth(Queue(LANE)).ready and any(
            list(self._threads.map(RacingExecutor.receive, self.executors))
        ):
            list(self._threads.map(RacingExecutor.step, self.executors))
        while self.lanes.visible and self.lanes.visible[0] <= now:
            heappop(self.lanes.visible)
        if self.world.lanes.depth(Queue(LANE)).ready:
            heappush(self.lanes.visible, now + SECOND // 10)  # every slot is in use: a moment later

    def _next_event(self) -> Millis:
        times = [self._tick_at, *self.lanes.visible[:1]]
        times += [e.next_event for e in self.executors if e.next_event is not None]
        return max(min(times), self.world.clock.now())

    def _started(self, task: Task) -> None:
        self.starts.append(task.current.started_at if task.current else 0)
        self.holding[task.id] += 1
        self.most_at_once = max(self.most_at_once, sum(self.holding.values()))

    def _ended(self, task: Task) -> None:
        del self.holding[task.id]
        self.ended.add(task.id)


@contextmanager
def a_world(backend: str, meter: Meter) -> Iterator[tuple[World, TimedLanes]]:
    if backend == "embedded":
        with sqlite_world() as world:
            yield world, _timed(world, whole_seconds=False)
        return
    with fair_moto():
        dynamodb, sqs = clients.dynamodb(), clients.sqs()
        urls = ensure_resources(clients.dynamodb(), clients.sqs(), table=TABLE)
        meter.attach(dynamodb)
        meter.attach(sqs)
        with moto_world(dynamodb, sqs, TABLE, urls) as world:
            yield world, _timed(world, whole_seconds=True)


def _timed(world: World, *, whole_seconds: bool) -> TimedLanes:
    lanes = TimedLanes(world.lanes.port, world.clock.now, whole_seconds)
    world.lanes = FaultyLanes(lanes)  # type: ignore[arg-type]
    world.ports = world.ports.with_lanes(lanes)  # type: ignore[arg-type]
    world.scanner = Scanner(world.ports, world.cursors)
    return lanes


def most_in(moments: Sequence[Millis], span: Millis) -> int:
    """Returns the most starts in any span."""
    moments, first, most = sorted(moments), 0, 0
    for last, at in enumerate(moments):
        while moments[first] <= at - span:
            first += 1
        most = max(most, last - first + 1)
    return most


def rate_part(backend: str, seconds: int, rate: Rate) -> dict[str, Any]:
    """More tasks than the rate allows are due at once; the starts within the time count. A second
    run without the limit has the cost of the tasks themselves."""
    wanted = rate.count * seconds * SECOND // rate.period
    tasks, began = wanted + wanted // 10, time.monotonic()
    limited, units, reads = _rate_run(backend, seconds, tasks, rate)
    _, free_units, free_reads = _rate_run(backend, seconds, tasks, None)
    return {
        "what": f"rate {rate.count}/{rate.period / SECOND:g} s, {seconds} s",
        "backend": backend,
        "starts": len(limited),
        "wanted": wanted,
        "most in a period": most_in(limited, rate.period),
        "allowed": rate.count + rate.burst,
        "units on top of a task": (units - free_units) / tasks if units else "-",
        "reads on top": (reads - free_reads) / tasks if units else "-",
        "took": time.monotonic() - began,
    }


def _rate_run(
    backend: str, seconds: int, tasks: int, rate: Rate | None
) -> tuple[list[Millis], float, float]:
    meter = Meter()
    with a_world(backend, meter) as (world, lanes):
        uses: tuple[LimitUse, ...] = ()
        if rate:
            world.limits.put(Limit(namespace="default", name="stripe", rate=rate))
            uses = (LimitUse(name="stripe"),)
        race = Race(world, lanes)
        begin = world.clock.now()
        race.submit(tasks, limits=uses)
        race.run(begin + 2 * seconds * SECOND, lambda: len(race.ended) == tasks)
        race.close()
        counts = meter.take_counts()
    starts = [at for at in race.starts if at < begin + seconds * SECOND]
    writes = sum(n for name, n in counts.items() if name.startswith("write."))
    return starts, writes, counts["read"]


def concurrency_part(backend: str, tasks: int, kills: int) -> dict[str, Any]:
    """Tasks of one second under a limit of five, while executors are killed now and then."""
    most, began, random = 5, time.monotonic(), Random(7)
    with a_world(backend, Meter()) as (world, lanes):
        world.limits.put(Limit(namespace="default", name="five", concurrency=most))
        race = Race(world, lanes, takes=SECOND)
        begin = world.clock.now()
        race.submit(tasks, limits=(LimitUse(name="five"),))
        for _ in range(kills):
            race.run(world.clock.now() + tasks // most // (kills + 1) * SECOND)
            busy = [n for n, executor in enumerate(race.executors) if executor.running]
            race.kill(random.choice(busy or range(EXECUTORS)))
        race.run(begin + tasks * MINUTE, lambda: len(race.ended) == tasks)
        race.close()
        lasted = (world.clock.now() - begin) / SECOND
    return {
        "what": f"concurrency {most}, {tasks:,} tasks, {kills} kills",
        "backend": backend,
        "starts": len(race.starts),
        "ended": len(race.ended),
        "most at once": race.most_at_once,
        "allowed": most,
        "virtual seconds": lasted,
        "took": time.monotonic() - began,
    }


def has_slots() -> bool:
    """Whether this version has a gate for concurrency limits."""
    return any(one.name == "slots" for one in fields(Ports))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--part", choices=["rate", "concurrency"], default=None)
    arguments.add_argument("--backend", choices=["embedded", "moto"], default=None)
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--count", type=int, default=50, help="starts a second")
    arguments.add_argument("--tasks", type=int, default=5_000, help="of the concurrency limit")
    arguments.add_argument("--kills", type=int, default=10)
    given = arguments.parse_args()
    backends = [given.backend] if given.backend else ["embedded", "moto"]
    held = True
    if given.part in (None, "rate"):
        rate = Rate(count=given.count, period=SECOND)
        rows = [rate_part(backend, given.seconds, rate) for backend in backends]
        report("limits-rate", f"{EXECUTORS} executors under a rate limit, in virtual time", rows)
        held = all(
            row["most in a period"] <= row["allowed"]
            and abs(row["starts"] - row["wanted"]) <= row["wanted"] / 100
            for row in rows
        )
    if given.part == "concurrency" or (given.part is None and has_slots()):
        rows = [concurrency_part(backend, given.tasks, given.kills) for backend in backends]
        title = f"{EXECUTORS} executors under a concurrency limit, in virtual time"
        report("limits-concurrency", title, rows)
        held = held and all(row["most at once"] <= row["allowed"] for row in rows)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
