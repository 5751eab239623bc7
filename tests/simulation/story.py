"""What happens in a world: clients submit and cancel, ticks come or do not, executors live and
die, operators purge and redrive."""

from typing import Any

from lambdas.api.http import Response
from lambdas.core.errors import Unavailable
from lambdas.core.lanes import Lane
from lambdas.core.lifecycle import Status
from lambdas.core.times import MINUTE, SECOND, Millis, rfc3339
from tests.simulation import plans
from tests.simulation.actors import HANDLER, ExecutorLife, scan
from tests.simulation.engine import Process
from tests.simulation.monitor import EVERYTHING
from tests.simulation.recurring import Recurring
from tests.simulation.world import World

PATIENCE: Millis = 30 * SECOND  # of a client that waits for an answer


class Story:
    def __init__(self, world: World, tasks: int) -> None:
        self._world = world
        self._engine = world.engine
        self._faults = world.faults
        self._monitor = world.monitor
        self._sqs = world.sqs
        self._sqs.on_sent = self._nudge
        self._catch_up = self._engine.random.choice([100, 1])  # overdue tasks a second
        self._executors: list[Process] = []
        self.recurring = Recurring(world, self._engine.random.choice([0, 0, 1, 2]))
        tasks = tasks * 2 // 5 if self.recurring.wanted else tasks
        self.tasks = tasks
        self.accepted: dict[str, str] = {}  # key → task id
        self.given_up: set[str] = set()

    def begin(self) -> None:
        engine, random = self._engine, self._engine.random
        for number in range(self.tasks):
            at = random.randint(0, self._faults.lasts * 2 // 3)
            engine.after(at, lambda n=number: self._submit(self._body(n)))
        for _ in range(random.randint(2, 3)):
            self._executor()
        self._tick()
        self.recurring.begin()
        for _ in range(self._faults.purges):
            lane = random.choice(list(Lane))
            engine.after(random.randint(0, self._faults.lasts), lambda n=lane: self._sqs.purge(n))
        for act in (self._redrive_some, self._revive_some):
            engine.after(random.randint(0, self._faults.lasts), act)
        if self._faults.idle:
            engine.after(self._faults.idle[0], self._all_go)
        engine.after(self._faults.lasts, lambda: self._faults.stop(engine.now))

    @property
    def over(self) -> bool:
        """Everybody has an answer, every task has ended, nothing is left in the lanes."""
        return (
            self._faults.over_at is not None
            and len(self.accepted.keys() | self.given_up) == self.tasks
            and self._sqs.empty
            and self.recurring.over
            and all(task.status.finished for task in self._monitor.tasks.values())
        )

    def ask_for_revival(self, task_id: str) -> None:
        self._monitor.asked.add(task_id)
        self._world.request("POST", f"/v1/tasks/{task_id}/retry")

    # clients

    def _submit(self, body: dict[str, Any]) -> None:
        """A client repeats its request, with its key, until it is told of the task."""
        key = body["idempotency_key"]
        if key in self.accepted or key in self.given_up:
            return

        def answered(answer: Response) -> None:
            if answer.status in (200, 201) and key not in self.accepted:
                self.accepted[key] = answer.body["id"]
                self._perhaps_cancel(answer.body["id"], within=300)
            elif answer.status == 422:  # it took so long that the task would have expired
                self.given_up.add(key)

        self._world.request("POST", "/v1/tasks", body, answered)
        self._engine.after(PATIENCE, lambda: self._submit(body))

    def _body(self, number: int) -> dict[str, Any]:
        random = self._engine.random
        attempts = random.randint(1, 4)
        body: dict[str, Any] = {
            "target": {"type": "python", "handler": HANDLER},
            "payload": plans.drawn(random, attempts),
            "delay": random.choice([0, 0, random.randint(0, 200), random.randint(240, 900)]),
            "priority": random.choice(list(Lane)),
            "timeout": random.choice([5, 20, 60, 200, 500]),
            "retry": {"max_attempts": attempts, "base_delay": random.choice([0, 1, 20])},
            "idempotency_key": f"key-{number}",
        }
        if random.random() < 0.05:
            at = self._engine.now + body["delay"] * SECOND + random.randint(1, 300) * SECOND
            body["expires_at"] = rfc3339(at)
        return body

    def _perhaps_cancel(self, task_id: str, within: float) -> None:
        if self._engine.chance(0.05):
            wait = self._engine.between(0, within)
            self._engine.after(wait, lambda: self._world.request("DELETE", f"/v1/tasks/{task_id}"))

    # ticks

    def _tick(self) -> None:
        engine, faults = self._engine, self._faults
        engine.after(MINUTE, self._tick)
        since = self._world.age
        if faults.outage and faults.outage[0] <= since < faults.outage[1]:
            return
        if engine.chance(faults.tick_missed):
            return
        for _ in range(2 if engine.chance(faults.tick_doubled) else 1):
            slices = engine.random.randint(
                1, self._world.shards
            )  # somebody changes it all the time
            for number in range(slices):
                delay = engine.between(0, 20) if engine.chance(faults.slow) else 0
                self._world.process(
                    "scanner", lambda p, n=number, s=slices: self._scan(p, n, s), delay
                )

    def _scan(self, process: Process, number: int, slices: int) -> None:
        ports, store = self._world.ports(process)
        try:
            scan(ports, store, number, slices, self._catch_up)
        except Unavailable as error:
            process.note("tick failed", str(error))
        else:
            self._monitor.settled(process)

    # executors

    def _executor(self, delay: Millis = 0) -> None:
        def main(process: Process) -> None:
            life = ExecutorLife(process, self._world.ports(process)[0], self._sqs, self._monitor)
            life.on_begin = lambda task_id: self._perhaps_cancel(task_id, within=5)
            life.live()

        process = self._world.process("executor", main, delay + self._idle_for())
        self._executors.append(process)
        process.on_end = lambda killed: self._gone(process)
        if self._engine.chance(self._faults.killed * 30):
            wait = self._engine.between(1, self._faults.lasts / SECOND)
            self._engine.after(wait, process.kill)

    def _gone(self, process: Process) -> None:
        self._executors.remove(process)
        self._executor(self._engine.between(1, 60))

    def _all_go(self) -> None:
        for process in list(self._executors):
            process.kill()

    def _idle_for(self) -> Millis:
        idle, since = self._faults.idle, self._world.age
        return max(idle[1] - since, 0) if idle and idle[0] <= since else 0

    def _nudge(self, at: Millis) -> None:
        for process in self._executors:
            process.nudge(at)

    # operators, in the middle of it all

    def _redrive_some(self) -> None:
        for letter in list(self._sqs.dead_letters):
            self._sqs.redrive(letter, copies=self._engine.random.choice([1, 1, 2]))

    def _revive_some(self) -> None:
        if self._engine.chance(0.3):
            self._monitor.asked.add(EVERYTHING)
            self._world.request("POST", "/v1/dead-letters/redrive", {"all": True})
            self._engine.after(10 * MINUTE, lambda: self._monitor.asked.discard(EVERYTHING))
            return
        for task in list(self._monitor.tasks.values()):
            if task.status is Status.DEAD and self._engine.chance(0.5):
                self.ask_for_revival(task.id)
