"""One simulated world: its time, its table, its queues, its faults, and who lives in it."""

from collections.abc import Callable, Mapping
from typing import Any

from duetime.embedded.store import EmbeddedStore
from lambdas.api.http import Response
from lambdas.core.ports import Ports, SliceState
from lambdas.core.rules import Rules
from lambdas.core.schedules.ports import ScheduleStore
from lambdas.core.task import Attempt
from lambdas.core.times import Millis
from lambdas.core.wakes import minute_of
from tests.simulation import faults
from tests.simulation.actors import call_api
from tests.simulation.engine import Dice, Engine, Process, SkewedClock
from tests.simulation.monitor import Monitor
from tests.simulation.queue import SimulatedLanes, SimulatedSqs
from tests.simulation.schedules import SimulatedSchedules
from tests.simulation.store import SimulatedStore

NO_HEADERS: Mapping[str, str] = {}


class World:
    def __init__(self, seed: int) -> None:
        self.engine = engine = Engine(seed)
        self.faults = faults.drawn(engine.random, engine.scanner_random)
        self.monitor = Monitor(engine, self.faults)
        self.sqs = SimulatedSqs(engine, self.faults, self.monitor)
        self.shards = engine.random.choice([1, 1, 2])
        self._rows = EmbeddedStore(None)
        self._dice = Dice(engine.random)
        self._processes: list[Process] = []
        for number in range(self.shards):
            self._rows.save(number, _from_here(engine.now, self.shards))

    def close(self) -> None:
        for process in self._processes:
            process.end()
        self._rows.close()

    @property
    def age(self) -> Millis:
        return self.engine.now - self.engine.trace.start

    def process(self, role: str, main: Callable[[Process], object], delay: Millis = 0) -> Process:
        process = Process(self.engine, f"{role}-{len(self._processes)}", main)
        skew = self.engine.random.randint(-self.faults.skew, self.faults.skew)
        process.clock = SkewedClock(self.engine, skew)
        process.start(delay)
        self._processes.append(process)
        return process

    def ports(self, process: Process) -> tuple[Ports, SimulatedStore]:
        store = SimulatedStore(self._rows, process, self.faults, self.monitor, self.shards)
        rows = self._rows.schedules(process.clock)
        ports = Ports(
            store=store,
            schedules=SimulatedSchedules(rows, process, self.faults, self.monitor),
            lanes=SimulatedLanes(self.sqs, process, self.faults, self.monitor),
            rules=Rules(shards=self.shards),
            clock=process.clock,
            chance=self._dice,
        )
        return ports, store

    @property
    def schedules(self) -> ScheduleStore:
        return self._rows.schedules(SkewedClock(self.engine, 0))

    def attempts(self, task_id: str) -> list[Attempt]:
        """As the API tells them: the rows, and what the task itself still holds."""
        task = self.monitor.tasks[task_id]
        found = {a.number: a for a in self._rows.attempts(task_id)}
        found |= {a.number: a for a in (task.previous, task.current) if a is not None}
        return [found[number] for number in sorted(found)]

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        on_answer: Callable[[Response], object] = lambda answer: None,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> None:
        """Each request has a process of its own, as a Lambda's has."""

        def main(process: Process) -> None:
            answer = call_api(self.ports(process)[0], method, path, body, headers)
            process.note("answers", method, path, answer.status)
            self.monitor.answered(process, answer)
            on_answer(answer)

        self.process("api", main)


def _from_here(now: Millis, shards: int) -> SliceState:
    """A scanner that has long been at it; its sweep takes hours to come by."""
    minute = minute_of(now) - 5
    return SliceState(fence=1, cursors=dict.fromkeys(range(shards), minute), swept=minute - 1_200)
