"""The runner of a simulated world, as its HTTP workers know it: the real API and the real
RemoteAttempts, whose memory is lost when the runner is restarted.

All processes of the world but the workers belong to the runner, and die with it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from duetime.api.access import LEASE
from duetime.api.app import Api
from duetime.api.http import Request, Response
from duetime.core.change import Change
from duetime.core.delivery import Delivery, Message
from duetime.core.errors import Unavailable
from duetime.core.lanes import Lane, Queue, queue_of
from duetime.core.ports import Ports
from duetime.core.shares import DEFAULT_WEIGHTS
from duetime.core.times import SECOND, Millis
from duetime.core.wake_policy import WakePolicy
from duetime.executor.remote_attempts import RemoteAttempts
from tests.simulation.actors import HANDLER
from tests.simulation.engine import Process, SkewedClock, current
from tests.simulation.faults import Faults
from tests.simulation.queue import SimulatedSqs
from tests.simulation.world import World

LONGEST_NAP: Millis = 5 * SECOND  # of a call that waits for leases
LOCKED: Millis = 10  # ms until a call looks again whether a lock is free
SUPERSEDED = Response(status=503, body={"title": "superseded", "detail": ""})
PORTS = ("store", "schedules", "lanes", "slots", "rates", "runs")

Answered = Callable[[Response | None], object]


class RunnerFaults:
    """The faults of the store that a call of a worker meets. A thread neither dies nor freezes by
    itself."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        return 0.0 if name in ("killed", "frozen", "slow") else getattr(self._faults, name)


class CurrentPort:
    """A port of the call that is being answered."""

    def __init__(self, find: Callable[[], Any]) -> None:
        self._find = find

    def __getattr__(self, name: str) -> Any:
        return getattr(self._find(), name)


class SimulatedLock:
    """A lock whose waiters let the time of the simulation pass."""

    def __init__(self) -> None:
        self._locked = False

    def __enter__(self) -> None:
        while self._locked:
            current().sleep_until(current().engine.now + LOCKED)
        self._locked = True

    def __exit__(self, *error: object) -> None:
        self._locked = False


class RunnerLanes:
    """The lanes in the memory of the runner: they always answer."""

    def __init__(self, world: World) -> None:
        self._sqs: SimulatedSqs = world.sqs
        self._tasks = world.monitor.tasks

    def ready_for(
        self, pool: str | None, lanes: Sequence[Lane], handlers: frozenset[str], limit: int
    ) -> Mapping[Lane, int]:
        wanted = self._wanted(handlers)
        counts = {lane: self._sqs.count_ready(queue_of(lane, pool), wanted) for lane in lanes}
        return {lane: min(count, limit) for lane, count in counts.items() if count}

    def take_for(self, queue: Queue, handlers: frozenset[str], limit: int) -> list[Message]:
        return self._sqs.take(queue, limit, self._wanted(handlers))

    def next_visible_for(
        self, pool: str | None, lanes: Sequence[Lane], handlers: frozenset[str]
    ) -> Millis | None:
        return self._sqs.next_visible(self._wanted(handlers))

    def _wanted(self, handlers: frozenset[str]) -> Callable[[Delivery], bool]:
        def wanted(delivery: Delivery) -> bool:
            return self._tasks[delivery.task_id].spec.target.get("handler") in handlers

        return wanted


