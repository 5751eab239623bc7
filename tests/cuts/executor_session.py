"""An executor in steps, so that a cut can fall between them."""

from collections.abc import Callable, Sequence
from typing import Any

from duetime.core.lanes import Queue
from duetime.core.ports import Ports
from duetime.core.steps.lease import HEARTBEAT
from duetime.core.task import Task
from duetime.executor.attempt_loop import AttemptLoop
from duetime.executor.executor import Executor
from duetime.executor.new_tasks import NewTasks
from duetime.executor.run_control import RunControl
from duetime.executor.runs import Run
from tests.cuts.backends import LANE, LANES
from tests.world import World


class ExecutorSession:
    """An executor from receiving messages to the end of the runs they began."""

    def __init__(self, ports: Ports, world: World, run: Callable[[Task, RunControl], Any]) -> None:
        self._lanes = ports.lanes
        self._world = world
        self._executor = Executor(ports, {"python": run})
        self._loop = AttemptLoop(self._executor, ports.clock)
        self._begun: Sequence[Run] = ()

    def begin(self) -> "ExecutorSession":
        """An executor has one lane. It is the first one, unless a promotion has left the task's
        message in the next."""
        ready = (lane for lane in LANES if self._world.lanes.depth(Queue(lane)).ready)
        self._loop.accept(self._lanes.receive(Queue(next(ready, LANE)), 10, 0))
        self._begun = self._loop.step().started
        return self

    def store(self, new: NewTasks) -> "ExecutorSession":
        self._begun = self._loop.step(new=[new]).started
        return self

    def renew(self) -> None:
        self._wait()
        self._loop.step()

    def drain(self) -> None:
        """The executor is stopped without a grace, which interrupts its runs."""
        self._loop.drain(0)
        self._loop.step()

    def finish(self) -> None:
        while self._begun or self._loop.unfinished:
            ended = [self._executor.run_target(run) for run in self._begun]
            if not ended:
                self._wait()
            self._begun = self._loop.step(ended).started

    def _wait(self) -> None:
        """Advances the clock to the next timer, or by a heartbeat if there is none."""
        at = self._loop.next_timer
        self._world.advance_to(self._world.clock.now() + HEARTBEAT if at is None else at)
