"""A worker that lies about its leases. What it says of the lease of another has no effect."""

from collections.abc import Callable
from random import Random
from typing import Any

from duetime.core.codec import from_json, to_json
from duetime.core.ids import RANDOM_BITS, new_id
from duetime.core.lifecycle import Status
from duetime.core.steps.lease import LENGTH
from duetime.core.task import Task
from duetime.core.times import CLOCK_SKEW, SECOND
from duetime.core.worker_calls import holder_of
from duetime.worker.http_connection import NoAnswer
from tests.simulation.actors import HANDLER
from tests.simulation.engine import Process
from tests.simulation.http_worker import RunnerNetwork
from tests.simulation.runner import SimulatedRunner
from tests.simulation.world import World

TIMEOUT = 10.0
OUTCOMES = [
    {"outcome": "succeeded"},
    {"outcome": "failed", "error": {"type": "Lie"}, "permanent": True},
    {"outcome": "interrupted"},
    {"outcome": "snoozed", "delay": 1.0},
]

Json = dict[str, Any]


class Liar:
    """It knows the tasks and the names of all workers, but no holder except its own."""

    def __init__(self, world: World, runner: SimulatedRunner, random: Random) -> None:
        self._world = world
        self._runner = runner
        self._random = random
        self._laws = world.monitor.workers

    def run(self, process: Process) -> None:
        engine, random = process.engine, self._random
        self._name = process.name
        self._network = RunnerNetwork(self._world, self._runner, process)
        lies: list[Callable[[Process], None]] = [
            self._guess,
            self._guess,
            self._take_a_name,
            self._take_a_name,
            self._mix_up,
            self._come_late,
            self._say_two_things,
        ]
        while engine.now < engine.trace.start + self._world.faults.lasts:
            process.sleep_until(engine.now + random.randint(1, 20) * SECOND)
            try:
                random.choice(lies)(process)
            except NoAnswer:
                process.note("lie not answered")

    # lies

    def _guess(self, process: Process) -> None:
        """A holder that it has made up."""
        for task in self._of_others():
            self._lie("a made-up holder", self._name, task.id, self._made_up(self._name))

    def _take_a_name(self, process: Process) -> None:
        """The name of the worker that has the lease."""
        for task in self._of_others():
            name = str(task.holder).split(":")[1]
            self._lie("the name of another worker", name, task.id, self._made_up(name))

    def _mix_up(self, process: Process) -> None:
        """Its own lease, for the task of another."""
        for mine in self._lease():
            for task in self._of_others():
                self._lie("the lease of another task", self._name, task.id, mine["holder"])
            self._report(self._name, mine["task"]["id"], mine["holder"], OUTCOMES[0])

    def _come_late(self, process: Process) -> None:
        """Its own lease, which has run out. The runner may not have ended the attempt yet: then its
        word counts."""
        for mine in self._lease():
            process.sleep_until(process.engine.now + LENGTH + CLOCK_SKEW + 10 * SECOND)
            self._renew(self._name, mine["task"]["id"], mine["holder"])
            self._report(self._name, mine["task"]["id"], mine["holder"], OUTCOMES[0])

    def _say_two_things(self, process: Process) -> None:
        """Two outcomes of one attempt."""
        for mine in self._lease():
            task_id, holder = mine["task"]["id"], mine["holder"]
            first, second = self._random.sample(OUTCOMES, 2)
            if self._report(self._name, task_id, holder, first)["status"] == 200:
                answer = self._report(self._name, task_id, holder, second)
                self._laws.lied("a second outcome", task_id, answer)

    # calls

    def _lie(self, what: str, worker: str, task_id: str, holder: str) -> None:
        if self._random.random() < 0.5:
            self._laws.lied(what, task_id, self._renew(worker, task_id, holder))
        else:
            outcome = self._random.choice(OUTCOMES)
            self._laws.lied(what, task_id, self._report(worker, task_id, holder, outcome))

    def _lease(self) -> list[Json]:
        request = new_id(self._world.engine.now, self._random.getrandbits(RANDOM_BITS))
        wanted = {"handlers": [HANDLER], "max": 1, "wait": 0, "request": request}
        leases: list[Json] = self._call("lease", self._name, **wanted).get("leases", [])
        return leases

    def _renew(self, worker: str, task_id: str, holder: str) -> Json:
        return self._first("renew", worker, leases=[{"id": task_id, "holder": holder}])

    def _report(self, worker: str, task_id: str, holder: str, outcome: Json) -> Json:
        return self._first(
            "outcome", worker, outcomes=[{"id": task_id, "holder": holder, **outcome}]
        )

    def _first(self, call: str, worker: str, **fields: Any) -> Json:
        answer = self._call(call, worker, **fields)
        found: Json = answer["results"][0] if "results" in answer else {"status": 503}
        return found

    def _call(self, call: str, worker: str, **fields: Any) -> Json:
        body = to_json({"worker": worker, **fields}).encode()
        answer = self._network.post(f"/v1/workers/{call}", body, TIMEOUT)
        found: Json = from_json(answer.body.decode())
        return found

    def _of_others(self) -> list[Task]:
        """Returns one task that another worker runs, if there is one."""
        tasks = self._world.monitor.tasks.values()
        running = [t for t in tasks if t.status is Status.RUNNING and t.holder.startswith("w:")]
        others = [task for task in running if not task.holder.startswith(f"w:{self._name}:")]
        return [self._random.choice(others)] if others else []

    def _made_up(self, worker: str) -> str:
        return holder_of(worker, f"{self._random.getrandbits(128):032x}")
