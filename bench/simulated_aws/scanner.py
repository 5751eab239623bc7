"""The scanner's function: the real handler with the simulated table and lanes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import unwrap
from math import ceil
from typing import Any, cast
from unittest.mock import patch

from greenlet import getcurrent

from bench.simulated_aws.lane import Held
from bench.simulated_aws.lane import Lane as SimulatedLane
from bench.simulated_aws.limits import Model
from bench.simulated_aws.table import Table
from bench.simulated_aws.tally import Tally
from duetime.aws import backend
from duetime.aws.lane_queue import delay_seconds
from duetime.aws.settings import Settings, queue_setting
from duetime.core.change import Answer, Change, Unknown
from duetime.core.delivery import Delivery
from duetime.core.lanes import Lane, Queue, queues_of
from duetime.core.ports import Depth, Ports, Shards, SliceState
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import Wake, WakeKind
from duetime.scanner.report import TickReport
from infra.stage import Stage
from lambdas import scanner as handler
from tests.factories import SeededRandom
from tests.simulation.engine import Engine, Process

TIMEOUT: Millis = MINUTE  # of the function: see infra/scanner.py
READ_UNIT = 4_096  # bytes of a read unit
Lanes = Mapping[Lane, SimulatedLane]


class Sandbox:
    """Where a tick runs. Work takes CPU by its share of a vCPU, and the time of its requests."""

    def __init__(self, process: Process, model: Model, memory: int) -> None:
        self.process = process
        self.model = model
        self._share = model.share(memory)
        self._rest = 0.0  # less than a millisecond, for the next call

    @property
    def now(self) -> Millis:
        return self.process.engine.now

    def spend(self, cpu: float, waits: float) -> None:
        """Lets time pass. Parallel requests wait while others use the CPU."""
        span = max(cpu / self._share, waits) + self._rest
        self._rest = span % 1
        if span >= 1:
            self.process.sleep_until(self.now + int(span))


class TickStore:
    """The methods of TaskStore and CursorStore that a tick uses."""

    def __init__(self, table: Table, sandbox: Sandbox) -> None:
        self._table = table
        self._sandbox = sandbox
        self._assumed = sandbox.model.assumed

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        """Applies changes. A throttled write is retried as by the SDK, and then Unknown."""
        rounds = ceil(len(changes) / self._assumed.parallel)
        self._sandbox.spend(len(changes) * self._assumed.write_cpu, rounds * self._assumed.table_ms)
        answers: dict[int, Answer] = {}
        left = list(range(len(changes)))
        for number in range(self._assumed.tries):
            now = self._sandbox.now
            throttled = [i for i in left if self._table.throttles(changes[i], now)]
            refused = set(throttled)
            answers |= {i: self._table.apply(changes[i]) for i in left if i not in refused}
            left = throttled
            if not left or number == self._assumed.tries - 1:
                break
            longest = self._assumed.backoff * 2**number
            slowest = 1 - 1 / (len(left) + 1)  # of so many random shares
            self._sandbox.spend(len(left) * self._assumed.write_cpu, longest * slowest)
        return [answers.get(i, Unknown("throttled")) for i in range(len(changes))]

    def get(self, task_ids: Sequence[str]) -> dict[str, Task]:
        self._sandbox.spend(len(task_ids) * self._assumed.read_cpu, self._assumed.table_ms)
        return {i: self._table.tasks[i] for i in task_ids if i in self._table.tasks}

    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> list[Wake]:
        found = self._table.bucket(minute, shard, kind)
        pages = max(ceil(len(found) / self._assumed.page), 1)
        units = max(ceil(len(found) * self._assumed.entry_bytes / READ_UNIT), 1) / 2
        waits = pages * self._assumed.table_ms
        waits += self._table.read_delay(minute, shard, units, self._sandbox.now)
        cpu = pages * self._assumed.request_cpu + len(found) * self._assumed.read_cpu
        self._sandbox.spend(cpu, waits)
        return found

    def few_wakes(self, limit: int) -> list[Wake] | None:
        self._request()
        return self._table.few(limit)

    def shards(self, now: Millis) -> Shards:  # noqa: ARG002 - as CursorStore
        self._request()
        return self._table.shards

    def load(self, slice_number: int) -> SliceState:
        self._request()
        return self._table.slices.get(slice_number, SliceState())

    def save(self, slice_number: int, state: SliceState) -> bool:
        self._request()
        return self._table.save(slice_number, state)

    def _request(self) -> None:
        self._sandbox.spend(self._assumed.request_cpu, self._assumed.table_ms)


class TickLanes:
    """The methods of LaneQueue that a tick uses."""

    def __init__(self, lanes: Lanes, sandbox: Sandbox, tally: Tally) -> None:
        self._lanes = lanes
        self._sandbox = sandbox
        self._tally = tally

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        assumed = self._sandbox.model.assumed
        requests = ceil(len(deliveries) / self._sandbox.model.limits.messages)
        self._sandbox.spend(len(deliveries) * assumed.send_cpu, assumed.queue_ms)
        self._tally.counts["sqs"] += requests
        for delivery in deliveries:
            delay = delay_seconds(delivery.visible_at, now) * SECOND
            self._lanes[delivery.lane].put(Held(delivery), self._sandbox.now + delay)
        return [True] * len(deliveries)

    def depth(self, queue: Queue) -> Depth:
        self._sandbox.spend(
            self._sandbox.model.assumed.request_cpu, self._sandbox.model.assumed.queue_ms
        )
        self._tally.counts["sqs"] += 1
        return self._lanes[queue.lane].depth()


class ScannerFunction:
    """The function. A rule invokes it every minute for each slice; it may invoke itself again."""

    def __init__(
        self,
        engine: Engine,
        model: Model,
        tally: Tally,
        table: Table,
        lanes: Lanes,
        rules: WakePolicy,
        chance: SeededRandom,
        stage: Stage,
    ) -> None:
        self._engine = engine
        self._model = model
        self._tally = tally
        self._table = table
        self._lanes = lanes
        self._rules = rules
        self._chance = chance
        self._stage = stage
        self._adapters: dict[Any, backend.Adapters] = {}  # by greenlet
        self._processes: set[Process] = set()
        self._warm = 0
        self.reports: list[tuple[Millis, int, TickReport]] = []
        self.enabled = True

    @property
    def running(self) -> int:
        return len(self._processes)

    @contextmanager
    def deployed(self) -> Iterator[None]:
        """Connects the handler to this model. The handler's own code does the rest."""
        queues = queue_setting({queue: queue.lane.value for queue in queues_of(None)})
        at_once = {f"at_once_{lane}": self._stage.at_once(lane) for lane in Lane}
        settings = Settings(
            table="tasks",
            shards=self._stage.shards,
            catch_up=self._stage.catch_up,
            queues=queues,
            **at_once,
        )
        scanner = handler.scanner.__wrapped__  # without its cache: each sandbox has its own
        with (
            patch.object(backend, "settings", lambda: settings),
            patch.object(backend, "adapters", lambda: self._adapters[getcurrent()]),
            patch.object(backend, "invoke_later", self._invoke_later),
            patch.object(handler, "scanner", scanner),
            patch.object(handler, "_publish", self._publish),
        ):
            self._engine.after(0, self._every_minute)
            yield
            for process in self._processes.copy():
                process.end()

    def _every_minute(self) -> None:
        if self.enabled:
            for number in range(self._stage.slices):
                event = {"slice": number, "slices": self._stage.slices}
                self._invoke(event, self._engine.between(0, 1))
        self._engine.after(MINUTE, self._every_minute)

    def _invoke_later(self, _: str, event: object) -> None:
        self._invoke(cast("Mapping[str, Any]", event), self._model.assumed.invoke_ms)

    def _invoke(self, event: Mapping[str, Any], delay: Millis) -> None:
        process = Process(self._engine, "scanner", partial(self._live, event))
        self._processes.add(process)
        self._engine.after(delay, process.start)

    def _live(self, event: Mapping[str, Any], process: Process) -> None:
        begun = self._engine.now
        sandbox = Sandbox(process, self._model, self._stage.scanner_memory)
        self._engine.at(begun + TIMEOUT, process.kill)
        store = TickStore(self._table, sandbox)
        self._adapters[getcurrent()] = backend.Adapters(
            Ports(
                store=cast("Any", store),
                schedules=cast("Any", None),  # there are none
                limits=cast("Any", None),
                lanes=cast("Any", TickLanes(self._lanes, sandbox, self._tally)),
                wake_policy=self._rules,
                clock=process.clock,
                chance=self._chance,
            ),
            cast("Any", store),
            connections=cast("Any", None),  # only executors open them ahead
            close=lambda: None,
        )
        try:
            if self._warm:
                self._warm -= 1
            else:
                process.sleep_until(begun + self._model.assumed.cold_start)
            unwrap(handler.handle)(event, Context(process, begun + TIMEOUT))
            self._warm += 1
        finally:
            self._processes.discard(process)
            del self._adapters[getcurrent()]
            self._tally.add_invocation(self._stage.scanner_memory, self._engine.now - begun)

    def _publish(self, slice_number: int, report: TickReport) -> None:
        self.reports.append((self._engine.now, slice_number, report))
        self._tally.counts["claims"] += report.claimed
        self._tally.counts["lost claims"] += report.lost
        self._tally.lag = max(self._tally.lag, report.lag)
        self._tally.held_back = max(self._tally.held_back, report.held_back)


class Context:
    """Lambda's context of an invocation."""

    invoked_function_arn = "scanner"

    def __init__(self, process: Process, until: Millis) -> None:
        self._process = process
        self._until = until

    def get_remaining_time_in_millis(self) -> Millis:
        return self._until - self._process.engine.now
