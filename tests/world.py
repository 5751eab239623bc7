"""A whole Duetime with a stepped clock and no threads: nothing happens unless a test says so.

The roles are the real ones. Around the store and the lanes stand two shells that let a test
break things: a send that is refused, a message that is lost, a writer that is interrupted.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch
from uuid import uuid4

from moto.sqs import models as sqs_models

from duetime.embedded.cursors import _set
from duetime.embedded.lanes import MemoryLanes
from duetime.embedded.store import EmbeddedStore
from lambdas.aws import schema
from lambdas.aws.cursor_store import DynamoCursorStore
from lambdas.aws.known_shards import KnownShards
from lambdas.aws.lane_queue import SqsLanes
from lambdas.aws.resources import ensure_lanes
from lambdas.aws.schedule_store import DynamoScheduleStore
from lambdas.aws.task_store import DynamoTaskStore
from lambdas.core.change import Answer, Change, Unknown
from lambdas.core.codec import to_json
from lambdas.core.delivery import Delivery, Message
from lambdas.core.ids import new_id
from lambdas.core.lanes import Lane
from lambdas.core.lifecycle import Status
from lambdas.core.ports import CursorStore, Depth, LaneQueue, Ports, TaskStore
from lambdas.core.rules import Draw, Rules
from lambdas.core.steps.submit import submit
from lambdas.core.task import Attempt, Task
from lambdas.core.times import MINUTE, SECOND, Millis
from lambdas.core.wakes import WakeKind, parse_wake
from lambdas.enqueue import enqueue
from lambdas.executor.context import Context
from lambdas.executor.executor import Executor
from lambdas.executor.runs import Admitted, Ended, Run
from lambdas.scanner.report import TickReport
from lambdas.scanner.scanner import Scanner
from tests.backends import a_table
from tests.factories import SteppedClock, a_spec

RULES = Rules(shards=1)
AT_ONCE = 100

Script = Callable[[Task, Context], Any]  # what the target of every task does


class Dice:
    """Chance with a seed; `luck` can be fixed."""

    def __init__(self) -> None:
        self._random = Random(7)
        self.luck: float | None = None

    def draw(self) -> Draw:
        luck = self._random.random() if self.luck is None else self.luck
        return Draw(luck=luck, spread=self._random.random(), nonce=self.nonce())

    def nonce(self) -> str:
        return f"{self._random.getrandbits(64):016x}"

    def new_id(self, now: Millis) -> str:
        return new_id(now, self._random.getrandbits(80))


class Interruptible:
    """A store before which something else may happen, once: `before` holds it by verb, and it
    may raise. A silent store does not answer the next write, and has not made it."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.before: dict[str, Callable[[], object]] = {}
        self.silent = False

    def __getattr__(self, name: str) -> Any:
        if interruption := self.before.pop(name, None):
            interruption()
        return getattr(self._store, name)

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        return self._write("apply", changes)

    def put(self, values: Sequence[Any]) -> list[Any]:
        return self._write("put", values)

    def _write(self, verb: str, values: Sequence[Any]) -> list[Any]:
        if interruption := self.before.pop(verb, None):
            interruption()
        if self.silent:
            self.silent = False
            return [Unknown("no answer")] * len(values)
        answers: list[Any] = getattr(self._store, verb)(values)
        return answers


