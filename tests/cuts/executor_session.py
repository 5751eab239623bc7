"""An executor that a cut may take in the middle of what it does."""

from collections.abc import Callable, Sequence
from typing import Any

from lambdas.core.lease import HEARTBEAT
from lambdas.core.ports import Ports
from lambdas.core.task import Task
from lambdas.executor.books import Books
from lambdas.executor.context import Context
from lambdas.executor.executor import Executor
from lambdas.executor.runs import Run
from tests.cuts.backends import LANE
from tests.world import World


class Holding:
    """An executor, from taking messages in to the end of what they began."""

    def __init__(self, ports: Ports, world: World, run: Callable[[Task, Context], Any]) -> None:
        self._lanes = ports.lanes
        self._world = world
        self._executor = Executor(ports, {"python": run})
        self._books = Books(self._executor, ports.clock)
        self._begun: Sequence[Run] = ()

    def begin(self) -> "Holding":
        self._books.take(self._lanes.receive(LANE, 10, 0))
        self._begun = self._books.turn().begun
        return self

    def renew(self) -> None:
        self._wait()
        self._books.turn()

    def finish(self) -> None:
        while self._begun or self._books.open:
            ended = [self._executor.execute(run) for run in self._begun]
            if not ended:
                self._wait()
            self._begun = self._books.turn(ended).begun

    def _wait(self) -> None:
        """Until there is something to do; if nothing was begun, for as long as it would take."""
        at = self._books.next_timer
        self._world.advance_to(self._world.clock.now() + HEARTBEAT if at is None else at)
