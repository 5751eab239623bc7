"""One simulated world: its time, table, queues, faults and processes."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from duetime.api.http import Response
from duetime.core.limits.ports import LimitStore
from duetime.core.ports import Ports, SliceState
from duetime.core.schedules.ports import ScheduleStore
from duetime.core.task import Attempt
from duetime.core.times import Millis
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import minute_of
from duetime.sqlite.slot_store import SqliteSlotStore
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import SeededRandom
from tests.simulation import aging_invariants, faults
from tests.simulation.actors import call_api
from tests.simulation.engine import Engine, Process, SkewedClock
from tests.simulation.faults import Faults
from tests.simulation.limits import SimulatedSlots
from tests.simulation.monitor import Monitor
from tests.simulation.network import Network
from tests.simulation.queue import SimulatedLanes, SimulatedSqs
from tests.simulation.rate_workload import SimulatedRates
from tests.simulation.removals import SimulatedArchive
from tests.simulation.runs import SimulatedRuns
from tests.simulation.schedules import SimulatedSchedules
from tests.simulation.store import SimulatedStore
from tests.simulation.worker_draws import WorkerDraws

NO_HEADERS: Mapping[str, str] = {}
NO_QUERY: Mapping[str, str] = {}


class World:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.engine = engine = Engine(seed)
        self.faults = faults.draw_faults(engine.random, engine.scanner_random)
        self.drawn_workers = WorkerDraws.draw(seed, self.faults)
        self.age_after = Random(f"aging {seed}").choice(aging_invariants.AGE_AFTERS)
        self.monitor = Monitor(engine, self.faults, self.age_after)
        self.sqs = SimulatedSqs(engine, self.faults, self.monitor)
        self.shards = engine.random.choice([1, 1, 2])
        self.rows = SqliteTaskStore(None)
        self._chance = SeededRandom(engine.random)
        self.processes: list[Process] = []
        self.down_until: Millis = 0  # the runner is down: none of its processes begins
        for number in range(self.shards):
            self.rows.save(number, _from_here(engine.now, self.shards))

    def close(self) -> None:
        for process in self.processes:
            process.end()
        self.rows.close()

    @property
    def age(self) -> Millis:
        return self.engine.now - self.engine.trace.start

    def process(self, role: str, main: Callable[[Process], object], delay: Millis = 0) -> Process:
        process = Process(self.engine, f"{role}-{len(self.processes)}", main)
        skew = self.engine.random.randint(-self.faults.skew, self.faults.skew)
        process.clock = SkewedClock(self.engine, skew)
        process.held_until = self.down_until
        process.start(delay)
        self.processes.append(process)
        return process

    def ports(
        self, process: Process, own_faults: Faults | None = None
    ) -> tuple[Ports, SimulatedStore]:
        network = Network(process, own_faults or self.faults)
        store = SimulatedStore(self.rows, network, self.monitor, self.shards)
        ports = Ports(
            store=store,
            schedules=SimulatedSchedules(self.rows.schedules(process.clock), network, self.monitor),
            limits=self.rows.limits(),
            lanes=SimulatedLanes(self.sqs, network, self.monitor),
            wake_policy=WakePolicy(shards=self.shards, age_after=self.age_after),
            clock=process.clock,
            chance=self._chance,
            archive=SimulatedArchive(network, self.monitor),
            slots=SimulatedSlots(self.rows.slots(), network, self.monitor.limits),
            rates=SimulatedRates(self.rows.rates(), network, self.monitor.rates),
            runs=SimulatedRuns(self.rows.runs(), network, self.monitor),
        )
        return ports, store

    @property
    def slots(self) -> SqliteSlotStore:
        return self.rows.slots()

    @property
    def limits(self) -> LimitStore:
        return self.rows.limits()

    @property
    def schedules(self) -> ScheduleStore:
        return self.rows.schedules(SkewedClock(self.engine, 0))

    def attempts(self, task_id: str) -> list[Attempt]:
        """Returns the attempts as the API does: the rows, and those that the task itself holds."""
        task = self.monitor.tasks[task_id]
        found = {a.number: a for a in self.rows.attempts(task_id)}
        found |= {a.number: a for a in (task.previous, task.current) if a is not None}
        return [found[number] for number in sorted(found)]

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        on_answer: Callable[[Response], object] = lambda answer: None,
        headers: Mapping[str, str] = NO_HEADERS,
        query: Mapping[str, str] = NO_QUERY,
        role: str = "api",
    ) -> Process:
        """Makes an API request in a process of its own, as Lambda does."""

        def main(process: Process) -> None:
            answer = call_api(self.ports(process)[0], method, path, body, headers, query)
            process.note("answers", method, path, answer.status)
            self.monitor.answered(process, answer)
            on_answer(answer)

        return self.process(role, main)


def _from_here(now: Millis, shards: int) -> SliceState:
    """Returns the state of a scanner that has run for a while; its next sweep is hours away."""
    minute = minute_of(now) - 5
    return SliceState(fence=1, cursors=dict.fromkeys(range(shards), minute), swept=minute - 1_200)
