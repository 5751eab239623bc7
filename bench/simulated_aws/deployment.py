"""A deployed stage: its table, lanes, executors and scanner, and who submits to it."""

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
from infra.stage import Stage
from lambdas.aws.lane_queue import delay_seconds
from lambdas.core.delivery import delivery_of
from lambdas.core.lanes import Lane
from lambdas.core.ports import Shards, SliceState
from lambdas.core.rules import Rules
from lambdas.core.steps.submit import submit
from lambdas.core.task import Spec, Task
from lambdas.core.times import DAY, MINUTE, SECOND, Millis
from lambdas.core.wakes import minute_of
from tests.simulation.engine import Dice, Engine

TARGET = {"type": "http", "url": "https://shop.example.com/hooks/order-paid"}
LEAD: Millis = 5 * MINUTE  # how long before its due time a task is submitted
PER_REQUEST = 100  # tasks that are submitted together


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
        self._dice = Dice(self.engine.random)
        self._rules = Rules(shards=stage.shards)
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
            self._dice,
            stage,
        )
        self.scanned_until(self.start)

    def scanned_until(self, then: Millis) -> None:
        """The scanner has seen to everything until then."""
        minute = minute_of(then) - 5
        for number in range(self.stage.slices):
            cursors = dict.fromkeys(range(number, self.stage.shards, self.stage.slices), minute)
            self.table.slices[number] = SliceState(
                fence=1, cursors=cursors, swept=minute - 1_200, ticked_at=then
            )

    def hold(self, tasks: Iterable[Due]) -> None:
        """Tasks that were submitted in good time, before the model begins."""
        for due in tasks:
            self.table.put(self._submit(due, min(due.at, self.start) - LEAD))

    def submit_each_second(self, until: Millis, due_in: Callable[[Millis], Sequence[Due]]) -> None:
        """From now on, the tasks that `due_in` names for the second that begins LEAD from now."""
        now = self.engine.now
        self._submitting_until = until - LEAD
        if now >= self._submitting_until:
            return
        for due in due_in(now + LEAD):
            self.table.submit(self._submit(due, now), now)
        self.engine.after(SECOND, partial(self.submit_each_second, until, due_in))

    def run(self, at_most: Millis) -> None:
        """Until everything submitted has ended."""
        with self.scanner.deployed():
            self.engine.run(self.start + at_most, self._is_done)

    def _is_done(self) -> bool:
        return not self.table.tasks and self.engine.now >= self._submitting_until

    def _submit(self, due: Due, now: Millis) -> Task:
        spec = Spec(
            target=TARGET, run_at=due.at, priority=due.lane, name=due.group, timeout=due.timeout
        )
        self.tally.asked_for(due.group, due.at)
        self.tally.counts["api"] += 1 / PER_REQUEST
        task_id = self._dice.new_id(now)
        return submit(self._rules, task_id, spec, now=now, draw=self._dice.draw())

    def _lane(self, name: Lane) -> SimulatedLane:
        executors = Executors(
            self.engine,
            self._model,
            self.tally,
            self.table,
            self._rules,
            self._dice,
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
        """Whether the account has room for one more executor. If so, there will be one."""
        executors = sum(lane.busy for lane in self.lanes.values())
        if executors + self.scanner.running >= self._model.limits.account:
            return False
        self.tally.peak_executors = max(self.tally.peak_executors, executors + 1)
        return True
