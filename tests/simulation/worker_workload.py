"""HTTP workers in a simulation, and the restarts of their runner. They freeze over some of them."""

from collections.abc import Callable
from random import Random
from typing import Any

from duetime.core.task import Task
from duetime.core.times import SECOND, Millis
from tests.simulation.drain_workload import GRACES
from tests.simulation.http_worker import HttpWorker
from tests.simulation.liar import Liar
from tests.simulation.runner import SimulatedRunner
from tests.simulation.world import World

DOWN = [0, 3 * SECOND, 20 * SECOND, 70 * SECOND]  # how long a restart takes
FROZEN_OVER = 0.5  # of the restarts
DRAINED = 0.3  # of the workers
FIRST = 0.7  # of the messages are offered to a worker before the executors


class WorkerWorkload:
    def __init__(self, world: World) -> None:
        self._world = world
        self._engine = world.engine
        self._random = Random(f"of workers {world.seed}")
        self._drawn = world.drawn_workers
        self._workers: list[HttpWorker] = []
        self._numbers = 0
        self.children_of: Callable[[Task], list[dict[str, Any]]] = lambda task: []
        self.on_begin: Callable[[str], object] = lambda task_id: None

    def begin(self) -> None:
        if not self._drawn.workers:
            return
        self._runner = SimulatedRunner(self._world)
        for _ in range(self._drawn.workers):
            self._start(0)
        if self._drawn.restarts:
            self._world.faults.late = 0.0  # what a dead runner has not written is never written
        for _ in range(self._drawn.restarts):
            self._engine.after(self._random.randint(0, self._world.faults.lasts), self._restart)
        if self._drawn.liar:
            liar = Liar(self._world, self._runner, self._random)
            process = self._world.process("liar", liar.run)
            process.of_runner = False

    def goes_first(self) -> bool:
        """Whether the workers get to know of a message before the executors."""
        return bool(self._drawn.workers) and self._random.random() < FIRST

    def nudge(self, at: Millis) -> None:
        if self._drawn.workers:
            self._runner.nudge(at)

    def _start(self, delay: Millis) -> None:
        self._numbers += 1
        worker = HttpWorker(self._world, self._runner, self._random, f"worker-{self._numbers}")
        worker.on_end = lambda: self._gone(worker)
        worker.executor.children_of = self.children_of
        worker.executor.on_begin = self.on_begin
        self._workers.append(worker)
        worker.start(delay)
        lasts = self._world.faults.lasts
        if self._random.random() < DRAINED:
            at, grace = delay + self._random.randint(SECOND, lasts), self._random.choice(GRACES)
            self._engine.after(at, lambda: worker.process.alive and worker.drain(grace))
        if self._engine.chance(self._world.faults.killed * 30):
            self._engine.after(self._random.randint(SECOND, lasts), worker.process.kill)

    def _gone(self, worker: HttpWorker) -> None:
        self._workers.remove(worker)
        self._start(self._random.randint(1, 60) * SECOND)

    def _restart(self) -> None:
        """Some workers freeze before it, and thaw when it is over, mostly."""
        if self._world.down_until > self._engine.now:
            return
        for worker in self._workers:
            if self._random.random() < FROZEN_OVER:
                worker.freeze(self._random.randint(1, 200) * SECOND)
        wait = self._random.choice([0, 0, 5 * SECOND])
        down = self._random.choice(DOWN)
        self._engine.after(wait, lambda: self._runner.restart(down))