class SimulatedRunner:
    def __init__(self, world: World) -> None:
        self._world = world
        self._engine = world.engine
        self._laws = world.monitor.workers
        self._remote: RemoteAttempts
        self._api: Api
        self._clock: SkewedClock
        self._up = False
        self._waiting: dict[tuple[str, str], Process] = {}  # calls for leases
        world.process("runner", self._start)

    # calls

    def call(self, client: Process, path: str, body: bytes, answered: Answered) -> None:
        """Answers a call of a worker. `answered` gets None if the runner is down or goes down."""
        if not self._up:
            answered(None)
            return
        headers = {"content-type": "application/json"}
        request = Request(method="POST", path=path, headers=headers, body=body)

        def main(process: Process) -> None:
            process.acts_for = client
            response = self._respond(process, request)
            process.note("answers", path, response.status, client.name)
            self._world.monitor.answered(process, response)
            answered(response)

        process = self._world.process("call", main)
        process.clock = self._clock
        process.on_end = lambda killed: killed and answered(None)

    def nudge(self, at: Millis) -> None:
        for process in list(self._waiting.values()):
            process.nudge(at)

    def _respond(self, process: Process, request: Request) -> Response:
        if request.path != LEASE:
            return self._api.call(request)
        arrived = process.clock.monotonic()
        wanted = self._api.read_lease(request)
        if isinstance(wanted, Response):
            return wanted
        until = self._engine.now + round(wanted.wait * SECOND)
        name = wanted.worker, wanted.request
        self._laws.asks(process, *name)
        self._waiting[name] = process  # in the place of one that was sent before
        self._remote.note_waiting(wanted)
        while self._waiting.get(name) is process:
            last = self._engine.now >= until
            if last or self._remote.has_work(wanted):
                response = self._api.lease(request, wanted, arrived)
                if last or response.status != 200 or response.body["leases"]:
                    return response
            nap = min(until, self._engine.now + LONGEST_NAP)
            process.sleep_until(nap, restless=True)
        return SUPERSEDED

    # restarts

    def restart(self, down: Millis) -> None:
        """Kills every process but the workers. After a while another runner starts."""
        self._up = False
        self._engine.trace.add(self._engine.now, "runner", "killed", ())
        world = self._world
        world.down_until = self._engine.now + down
        for process in list(world.processes):
            if process.alive and process.of_runner:
                process.held_until = world.down_until
                process.kill()
        world.process("runner", self._restarted)

    def _restarted(self, process: Process) -> None:
        world, monitor = self._world, self._world.monitor
        world.sqs.purge_all()
        apply = world.rows.apply

        def watched(changes: Sequence[Change]) -> list[Any]:
            answers = apply(changes)
            for change, answer in zip(changes, answers, strict=True):
                monitor.recovered(process, change, answer)
            return answers

        policy = WakePolicy(shards=world.shards, age_after=world.age_after)
        with patch.object(world.rows, "apply", watched):
            world.rows.recover(policy, process.clock.now())
        monitor.workers.restarted(process)
        self._start(process)

    def _start(self, process: Process) -> None:
        """Starts with empty memory, and looks at the leases every second, as the pump does."""
        self._clock = process.clock
        ports = self._ports(process)
        with patch("duetime.executor.remote_leases.Lock", SimulatedLock):
            self._remote = RemoteAttempts(ports, RunnerLanes(self._world), DEFAULT_WEIGHTS)
        self._api = Api(
            ports,
            handlers=lambda: {HANDLER},
            version="simulated",
            workers=self._remote,
            worker_calls=self._remote,
        )
        self._remote.adopt(self._world.rows.held_by_workers())
        self._waiting.clear()
        self._up = True
        process.note("started")
        while True:
            process.sleep_until(self._engine.now + SECOND)
            try:
                self._remote.end_expired()
            except Unavailable as error:
                process.note("leases not checked", str(error))

    def _ports(self, runner: Process) -> Ports:
        """Returns ports of which each call uses its own."""
        found: dict[Process, Ports] = {}

        def port(name: str) -> Any:
            process = current()
            if process not in found:
                faults: Any = RunnerFaults(self._world.faults)
                found[process], _ = self._world.ports(process, faults)
            return getattr(found[process], name)

        current_ports: dict[str, Any] = {
            name: CurrentPort(lambda name=name: port(name)) for name in PORTS
        }
        return replace(self._world.ports(runner)[0], clock=runner.clock, **current_ports)
