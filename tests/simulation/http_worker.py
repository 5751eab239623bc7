"""An HTTP worker in virtual time: the real attempt loop, executor, source and outbox of one, with
three processes for its three threads, behind a network that loses, delays and repeats its calls."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, cast

from duetime.api.http import Response
from duetime.core.codec import to_json
from duetime.core.delivery import Message
from duetime.core.ids import RANDOM_BITS, new_id
from duetime.core.lanes import Lane
from duetime.core.times import DAY, HOUR, SECOND, Millis
from duetime.executor.target_runner import TargetRunner
from duetime.worker.http_connection import Address, Answer, Connection, NoAnswer
from duetime.worker.http_executor import HttpExecutor, _WorkerPorts
from duetime.worker.http_source import HttpLanes, Wanted
from duetime.worker.runner_calls import RunnerCalls
from duetime.worker.worker import TURN
from tests.simulation.actors import HANDLER, SLOTS, ExecutorProcess, Play
from tests.simulation.drain_workload import EXIT_TAKES
from tests.simulation.engine import Process, SkewedClock, current
from tests.simulation.network import Network
from tests.simulation.runner import SimulatedRunner
from tests.simulation.world import World

CLOCKS_DIFFER: Millis = HOUR  # at most, those of the machines of workers
LATENCY = 0.03  # seconds, at most, one way
LATE = 30  # seconds after which a call may arrive that was given up
REPORT_TIMEOUT: Millis = 20 * SECOND  # of the last outcomes of a worker that drains


class SimulatedEvent:
    """An event whose waiters let the time of the simulation pass."""

    def __init__(self) -> None:
        self._set = False

    def set(self) -> None:
        self._set = True

    def is_set(self) -> bool:
        return self._set

    def wait(self, timeout: float) -> bool:
        process = current()
        until = process.engine.now + round(timeout * SECOND)
        while not self._set and process.engine.now < until:
            process.sleep_until(until, restless=True)
        return self._set


@dataclass(slots=True)
class Pending:
    """A call that waits for its answer."""

    process: Process
    over: bool = False
    response: Response | None = None

    def end(self, response: Response | None) -> None:
        if not self.over:
            self.over, self.response = True, response
            self.process.nudge(self.process.engine.now)


class RunnerNetwork:
    """The network between one worker and the runner."""

    def __init__(self, world: World, runner: SimulatedRunner, worker: Process) -> None:
        self._faults = world.faults
        self._engine = world.engine
        self._runner = runner
        self._worker = worker

    def post(
        self, path: str, body: bytes, timeout: float, cut: Callable[[], bool] = lambda: False
    ) -> Answer:
        """Raises NoAnswer. The runner may have got the call all the same, also twice, or gets it
        when it was given up."""
        process, engine = current(), self._engine
        Network(process, self._faults).disturb()
        pending = Pending(process)
        for delay in self._arrivals():
            engine.after(delay, lambda: self._arrive(path, body, pending))
        until = engine.now + round(timeout * SECOND)
        while not pending.over and engine.now < until and not cut():
            process.sleep_until(until, restless=True)
        pending.over = True
        Network(process, self._faults).disturb()
        response = pending.response
        if response is None or response.status >= 500:
            self._worker.disturbed_at = engine.now
        if response is None:
            process.note("no answer", path)
            raise NoAnswer(path)
        return Answer(response.status, response.headers, response.encoded())

    def _arrivals(self) -> list[Millis]:
        """Returns after which times the runner gets a call."""
        engine, faults = self._engine, self._faults
        if engine.chance(faults.unanswered):
            return []
        first = engine.between(0, LATE if engine.chance(faults.late) else LATENCY)
        return [first, first + engine.between(0, 1)] if engine.chance(faults.repeated) else [first]

    def _arrive(self, path: str, body: bytes, pending: Pending) -> None:
        def answered(response: Response | None) -> None:
            if not self._engine.chance(self._faults.answer_lost):
                self._engine.after(self._engine.between(0, LATENCY), lambda: pending.end(response))

        self._runner.call(self._worker, path, body, answered)


class SimulatedCalls(RunnerCalls):
    def __init__(self, network: RunnerNetwork, worker: Process) -> None:
        super().__init__(Address.parse("http://runner"), None, worker.name)
        self._network = network
        self._cut = False
        self._polls: Process | None = None

    def end_poll(self) -> None:
        self._cut = True
        if self._polls is not None:
            self._polls.nudge(self._polls.engine.now)

    def _send(self, connection: Connection, call: str, fields: Any, timeout: float) -> Answer:
        body = to_json({"worker": self.worker, **fields}).encode()
        polls = call == "lease"
        if polls:
            self._polls = current()
        cut = (lambda: self._cut) if polls else (lambda: False)
        return self._network.post(f"/v1/workers/{call}", body, timeout, cut)


class WorkerThread(Process):
    """A thread of a worker. It freezes and dies with the others."""

    of_whom: "HttpWorker"

    def freeze(self, span: Millis) -> None:
        self.of_whom.freeze(span)
        self.sleep_until(self.engine.now + span)


class HttpWorker:
    """`process` is its first thread, which runs the attempt loop."""

    def __init__(self, world: World, runner: SimulatedRunner, random: Random, name: str) -> None:
        self._engine = world.engine
        self._random = random
        self._drained_with: Millis | None = None
        self._inbox: list[Message] = []
        self._threads: list[WorkerThread] = []
        self.on_end: Callable[[], object] = lambda: None
        self.process = self._thread(world, name, self._run)
        skew = random.randint(-CLOCKS_DIFFER, CLOCKS_DIFFER)
        self._clock = SkewedClock(world.engine, skew, random.randint(-DAY, DAY))
        calls = SimulatedCalls(RunnerNetwork(world, runner, self.process), self.process)
        self._io = HttpExecutor(calls, self._clock)
        wanted = Wanted(
            pool=None,
            lanes=tuple(Lane),
            handlers=lambda: [HANDLER],
            concurrency=SLOTS,
            host=name,
            new_request=lambda: new_id(self._clock.now(), random.getrandbits(RANDOM_BITS)),
        )
        self._lanes = HttpLanes(calls, self._io, self._clock, wanted)
        self._lanes._closing = cast("Any", SimulatedEvent())
        self._io.on_refused = self._lanes.refuse
        self.process.clock = self._clock
        self.executor = ExecutorProcess(self.process, world.monitor, self, self._make)
        self.executor.on_stepped = self._nudge_outbox
        self._intake = self._thread(world, name, self._take_in)
        self._outbox = self._thread(world, name, self._report)

    def start(self, delay: Millis) -> None:
        for thread in self._threads:
            thread.start(delay)

    def drain(self, grace: Millis) -> None:
        self._drained_with = grace
        self._lanes.close()

    def freeze(self, span: Millis) -> None:
        """Stops all threads for a while; none of them notices."""
        process, until = self.process, self._engine.now + span
        if not process.alive or process.frozen:
            return
        process.note("frozen", span)
        process.frozen = True
        for thread in self._threads:
            thread.held_until = until
        self._engine.at(until, self._thaw)

    # what the executor gets from its source

    def receive(self, free: Callable[[], int]) -> Iterator[list[Message]]:
        taken, self._inbox = self._inbox, []
        if taken:
            yield taken

    def next_message(self) -> None:
        """A message that has come nudges the executor."""

    # its threads

    def _thread(self, world: World, name: str, main: Callable[[Process], object]) -> WorkerThread:
        thread = WorkerThread(world.engine, name, main)
        thread.of_runner = False
        thread.of_whom = self
        thread.on_end = lambda killed: self._end()
        self._threads.append(thread)
        world.processes.append(thread)
        return thread

    def _make(self, play: Play) -> HttpExecutor:
        ports = cast("Any", _WorkerPorts(clock=self._clock))
        self._io.targets = TargetRunner(ports, {"python": play})
        return self._io

    def _run(self, process: Process) -> None:
        self.executor.run()
        self._lanes.give_back()
        self._nudge_outbox()
        until = self._engine.now + REPORT_TIMEOUT
        while self._io.outbox.left and self._engine.now < until:
            process.sleep_until(min(self._engine.now + SECOND, until))
        process.sleep_until(self._engine.now + EXIT_TAKES)

    def _take_in(self, process: Process) -> None:
        while self._drained_with is None:
            free = self.executor.free() - len(self._inbox)
            if free <= 0:
                process.sleep_until(self._engine.now + round(TURN * SECOND))
                continue
            for lane, count in self._lanes.ready(TURN, free).items():
                self._inbox += self._lanes.take(lane, count)
            self.process.nudge(self._engine.now)
        self.executor.drain(self._drained_with)
        process.sleep_until(self._engine.now + DAY)  # it ends with the worker

    def _report(self, process: Process) -> None:
        while True:
            wait = self._io.outbox.report() if self._io.outbox.left else float(DAY)
            process.sleep_until(self._engine.now + max(round(wait * SECOND), 1), restless=True)

    def _nudge_outbox(self) -> None:
        if self._io.outbox.left:
            self._outbox.nudge(self._engine.now)

    def _thaw(self) -> None:
        process = self.process
        if process.alive:
            process.frozen = False
            process.disturbed_at = self._engine.now
            process.note("thawed")
            process.on_thaw()

    def _end(self) -> None:
        """All threads end with the first one."""
        threads, self._threads = self._threads, []
        for thread in threads:
            self._engine.at(self._engine.now, thread.kill)
        if threads:
            self.on_end()