class Fallible:
    """Lanes that lose and refuse when told to, and remember what was sent and buried."""

    def __init__(self, lanes: LaneQueue) -> None:
        self.lanes = lanes
        self.fate = "sent"  # lost, refused, or "unknown": sent, but nobody knows
        self.crowd: int | None = None  # what `depth` says of every lane
        self.sent: list[Delivery] = []
        self.buried: list[Message] = []
        self.deleted: list[Message] = []
        self.held: list[Message] = []

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        if self.fate in ("sent", "unknown"):
            self.sent += deliveries
            self.lanes.send(deliveries, now)
        return [self.fate in ("sent", "lost")] * len(deliveries)

    def receive(self, lane: Lane, limit: int, wait: float) -> list[Message]:
        return self.lanes.receive(lane, limit, wait)

    def delete(self, messages: Sequence[Message]) -> None:
        self.deleted += messages
        self.lanes.delete(messages)

    def hand_back(self, message: Message, delay: Millis) -> None:
        self.lanes.hand_back(message, delay)

    def hold(self, messages: Sequence[Message], span: Millis) -> None:
        self.held += messages
        self.lanes.hold(messages, span)

    def bury(self, messages: Sequence[Message]) -> None:
        self.buried += messages
        self.lanes.bury(messages)

    def depth(self, lane: Lane) -> Depth:
        if self.crowd is None:
            return self.lanes.depth(lane)
        return Depth(ready=self.crowd, delayed=0, in_flight=0)


