"""One seed: a world is drawn, lives through its faults, comes to rest, and is judged."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from duetime.embedded.store import EmbeddedStore
from lambdas.api.http import Response
from lambdas.core.errors import Unavailable
from lambdas.core.lanes import Lane
from lambdas.core.lifecycle import Status
from lambdas.core.ports import Ports, SliceState
from lambdas.core.rules import Rules
from lambdas.core.times import HOUR, MINUTE, SECOND, Millis, rfc3339
from lambdas.core.wakes import minute_of
from tests.simulation import faults as faults_of
from tests.simulation import plans
from tests.simulation.actors import HANDLER, ExecutorLife, call_api, scan
from tests.simulation.engine import Dice, Engine, Process, SkewedClock
from tests.simulation.monitor import EVERYTHING, Monitor, Violation
from tests.simulation.queue import SimulatedLanes, SimulatedSqs
from tests.simulation.store import SimulatedStore

SETTLED_WITHIN: Millis = HOUR  # after the faults have stopped, every task has ended
REDRIVEN_WITHIN: Millis = 20 * MINUTE  # and every dead one that was redriven, again
PATIENCE: Millis = 30 * SECOND  # of a client that waits for an answer


@dataclass(frozen=True, kw_only=True)
class Report:
    seed: int
    tasks: int
    took: Millis
    dead: int
    trace: list[str]
    violation: str | None = None


class World:
    def __init__(self, seed: int, tasks: int) -> None:
        self.engine = engine = Engine(seed)
        self.faults = faults_of.drawn(engine.random)
        self.monitor = Monitor(engine)
        self.sqs = SimulatedSqs(engine, self.faults, self.monitor)
        self.sqs.on_sent = self._nudge
        self.accepted: dict[str, str] = {}  # key → task id
        self.given_up: set[str] = set()
        self._wanted = tasks
        self._rows = EmbeddedStore(None)
        self._dice = Dice(engine.random)
        self._shards = engine.random.choice([1, 1, 2])
        self._catch_up = engine.random.choice([100, 1])  # overdue tasks a second
        self._backed_up = engine.random.choice([1_000, 3])  # ready messages
        self._names: dict[str, int] = {}
        self._executors: list[Process] = []
        self._all: list[Process] = []
        for number in range(self._shards):
            self._rows.save(number, _from_here(engine.now, self._shards))

    def close(self) -> None:
        for process in self._all:
            process.end()
        self._rows.close()

    # processes

    def process(self, role: str, main: Callable[[Process], object], delay: Millis = 0) -> Process:
        number = self._names[role] = self._names.get(role, 0) + 1
        process = Process(self.engine, f"{role}-{number}", main)
        skew = self.engine.random.randint(-self.faults.skew, self.faults.skew)
        process.clock = SkewedClock(self.engine, skew)
        process.start(delay)
        self._all.append(process)
        return process

    def ports(self, process: Process) -> tuple[Ports, SimulatedStore]:
        store = SimulatedStore(self._rows, process, self.faults, self.monitor, self._shards)
        ports = Ports(
            store=store,
            lanes=SimulatedLanes(self.sqs, process, self.faults, self.monitor),
            rules=Rules(shards=self._shards),
            clock=process.clock,
            chance=self._dice,
        )
        return ports, store

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        on_answer: Callable[[Response], object] = lambda answer: None,
    ) -> None:
        def main(process: Process) -> None:
            answer = call_api(self.ports(process)[0], method, path, body)
            self.monitor.settled(process)
            process.note("answers", path.rpartition("/")[2], answer.status)
            on_answer(answer)

        self.process("api", main)

    # what happens of itself

    def begin(self) -> None:
        engine, random = self.engine, self.engine.random
        for number in range(self._wanted):
            at = random.randint(0, self.faults.lasts * 2 // 3)
            engine.after(at, lambda n=number: self._submit(n, self._body(n)))
        for _ in range(random.randint(2, 3)):
            self._executor()
        self._tick()
        for _ in range(self.faults.purges):
            lane = random.choice(list(Lane))
            engine.after(random.randint(0, self.faults.lasts), lambda n=lane: self.sqs.purge(n))
        for act in (self._redrive_some, self._revive_some):
            engine.after(random.randint(0, self.faults.lasts), act)
        engine.after(self.faults.lasts, self.faults.stop)

    def _submit(self, number: int, body: dict[str, Any]) -> None:
        """A client repeats its request, with its key, until it is told of the task."""
        key = body["idempotency_key"]
        if key in self.accepted or key in self.given_up:
            return

        def answered(answer: Response) -> None:
            if answer.status in (200, 201) and key not in self.accepted:
                self.accepted[key] = answer.body["id"]
                self._perhaps_cancel(answer.body["id"])
            elif answer.status == 422:  # it took so long that the task would have expired
                self.given_up.add(key)

        self.request("POST", "/v1/tasks", body, answered)
        self.engine.after(PATIENCE, lambda: self._submit(number, body))

    def _body(self, number: int) -> dict[str, Any]:
        random = self.engine.random
        attempts = random.randint(1, 4)
        body: dict[str, Any] = {
            "target": {"type": "python", "handler": HANDLER},
            "payload": plans.drawn(random, attempts),
            "delay": random.choice([0, 0, random.randint(0, 200), random.randint(240, 900)]),
            "priority": random.choice(list(Lane)),
            "timeout": random.choice([5, 20, 60, 200]),
            "retry": {"max_attempts": attempts, "base_delay": random.choice([0, 1, 20])},
            "idempotency_key": f"key-{number}",
        }
        if random.random() < 0.05:
            at = self.engine.now + body["delay"] * SECOND + random.randint(1, 300) * SECOND
            body["expires_at"] = rfc3339(at)
        return body

    def _perhaps_cancel(self, task_id: str) -> None:
        if self.engine.chance(0.08):
            wait = self.engine.between(0, 300)
            self.engine.after(wait, lambda: self.request("DELETE", f"/v1/tasks/{task_id}"))

    def _tick(self) -> None:
        engine, faults = self.engine, self.faults
        engine.after(MINUTE, self._tick)
        since = engine.now - self._start
        if faults.outage and faults.outage[0] <= since < faults.outage[1]:
            return
        if engine.chance(faults.tick_missed):
            return
        for _ in range(2 if engine.chance(faults.tick_doubled) else 1):
            for number in range(self._shards):
                delay = engine.between(0, 20) if engine.chance(faults.slow) else 0
                self.process("scanner", lambda p, n=number: self._scan(p, n), delay)

    def _scan(self, process: Process, number: int) -> None:
        ports, store = self.ports(process)
        try:
            scan(ports, store, number, self._shards, self._catch_up)
        except Unavailable as error:
            process.note("tick failed", str(error))
        else:
            self.monitor.settled(process)

    def _executor(self, delay: Millis = 0) -> None:
        def main(process: Process) -> None:
            ExecutorLife(process, self.ports(process)[0], self.sqs, self.monitor).live()

        process = self.process("executor", main, delay + self._idle_for())
        self._executors.append(process)
        process.on_end = lambda killed: self._gone(process)
        if self.engine.chance(self.faults.killed * 30):
            wait = self.engine.between(1, self.faults.lasts / SECOND)
            self.engine.after(wait, process.kill)

    def _gone(self, process: Process) -> None:
        self._executors.remove(process)
        self._executor(self.engine.between(1, 60))

    def _idle_for(self) -> Millis:
        idle, since = self.faults.idle, self.engine.now - self._start
        return max(idle[1] - since, 0) if idle and idle[0] <= since else 0

    def _nudge(self, at: Millis) -> None:
        for process in self._executors:
            process.nudge(at)

    def _redrive_some(self) -> None:
        """An operator, in the middle of it all."""
        for letter in list(self.sqs.dead_letters):
            self.sqs.redrive(letter, copies=self.engine.random.choice([1, 1, 2]))

    def _revive_some(self) -> None:
        if self.engine.chance(0.3):
            self.monitor.asked.add(EVERYTHING)
            self.request("POST", "/v1/dead-letters/redrive", {"all": True})
            self.engine.after(10 * MINUTE, lambda: self.monitor.asked.discard(EVERYTHING))
            return
        for task in list(self.monitor.tasks.values()):
            if task.status is Status.DEAD and self.engine.chance(0.5):
                self._ask_for_revival(task.id)

    def _ask_for_revival(self, task_id: str) -> None:
        self.monitor.asked.add(task_id)
        self.request("POST", f"/v1/tasks/{task_id}/retry")

    @property
    def _start(self) -> Millis:
        return self.engine.trace.start

    # the end

    def play(self) -> None:
        with patch("lambdas.scanner.dispatch.BACKED_UP", self._backed_up):
            self._play()

    def _play(self) -> None:
        self.begin()
        calm_at = self.engine.now + self.faults.lasts
        self._run(calm_at + SETTLED_WITHIN, self._at_rest, "did not end in time")
        self._judge()
        self.engine.run(self.engine.now + 2 * MINUTE, lambda: False)
        self._redrive_all()
        until = self.engine.now + REDRIVEN_WITHIN
        self._run(until, self._at_rest, "did not end in time after its redrive")
        self._judge_redrive()

    def _run(self, until: Millis, done: Callable[[], bool], reproach: str) -> None:
        if not self.engine.run(until, lambda: bool(self.monitor.failures) or done()):
            late = next((t for t in self.monitor.tasks.values() if not t.status.finished), None)
            if late is not None:
                raise Violation(f"{late.status}: {reproach}", late.id)
            raise Violation(f"{reproach}: messages are left in the lanes")
        for violation in self.monitor.failures:
            raise violation

    def _at_rest(self) -> bool:
        return (
            self.faults.over
            and len(self.accepted.keys() | self.given_up) == self._wanted
            and self.sqs.empty
            and all(task.status.finished for task in self.monitor.tasks.values())
        )

    def _judge(self) -> None:
        if not len(self.accepted) <= len(self.monitor.tasks) <= self._wanted:
            raise Violation(f"{len(self.monitor.tasks)} tasks of {self._wanted} requests")
        lettered = {letter.delivery.token for letter in self.sqs.dead_letters}
        for key, task_id in self.accepted.items():
            task = self.monitor.tasks.get(task_id)
            if task is None:
                raise Violation(f"{key} was accepted and is lost", task_id)
            dead_and_known = task.status is Status.DEAD and task.token not in self.monitor.gone
            if dead_and_known and task.token not in lettered:
                raise Violation("dead, and its message is not in the dead-letter queue", task_id)

    def _redrive_all(self) -> None:
        self._dead = {t.id: t for t in self.monitor.tasks.values() if t.status is Status.DEAD}
        self._lettered = {letter.delivery.token for letter in self.sqs.dead_letters}
        for letter in list(self.sqs.dead_letters):
            self.sqs.redrive(letter, copies=self.engine.random.choice([1, 2]))
        for task in self._dead.values():
            if task.token not in self._lettered:
                self._ask_for_revival(task.id)

    def _judge_redrive(self) -> None:
        for task in self._dead.values():
            lives = self.monitor.revived[task.token]
            if lives != 1:
                raise Violation(f"redriven once, revived {lives} times", task.id)


def simulate(seed: int, tasks: int = 50) -> Report:
    """Play a seed; a violation is part of the report, anything else that is raised is a bug."""
    logging.disable(logging.CRITICAL)
    world = World(seed, tasks)
    violation, about = None, None
    try:
        world.play()
    except Violation as error:
        violation, about = str(error), error.task_id
    finally:
        world.close()
        logging.disable(logging.NOTSET)
    dead = sum(1 for task in world.monitor.tasks.values() if task.status is Status.DEAD)
    return Report(
        seed=seed,
        tasks=len(world.monitor.tasks),
        took=world.engine.now - world.engine.trace.start,
        dead=dead,
        trace=list(world.engine.trace.about(about)) if violation else [],
        violation=violation,
    )


def _from_here(now: Millis, shards: int) -> SliceState:
    """A scanner that has long been at it; its sweep takes hours to come by."""
    minute = minute_of(now) - 5
    return SliceState(fence=1, cursors=dict.fromkeys(range(shards), minute), swept=minute - 1_200)
