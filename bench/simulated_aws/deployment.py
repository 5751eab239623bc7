"""A deployed stage: its table, lanes, executors and scanner, and its clients."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from bench.simulated_aws.executor import Executors
from bench.simulated_aws.lane import Held
from bench.simulated_aws.lane import Lane as SimulatedLane
from bench.simulated_aws.limits import Model
from bench.simulated_aws.scanner import ScannerFunction
from bench.simulated_aws.table import Table
from bench.simulated_aws.tally import Tally
from duetime.aws.lane_queue import delay_seconds
from duetime.core.delivery import delivery_of
from duetime.core.lanes import Lane
from duetime.core.ports import Shards, SliceState
from duetime.core.steps.submit import submit
from duetime.core.task import Spec, Task
from duetime.core.times import DAY, MINUTE, SECOND, Millis
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import minute_of
from infra.stage import Stage
from tests.factories import SeededRandom
from tests.simulation.engine import Engine

TARGET = {"type": "http", "url": "https://shop.example.com/hooks/order-paid"}
LEAD: Millis = 5 * MINUTE  # from the submission of a task to its due time
PER_REQUEST = 100  # tasks


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """A task to be submitted."""

    at: Millis
    group: str
    lane: Lane = Lane.MEDIUM
    timeout: float = 60.0


class Deployment:
    def __init__(self, stage: Stage, model: Model, *, seed: int = 1) -> None:
        self.stage = stage
        self.engine = Engine(seed)
        self.tally = Tally()
        self.start = self.engine.now
        self._model = model
        self._submitting_until = self.start
        self._chance = SeededRandom(self.engine.random)
        self._rules = WakePolicy(shards=stage.shards)
        shards = Shards(count=stage.shards, since=self.start - DAY)
        self.table = Table(model, self.tally, shards, stage.warm_writes or 0)
        self.lanes = {lane: self._lane(lane) for lane in Lane}
        self.scanner = ScannerFunction(
            self.engine,
            model,
            self.tally,
            self.table,
            self.lanes,
            self._rules,
            self._chance,
            stage,
        )
        self.scanned_until(self.start)

    def scanned_until(self, then: Millis) -> None:
        """Sets the cursors: the scanner has claimed everything until then."""
        minute = minute_of(then) - 5
        for number in range(self.stage.slices):
            cursors = dict.fromkeys(range(number, self.stage.shards, self.stage.slices), minute)
            self.table.slices[number] = SliceState(
                fence=1, cursors=cursors, swept=minute - 1_200, ticked_at=then
            )

    def hold(self, tasks: Iterable[Due]) -> None:
        """Adds tasks that were submitted in time, before the model begins."""
        for due in tasks:
            self.table.put(self._submit(due, min(due.at, self.start) - LEAD))

    def submit_each_second(self, until: Millis, due_in: Callable[[Millis], Sequence[Due]]) -> None:
        """Submits the tasks of each second, LEAD ahead; `due_in` returns those of a second."""
        now = self.engine.now
        self._submitting_until = until - LEAD
        if now >= self._submitting_until:
            return
        for due in due_in(now + LEAD):
            self.table.submit(self._submit(due, now), now)
        self.engine.after(SECOND, partial(self.submit_each_second, until, due_in))

    def run(self, at_most: Millis) -> None:
        """Runs until every submitted task has ended."""
        with self.scanner.deployed():
            self.engine.run(self.start + at_most, self._is_done)

    def _is_done(self) -> bool:
        return not self.table.tasks and self.engine.now >= self._submitting_until

    def _submit(self, due: Due, now: Millis) -> Task:
        spec = Spec(
            target=TARGET, run_at=due.at, priority=due.lane, name=due.group, timeout=due.timeout
        )
        self.tally.add_submitted(due.group, due.at)
        self.tally.counts["api"] += 1 / PER_REQUEST
        task_id = self._chance.new_id(now)
        return submit(self._rules, task_id, spec, now=now, draw=self._chance.draw())

    def _lane(self, name: Lane) -> SimulatedLane:
        executors = Executors(
            self.engine,
            self._model,
            self.tally,
            self.table,
            self._rules,
            self._chance,
            memory=self.stage.executor_memory,
        )
        lane = SimulatedLane(
            self.engine,
            self._model,
            self.tally,
            at_once=self.stage.at_once(name),
            batch_size=getattr(self.stage.batch_size, name),
            invoke=executors.invoke,
            admits=self._admits,
        )
        executors.ended = lane.ended
        executors.put_back = lane.put
        executors.send = lambda task: self._send(lane, task)
        return lane

    def _send(self, lane: SimulatedLane, task: Task) -> None:
        now = self.engine.now
        delivery = delivery_of(task, now)
        self.tally.counts["sqs"] += 1
        lane.put(Held(delivery), now + delay_seconds(delivery.visible_at, now) * SECOND)

    def _admits(self) -> bool:
        """Returns whether the account has room for one more executor, and counts that one."""
        executors = sum(lane.busy for lane in self.lanes.values())
        if executors + self.scanner.running >= self._model.limits.account:
            return False
        self.tally.peak_executors = max(self.tally.peak_executors, executors + 1)
        return True
