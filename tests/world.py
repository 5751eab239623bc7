"""A whole Duetime with a stepped clock and no threads: every step is taken by the test.

The roles are the real ones. The store and the lanes are wrapped, so that a test can refuse a send,
lose a message or interrupt a writer (see `tests/faulty_ports.py`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

from moto.sqs import models as sqs_models

from duetime.aws import schema
from duetime.aws.cursor_store import CachedShards, DynamoCursorStore
from duetime.aws.lane_queue import SqsLaneQueue
from duetime.aws.limit_store import DynamoLimitStore
from duetime.aws.provision import ensure_lanes
from duetime.aws.rate_store import DynamoRateStore
from duetime.aws.run_store import DynamoRunStore
from duetime.aws.schedule_store import DynamoScheduleStore
from duetime.aws.slot_store import DynamoSlotStore
from duetime.aws.task_store import DynamoTaskStore
from duetime.core.codec import to_json
from duetime.core.delivery import Message
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Status
from duetime.core.limits.ports import LimitStore
from duetime.core.ports import CursorStore, LaneQueue, Ports, TaskStore
from duetime.core.steps.submit import submit
from duetime.core.task import Attempt, Task
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import WakeKind, parse_wake
from duetime.engine.enqueue import enqueue
from duetime.executor.executor import Executor
from duetime.executor.run_control import RunControl
from duetime.executor.runs import Admitted, Ended, Run
from duetime.handlers.context import Context
from duetime.scanner.report import TickReport
from duetime.scanner.scanner import Scanner
from duetime.sqlite.cursor_store import write_setting
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.task_store import SqliteTaskStore
from tests.backends import a_table
from tests.factories import SeededRandom, SteppedClock, a_spec
from tests.faulty_ports import FaultyLanes, InterruptiblePort

WAKE_POLICY = WakePolicy(shards=1)
RECEIVE_LIMIT = 100

Script = Callable[[Task, Context], Any]  # what the target of every task does

API_URL = "https://duetime.example"


@contextmanager
def stepped_sqs(clock: SteppedClock) -> Iterator[None]:
    """Makes moto's queues use the stepped clock for delays, hidden messages and enqueue times.

    moto hides a message that is handed back with no delay until the next millisecond. The stepped
    clock does not reach that by itself, so here the message is visible at once."""

    def visible(message: sqs_models.Message) -> bool:
        return message.visible_at <= clock.now()

    with (
        patch.object(sqs_models, "unix_time", lambda: clock.now() / SECOND),
        patch.object(sqs_models, "unix_time_millis", lambda: float(clock.now())),
        patch.object(sqs_models.Message, "visible", property(visible)),
    ):
        yield


@dataclass(kw_only=True)
class World:
    clock: SteppedClock
    store: InterruptiblePort
    schedules: InterruptiblePort
    limits: LimitStore
    slots: InterruptiblePort
    cursors: CursorStore
    lanes: FaultyLanes
    empty_lanes: Callable[[], LaneQueue]  # what a purge leaves
    rates: InterruptiblePort
    runs: InterruptiblePort
    corrupt: Callable[..., None]  # makes a task unreadable, or replaces its stored spec
    corrupt_schedule: Callable[[str], None]
    awake: Callable[[], list[str]]  # ids of the rows that have a wake in the index
    set_up: Callable[[int], tuple[TaskStore, CursorStore]]  # takes the number of shards
    wake_policy: WakePolicy = WAKE_POLICY
    chance: SeededRandom = field(default_factory=SeededRandom)
    script: Script = lambda task, ctx: "done"
    starts: list[str] = field(default_factory=list)  # ids, in the order of their starts

    def __post_init__(self) -> None:
        self.ports = Ports(
            store=self.store,  # type: ignore[arg-type]
            schedules=self.schedules,  # type: ignore[arg-type]
            limits=self.limits,
            lanes=self.lanes,
            wake_policy=self.wake_policy,
            clock=self.clock,
            chance=self.chance,
            slots=self.slots,  # type: ignore[arg-type]
            rates=self.rates,  # type: ignore[arg-type]
            runs=self.runs,  # type: ignore[arg-type]
        )
        self.scanner = Scanner(self.ports, self.cursors)
        self.executor = Executor(self.ports, {"python": self._run}, callback_url=API_URL)
        self._waiting: list[Admitted] = []

    def with_shards(self, shards: int) -> "World":
        """Returns the same world as functions see it that are configured for `shards`."""
        store, cursors = self.set_up(shards)
        policy = WakePolicy(shards=cursors.shards(self.clock.now()).count)
        return replace(self, store=InterruptiblePort(store), cursors=cursors, wake_policy=policy)

    # users

    def submit(self, due_in: Millis = 0, **fields: Any) -> str:
        """Stores a task and sends it if it is due soon, as the API does."""
        now = self.clock.now()
        spec = a_spec(**({"run_at": now + due_in} | fields))
        task = submit(
            self.wake_policy, self.chance.new_id(now), spec, now=now, draw=self.chance.draw()
        )
        self.store.put([task])
        if task.wake and task.wake.kind is WakeKind.WATCH:
            enqueue(self.ports, [task])
        return task.id

    def task(self, task_id: str) -> Task:
        task: Task = self.store.get([task_id])[task_id]
        return task

    def status(self, task_id: str) -> Status:
        return self.task(task_id).status

    def attempts(self, task_id: str) -> list[Attempt]:
        """Returns the attempts as the API does: the rows, and those that the task itself holds."""
        task = self.task(task_id)
        found = {a.number: a for a in self.store.attempts(task_id)}
        found |= {a.number: a for a in (task.previous, task.current) if a is not None}
        return [found[number] for number in sorted(found)]

    # time and ticks

    def advance(self, by: Millis) -> None:
        self.clock.advance(by)

    def advance_to(self, at: Millis) -> None:
        self.clock.advance(max(at - self.clock.now(), 0))

    def tick(
        self,
        until: Millis | None = None,
        slice_number: int = 0,
        slices: int = 1,
        continues: str | None = None,
    ) -> TickReport:
        return self.scanner.tick(slice_number, slices, until, continues=continues)

    def live(self, span: Millis, step: Millis = MINUTE) -> None:
        """Lets time pass, with a tick and a delivery at every step."""
        for _ in range(span // step):
            self.advance(step)
            self.tick()
            self.deliver()

    # executors

    def receive(self) -> list[Message]:
        """Receives every visible message, the highest lane first."""
        messages: list[Message] = []
        for lane in Lane:
            while some := self.lanes.receive(Queue(lane), RECEIVE_LIMIT, 0):
                messages += some
        return messages

    def lease(self) -> list[Run]:
        """Leases what is due. A run that the test does not record is one whose executor crashed."""
        admitted = self.executor.admit(self.receive())
        waiting = self._waiting + [Admitted(message=message) for message in admitted]
        now = self.clock.now()
        self._waiting = [a for a in waiting if a.message.delivery.visible_at > now]
        due = [a for a in waiting if a.message.delivery.visible_at <= now]
        advanced = self.executor.record_and_lease(due=due)
        self._waiting += [Admitted(message=message) for message in advanced.waiting]
        for admitted in advanced.lease_retries:
            self.executor.hand_back_with_backoff(admitted.message)
        return advanced.started

    def deliver(self) -> list[Run]:
        """Leases what is due, runs it and records the outcomes."""
        runs = self.lease()
        self.record([self.executor.run_target(run) for run in runs])
        return runs

    def record(self, ended: Sequence[Ended]) -> None:
        """Records outcomes. One that the store does not answer is given up."""
        for end in self.executor.record_and_lease(ended=ended).record_retries:
            self.executor.abandon_outcome(end)

    def redeliver(self, message: Message) -> None:
        """Makes a message visible again, as a queue does if no executor deletes it."""
        self.lanes.hand_back(message, 0)

    def purge(self) -> None:
        self._waiting = []
        self.lanes.port = self.empty_lanes()

    def _run(self, task: Task, control: RunControl) -> Any:
        self.starts.append(task.id)
        return self.script(task, control.context)


@contextmanager
def sqlite_world(path: Path | None = None, clock: SteppedClock | None = None) -> Iterator[World]:
    clock = clock or SteppedClock()
    store = SqliteTaskStore(path)
    store.shards(clock.now())

    def corrupt(task_id: str, spec: str = "{") -> None:
        store._database.write(
            lambda c: c.execute("UPDATE tasks SET spec = ? WHERE id = ?", (spec, task_id))
        )
        store._writes.live.clear()

    def corrupt_schedule(schedule_id: str) -> None:
        store._database.write(
            lambda c: c.execute("UPDATE schedules SET plan = '{' WHERE id = ?", (schedule_id,))
        )

    def awake() -> list[str]:
        with store._database.read() as connection:
            rows = connection.execute(
                "SELECT id FROM tasks WHERE wake_bucket IS NOT NULL"
                " UNION ALL SELECT id FROM schedules WHERE wake_bucket IS NOT NULL"
                " UNION ALL SELECT id FROM runs WHERE wake_bucket IS NOT NULL"
            )
            return [task_id for (task_id,) in rows]

    def set_up(shards: int) -> tuple[SqliteTaskStore, SqliteTaskStore]:
        """Writes a larger number of shards to the row: this backend itself uses one."""
        known = store.shards(clock.now())
        grown = to_json({"count": max(known.count, shards), "since": known.since})
        store._database.write(lambda c: write_setting(c, "shards", grown))
        return store, store

    yield World(
        clock=clock,
        store=InterruptiblePort(store),
        schedules=InterruptiblePort(store.schedules(clock)),
        limits=store.limits(),
        slots=InterruptiblePort(store.slots()),
        cursors=store,
        rates=InterruptiblePort(store.rates()),
        runs=InterruptiblePort(store.runs()),
        lanes=FaultyLanes(MemoryLaneQueue(clock)),
        empty_lanes=lambda: MemoryLaneQueue(clock),
        corrupt=corrupt,
        corrupt_schedule=corrupt_schedule,
        awake=awake,
        set_up=set_up,
    )
    store.close()


@contextmanager
def moto_world(
    dynamodb: Any, sqs: Any, table: str | None = None, urls: Mapping[Lane, str] | None = None
) -> Iterator[World]:
    """Opens a world on moto. `table` and `urls` name an empty table and queues that exist; without
    them the world creates its own."""
    clock = SteppedClock()
    own_table = a_table(dynamodb) if table is None else nullcontext(table)
    with own_table as table, stepped_sqs(clock):
        closing = ExitStack()

        def set_up(shards: int) -> tuple[DynamoTaskStore, DynamoCursorStore]:
            cursors = DynamoCursorStore(dynamodb, table, shards=shards)
            known = CachedShards(cursors, clock)
            store = DynamoTaskStore(dynamodb, table, shards=known, clock=clock)
            closing.callback(store.close)
            return store, cursors

        store, cursors = set_up(WAKE_POLICY.shards)
        schedules = DynamoScheduleStore(dynamodb, table, clock=clock)
        closing.callback(schedules.close)

        runs = DynamoRunStore(dynamodb, table, shards=CachedShards(cursors, clock), clock=clock)
        closing.callback(runs.close)

        def lanes() -> SqsLaneQueue:
            return SqsLaneQueue(sqs, ensure_lanes(sqs, prefix=f"duetime-{uuid4().hex[:8]}"))

        def corrupt(task_id: str, spec: str = "{") -> None:
            dynamodb.update_item(
                TableName=table,
                Key={schema.PK: {"S": schema.task_pk(task_id)}, schema.SK: {"S": schema.TASK}},
                UpdateExpression=f"SET {schema.SPEC} = :broken",
                ExpressionAttributeValues={":broken": {"S": spec}},
            )

        def corrupt_schedule(schedule_id: str) -> None:
            dynamodb.update_item(
                TableName=table,
                Key={
                    schema.PK: {"S": schema.schedule_pk(schedule_id)},
                    schema.SK: {"S": schema.SCHEDULE},
                },
                UpdateExpression=f"SET {schema.PLAN} = :broken",
                ExpressionAttributeValues={":broken": {"S": "{"}},
            )

        def awake() -> list[str]:
            rows = dynamodb.scan(TableName=table, IndexName=schema.WAKE_INDEX)["Items"]
            return [parse_wake("", row[schema.WAKE_KEY]["S"]).task_id for row in rows]

        yield World(
            clock=clock,
            store=InterruptiblePort(store),
            schedules=InterruptiblePort(schedules),
            limits=DynamoLimitStore(dynamodb, table, clock=clock),
            slots=InterruptiblePort(DynamoSlotStore(dynamodb, table)),
            cursors=cursors,
            rates=InterruptiblePort(DynamoRateStore(dynamodb, table)),
            runs=InterruptiblePort(runs),
            lanes=FaultyLanes(SqsLaneQueue(sqs, urls) if urls else lanes()),
            empty_lanes=lanes,
            corrupt=corrupt,
            corrupt_schedule=corrupt_schedule,
            awake=awake,
            set_up=set_up,
        )
        closing.close()


def late(task: Task, by: Millis) -> Task:
    """The same task as a writer that was frozen for so long would put it: into an old bucket."""
    if task.wake is None:
        raise ValueError("a finished task is never late")
    at = task.wake.at - by
    wake = WAKE_POLICY.wake(task.wake.kind, task.id, task.lane, at, now=task.created_at - by)
    return replace(task, wake=wake)
