"""A second opinion on the bill: DynamoDB Local, which is AWS's own code, tells the units of every
write. It says nothing of a refused one, and bills nothing for a read that finds nothing; AWS
does (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html),
so `bench.billing` does too."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bench.billing.meter import Meter
from bench.billing.units import WRITTEN_AT_ONCE, size_of
from lambdas.aws import clients, schema
from lambdas.aws.schedule_store import DynamoScheduleStore
from lambdas.core.change import Applied, Change
from lambdas.core.delivery import delivery_of
from lambdas.core.lifecycle import Outcome
from lambdas.core.ports import TaskStore
from lambdas.core.retry import RetryPolicy
from lambdas.core.schedules.ledger import Expected, LedgerRow, LedgerSpan
from lambdas.core.schedules.ports import ScheduleStore
from lambdas.core.steps.claim import claim
from lambdas.core.steps.lease import lease, renew
from lambdas.core.steps.record import Failure, fail, succeed
from lambdas.core.steps.revive import revive
from lambdas.core.task import Task, TaskError
from lambdas.core.times import HOUR, MINUTE, SECOND
from lambdas.core.wakes import WakeKind
from tests import backends
from tests.aws.stored import a_store
from tests.factories import NOW, RULES, SteppedClock, a_draw, a_schedule, a_spec, a_task

SERVERS = [name for name in backends.STORES if name == "dynamodb_endpoint"]
ERROR = TaskError(type="ValueError", message="no " * 100, traceback="x" * 1_200)
FAILED = Failure(outcome=Outcome.FAILED, error=ERROR)


@dataclass
class Told:
    """What the server says that it has billed for writes, by place."""

    counts: Counter[str] = field(default_factory=Counter)

    def attach(self, client: Any) -> None:
        client.meta.events.register("before-parameter-build.dynamodb", self._ask)
        for write in ("PutItem", "UpdateItem", "BatchWriteItem"):
            client.meta.events.register(f"after-call.dynamodb.{write}", self._note)

    def _ask(self, params: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "INDEXES"

    def _note(self, parsed: Mapping[str, Any], **_: Any) -> None:
        told = parsed["ConsumedCapacity"]  # of a batch a list, by table
        for consumed in told if isinstance(told, list) else [told]:
            places = {"table": consumed["Table"], **consumed.get("GlobalSecondaryIndexes", {})}
            units = {f"write.{name}": at["CapacityUnits"] for name, at in places.items()}
            self.counts.update(units)


@dataclass(kw_only=True)
class Billed:
    client: Any
    table: str
    store: TaskStore
    schedules: ScheduleStore
    meter: Meter = field(default_factory=Meter)
    told: Told = field(default_factory=Told)

    def apply(self, change: Change) -> Task:
        [answer] = self.store.apply([change])
        assert isinstance(answer, Applied)
        return answer.task

    def agreed(self) -> Mapping[str, float]:
        """The units of what was written since the last time, on which both must agree."""
        counted = self.meter.taken()
        ours = {name: n for name, n in counted.items() if name.startswith("write.")}
        theirs, self.told.counts = self.told.counts, Counter()
        assert ours == theirs
        return {name.removeprefix("write."): count for name, count in ours.items()}


@pytest.fixture(params=SERVERS)
def billed(test_credentials: None) -> Iterator[Billed]:
    client = clients.dynamodb(backends.DYNAMODB_ENDPOINT)
    with backends.a_table(clients.dynamodb(backends.DYNAMODB_ENDPOINT)) as table:
        schedules = DynamoScheduleStore(client, table, clock=SteppedClock())
        store = a_store(client, table)
        billed = Billed(client=client, table=table, store=store, schedules=schedules)
        billed.meter.attach(client)
        billed.told.attach(client)
        yield billed


@pytest.mark.parametrize(("size", "beside"), [(200, 0), (2_000, 3), (20_000, 20)])
def test_every_write_of_a_life(billed: Billed, size: int, beside: int):
    spec = a_spec(payload="x" * size, retry=RetryPolicy(max_attempts=2))
    task = a_task(spec=spec)
    billed.store.put([task])
    assert billed.agreed() == {"table": 1 + beside, "wake": 1, "listing": 1}

    assert task.wake is not None
    task = billed.apply(claim(RULES, task.wake, now=task.due_at - MINUTE, draw=a_draw()))
    assert billed.agreed() == {"table": 1, "wake": 2}

    task = leased(billed, task)
    assert billed.agreed() == {"table": 1}

    task = billed.apply(renew(task, now=task.due_at + SECOND))
    assert billed.agreed() == {"table": 1}

    task = billed.apply(fail(RULES, task, FAILED, now=task.due_at + SECOND, draw=a_draw()))
    assert billed.agreed() == {"table": 1 + 2, "wake": 2}, "the error is two units long"

    task = leased(billed, task)
    assert task.previous is not None
    billed.store.keep_attempt(task.id, task.previous)
    assert billed.agreed() == {"table": 1 + 2}

    task = billed.apply(fail(RULES, task, FAILED, now=task.due_at + SECOND, draw=a_draw()))
    assert billed.agreed() == {"table": 1 + 2, "wake": 1, "dead": 1}

    task = billed.apply(revive(RULES, task, now=task.due_at + HOUR, draw=a_draw()))
    assert billed.agreed() == {"table": 1, "wake": 1, "dead": 1}

    task = leased(billed, task)
    assert billed.agreed() == {"table": 1}

    billed.apply(succeed(task, result="y" * 300, now=task.due_at + SECOND))
    assert billed.agreed() == {"table": 1 + 1, "wake": 1}, "its result is long"


@pytest.mark.parametrize(("size", "beside"), [(100, 0), (2_000, 3), (200_000, 196)])
def test_every_write_of_a_schedule(billed: Billed, size: int, beside: int):
    schedule = a_schedule(task=a_spec(payload="x" * size))
    billed.schedules.put([schedule])
    assert billed.agreed() == {"table": 1 + beside, "wake": 1, "listing": 1}

    wake = RULES.wake(WakeKind.SCHEDULE, schedule.id, schedule.plan.lane, NOW + HOUR, now=NOW)
    schedule = replace(schedule, revision=2, wake=wake, put_at=(NOW, NOW + 1), runs=1)
    billed.schedules.put([schedule])
    assert billed.agreed() == {"table": 1, "wake": 2}, "whatever the payload"

    billed.schedules.put([replace(schedule, revision=3, active=schedule.id)])
    assert billed.agreed() == {"table": 1}, "its wake is where it was"

    billed.schedules.set_aside(wake, replace(wake, at=wake.at + 1))
    assert billed.agreed() == {"table": 1, "wake": 2}


def test_every_entry_of_a_ledger_is_one_unit(billed: Billed):
    schedule = a_schedule()
    row = LedgerRow(
        schedule_id=schedule.id,
        fire_time=NOW,
        version=1,
        outcome=Expected.FIRED,
        task_id=schedule.id,
    )
    span = LedgerSpan(
        schedule_id=schedule.id,
        start=NOW,
        until=NOW + HOUR,
        outcome=Expected.PAUSED,
        recurrence=schedule.plan.recurrence,
    )
    billed.schedules.note([row, span], NOW)

    assert billed.agreed() == {"table": 2}


def test_a_schedule_that_is_deleted(billed: Billed):
    schedule = a_schedule(task=a_spec(payload="x" * 2_000))
    billed.schedules.put([schedule])
    billed.agreed()

    billed.schedules.delete(schedule.id)

    assert billed.agreed() == {"table": 1 + 3, "wake": 1, "listing": 1}


def leased(billed: Billed, task: Task) -> Task:
    return billed.apply(lease(delivery_of(task, task.due_at), now=task.due_at, holder="me"))


@pytest.mark.parametrize(
    "value",
    [
        {"S": "Zoë 不行 🚀"},
        *({"N": number} for number in ("0", "7", "27", "461", "-461", "10", "100", "1000")),
        *({"N": number} for number in ("1794819600000", "1794819600001", "0.05", "0.5", "12.345")),
        {"BOOL": True},
        {"NULL": True},
    ],
)
def test_the_size_of_an_item_to_the_byte(billed: Billed, value: Any):
    item = {schema.PK: {"S": "x"}, schema.SK: {"S": "x"}, "é": value, schema.TEXT: {"S": ""}}
    for size, units in [(WRITTEN_AT_ONCE, 1), (WRITTEN_AT_ONCE + 1, 2)]:
        text = "x" * (size - size_of(item))
        billed.client.put_item(TableName=billed.table, Item=item | {schema.TEXT: {"S": text}})
        assert billed.agreed() == {"table": units}