@contextmanager
def stepped_sqs(clock: SteppedClock) -> Iterator[None]:
    """moto's queues by the stepped clock: delays, hidden messages and enqueue times. There a
    message that is handed back at once is hidden until the next millisecond; here, where none
    passes by itself, it is not."""

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
    store: Interruptible
    schedules: Interruptible
    cursors: CursorStore
    lanes: Fallible
    empty_lanes: Callable[[], LaneQueue]  # what a purge leaves
    corrupt: Callable[..., None]  # makes a task unreadable, or gives it another stored spec
    corrupt_schedule: Callable[[str], None]
    awake: Callable[[], list[str]]  # ids of the tasks that have a wake in the index
    set_up: Callable[[int], tuple[TaskStore, CursorStore]]  # for so many shards
    rules: Rules = RULES
    chance: Dice = field(default_factory=Dice)
    script: Script = lambda task, ctx: "done"
    starts: list[str] = field(default_factory=list)  # ids, in the order of their starts

    def __post_init__(self) -> None:
        self.ports = Ports(
            store=self.store,  # type: ignore[arg-type]
            schedules=self.schedules,  # type: ignore[arg-type]
            lanes=self.lanes,
            rules=self.rules,
            clock=self.clock,
            chance=self.chance,
        )
        self.scanner = Scanner(self.ports, self.cursors)
        self.executor = Executor(self.ports, {"python": self._run})
        self._waiting: list[Admitted] = []

    def knowing(self, shards: int) -> "World":
        """The same world, as functions see it that are set up for so many shards."""
        store, cursors = self.set_up(shards)
        rules = Rules(shards=cursors.shards(self.clock.now()).count)
        return replace(self, store=Interruptible(store), cursors=cursors, rules=rules)

    # what a user does

    def submit(self, due_in: Millis = 0, **fields: Any) -> str:
        """As the API does it: durable first, then sent if it is due soon."""
        now = self.clock.now()
        spec = a_spec(**({"run_at": now + due_in} | fields))
        task = submit(self.rules, self.chance.new_id(now), spec, now=now, draw=self.chance.draw())
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
        """As the API tells them: the rows, and what the task itself still holds."""
        task = self.task(task_id)
        found = {a.number: a for a in self.store.attempts(task_id)}
        found |= {a.number: a for a in (task.previous, task.current) if a is not None}
        return [found[number] for number in sorted(found)]

    # what time does

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
        """Let time pass, with a tick and a delivery at every step."""
        for _ in range(span // step):
            self.advance(step)
            self.tick()
            self.deliver()

    # what executors do

    def receive(self) -> list[Message]:
        """Everything that stands ready, the highest lane first."""
        messages: list[Message] = []
        for lane in Lane:
            while some := self.lanes.receive(lane, AT_ONCE, 0):
                messages += some
        return messages

    def lease(self) -> list[Run]:
        """Take what is due and begin it; what a test does not record has crashed."""
        admitted = self.executor.admit(self.receive())
        waiting = self._waiting + [Admitted(message=message) for message in admitted]
        now = self.clock.now()
        self._waiting = [a for a in waiting if a.message.delivery.due_at > now]
        due = [a for a in waiting if a.message.delivery.due_at <= now]
        advanced = self.executor.advance(due=due)
        for admitted in advanced.unleased:
            self.executor.give_back(admitted.message)
        return advanced.begun

    def deliver(self) -> list[Run]:
        """Take what is due, run it and record how it ended."""
        runs = self.lease()
        self.record([self.executor.execute(run) for run in runs])
        return runs

    def record(self, ended: Sequence[Ended]) -> None:
        """What the store does not answer is given up at once."""
        for end in self.executor.advance(ended=ended).unrecorded:
            self.executor.lose(end)

    def redeliver(self, message: Message) -> None:
        """What a queue does with a message that nobody deleted."""
        self.lanes.hand_back(message, 0)

    def purge(self) -> None:
        self._waiting = []
        self.lanes.lanes = self.empty_lanes()

    def _run(self, task: Task, ctx: Context) -> Any:
        self.starts.append(task.id)
        return self.script(task, ctx)


@contextmanager
def embedded_world(path: Path | None = None, clock: SteppedClock | None = None) -> Iterator[World]:
    clock = clock or SteppedClock()
    store = EmbeddedStore(path)
    store.shards(clock.now())

    def corrupt(task_id: str, spec: str = "{") -> None:
        store._database.write(
            lambda c: c.execute("UPDATE tasks SET spec = ? WHERE id = ?", (spec, task_id))
        )
        store._live.clear()

    def corrupt_schedule(schedule_id: str) -> None:
        store._database.write(
            lambda c: c.execute("UPDATE schedules SET plan = '{' WHERE id = ?", (schedule_id,))
        )

    def awake() -> list[str]:
        with store._database.read() as connection:
            rows = connection.execute(
                "SELECT id FROM tasks WHERE wake_bucket IS NOT NULL"
                " UNION ALL SELECT id FROM schedules WHERE wake_bucket IS NOT NULL"
            )
            return [task_id for (task_id,) in rows]

    def set_up(shards: int) -> tuple[EmbeddedStore, EmbeddedStore]:
        """This backend has one shard for now. Here its row says more, and only ever more."""
        known = store.shards(clock.now())
        grown = to_json({"count": max(known.count, shards), "since": known.since})
        store._database.write(lambda c: _set(c, "shards", grown))
        return store, store

    yield World(
        clock=clock,
        store=Interruptible(store),
        schedules=Interruptible(store.schedules(clock)),
        cursors=store,
        lanes=Fallible(MemoryLanes(clock)),
        empty_lanes=lambda: MemoryLanes(clock),
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
    """`table` and `urls` are those of an empty table and of empty queues that are there already."""
    clock = SteppedClock()
    own_table = a_table(dynamodb) if table is None else nullcontext(table)
    with own_table as table, stepped_sqs(clock):
        closing = ExitStack()

        def set_up(shards: int) -> tuple[DynamoTaskStore, DynamoCursorStore]:
            cursors = DynamoCursorStore(dynamodb, table, shards=shards)
            known = KnownShards(cursors, clock)
            store = DynamoTaskStore(dynamodb, table, shards=known, clock=clock)
            closing.callback(store.close)
            return store, cursors

        store, cursors = set_up(RULES.shards)
        schedules = DynamoScheduleStore(dynamodb, table, clock=clock)
        closing.callback(schedules.close)

        def lanes() -> SqsLanes:
            return SqsLanes(sqs, ensure_lanes(sqs, prefix=f"duetime-{uuid4().hex[:8]}"))

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
            store=Interruptible(store),
            schedules=Interruptible(schedules),
            cursors=cursors,
            lanes=Fallible(SqsLanes(sqs, urls) if urls else lanes()),
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
    wake = RULES.wake(task.wake.kind, task.id, task.lane, at, now=task.created_at - by)
    return replace(task, wake=wake)
