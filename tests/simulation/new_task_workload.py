"""Clients that submit batches to a runner, whose tasks may start with their submission.

The runner is one of the executors: a batch is submitted in the process of its pool, and dies with
it. The client repeats a batch, with its ids, until it has an answer for each task.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from duetime.api.http import Response
from duetime.core.change import Answer, Applied
from duetime.core.codec import to_json
from duetime.core.delivery import Delivery
from duetime.core.ids import new_id
from duetime.core.lanes import Lane
from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.core.times import DAY, SECOND, Millis
from duetime.executor.new_tasks import NewTasks
from duetime.local.batches.protocol import ReadBatch
from duetime.local.batches.submission import BatchSubmission
from duetime.sqlite.new_rows import NewRows, rows_of_new
from tests.simulation import handler_plans
from tests.simulation.actors import HANDLER, ExecutorProcess, call_api
from tests.simulation.engine import Killed, Process, current
from tests.simulation.store import SimulatedStore
from tests.simulation.world import World

BATCHES = [0, 0, 0, 8]  # in a world
LARGEST = 3  # tasks of a batch
REPEAT_AFTER: Millis = 30 * SECOND

Body = dict[str, Any]


class NewTaskWorkload:
    """It has random numbers of its own, so that worlds without such batches stay as they were."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._engine = world.engine
        self._random = Random(f"new tasks {world.seed}")
        wanted = self._random.choice(BATCHES)
        self._sizes = [self._random.randint(1, LARGEST) for _ in range(wanted)]
        if world.faults.lasts >= DAY:
            self._sizes = []
        self._to_come = len(self._sizes)
        self._executors: dict[ExecutorProcess, SimulatedStore] = {}
        self._left: set[str] = set()  # ids without an answer
        self.accepted: set[str] = set()
        self.on_accepted: Callable[[str], object] = lambda task_id: None

    @property
    def tasks(self) -> int:
        """How many tasks are submitted."""
        return sum(self._sizes)

    @property
    def over(self) -> bool:
        """Whether every task has an answer."""
        return not self._left and not self._to_come

    def begin(self) -> None:
        for size in self._sizes:
            at = self._random.randint(0, self._world.faults.lasts * 2 // 3)
            self._engine.after(at, lambda n=size: self._submit_first(n))

    def has_executor(self, executor: ExecutorProcess, store: SimulatedStore) -> None:
        self._executors[executor] = store

    # the clients

    def _submit_first(self, size: int) -> None:
        delay = self._random.choice([0, 0, 0, 20])
        bodies = [self._body(delay) for _ in range(size)]
        self._left.update(body["id"] for body in bodies)
        self._to_come -= 1
        self._submit(bodies)

    def _body(self, delay: int) -> Body:
        random = self._random
        attempts = random.randint(1, 3)
        return {
            "id": new_id(self._engine.now, random.getrandbits(80)),
            "target": {"type": "python", "handler": HANDLER},
            "payload": handler_plans.draw_plan(random, attempts),
            "delay": delay,
            "priority": random.choice(list(Lane)),
            "timeout": random.choice([5, 20, 200]),
            "retry": {"max_attempts": attempts, "base_delay": random.choice([0, 1, 20])},
        }

    def _submit(self, bodies: Sequence[Body]) -> None:
        if self._left.isdisjoint(body["id"] for body in bodies):
            return
        self._engine.after(REPEAT_AFTER, lambda: self._submit(bodies))
        alive = [executor for executor in self._executors if executor.process.alive]
        if not alive:
            return
        executor = self._random.choice(alive)
        store = self._executors[executor]

        def main(process: Process) -> None:
            process.clock = executor.process.clock
            self._answer(bodies, self._respond(process, executor, store, bodies))

        self._world.process("submission", main)

    def _answer(self, bodies: Sequence[Body], statuses: Sequence[int]) -> None:
        for body, status in zip(bodies, statuses, strict=True):
            task_id = body["id"]
            if status in (200, 201) and task_id in self._left:
                self.accepted.add(task_id)
                self.on_accepted(task_id)
            if status in (200, 201, 409, 422):  # 422: so late that its id is too old
                self._left.discard(task_id)

    # the runner

    def _respond(
        self,
        process: Process,
        executor: ExecutorProcess,
        executor_store: SimulatedStore,
        bodies: Sequence[Body],
    ) -> list[int]:
        """Returns the status of each task. A batch that the submission does not store, since an id
        is taken, goes to the API."""
        ports, store = self._world.ports(process)

        def queue_new(tasks: Sequence[Task], rows: NewRows) -> Callable[[], bool]:
            its = executor_store if current() is executor.process else store
            return its.queue_new(tasks, rows)

        pool: Any = _Pool(process, executor)
        submission = BatchSubmission(ports, queue_new, lambda _: _read(ports, bodies), pool)
        answer = submission.submit(b"")
        if answer is not None:
            process.note("answers", "batch", answer.status)
            self._world.monitor.settled(process)
            return [result["status"] for result in _results(answer)]
        return [self._ask_api(process, ports, body) for body in bodies]

    def _ask_api(self, process: Process, ports: Ports, body: Body) -> int:
        answer = call_api(ports, "POST", "/v1/tasks", body, {}, {})
        process.note("answers", "POST", "/v1/tasks", answer.status)
        self._world.monitor.answered(process, answer)
        return answer.status


class _Pool:
    """The worker pool, as a submission in the same process knows it."""

    def __init__(self, process: Process, executor: ExecutorProcess) -> None:
        self._process = process
        self._executor = executor

    def store(self, new: NewTasks) -> None:
        self._executor.store(new, self._process)
        while not new.answered.is_set():
            if not self._executor.process.alive:
                raise Killed
            self._process.sleep_until(self._process.engine.now + SECOND, restless=True)


class _KeptTasks:
    """A store that keeps new tasks, and lanes that take every message."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def put(self, tasks: Sequence[Task]) -> list[Answer]:
        self.tasks += tasks
        return [Applied(task) for task in tasks]

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        return [True] * len(deliveries)


def _read(ports: Ports, bodies: Sequence[Body]) -> ReadBatch | None:
    """Reads tasks as the process that reads batches does: without a store. Returns None if the API
    refuses one of them."""
    kept: Any = _KeptTasks()
    ports = replace(ports, store=kept, lanes=kept)
    answers = [call_api(ports, "POST", "/v1/tasks", body, {}, {}) for body in bodies]
    if len(kept.tasks) < len(bodies):
        return None
    answer = to_json({"results": [{"status": answer.status} for answer in answers]})
    return ReadBatch(tasks=kept.tasks, rows=rows_of_new(kept.tasks), answer=answer.encode())


def _results(answer: Response) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(answer.encoded())["results"]
    return found
