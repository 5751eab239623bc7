"""A second opinion on the bill: DynamoDB Local, which is AWS's own code, reports the units of every
write. It does not report a refused write, and bills nothing for a read that finds nothing; AWS
does (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html),
so `bench.billing` does too."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bench.billing.meter import Meter
from bench.billing.payloads import text_of
from bench.billing.units import WRITE_UNIT, size_of, write_units
from duetime.aws import clients, schema
from duetime.aws.overflow import digest, text_row
from duetime.aws.schedule_store import DynamoScheduleStore
from duetime.core.change import Applied, Change
from duetime.core.codec import encode_spec
from duetime.core.delivery import delivery_of
from duetime.core.lifecycle import Outcome
from duetime.core.ports import TaskStore
from duetime.core.retry import RetryPolicy
from duetime.core.schedules.codec import encode_plan
from duetime.core.schedules.ledger import LedgerOutcome, LedgerRow, LedgerSpan
from duetime.core.schedules.ports import ScheduleStore
from duetime.core.shifts import mark_of, shifted
from duetime.core.steps.claim import claim
from duetime.core.steps.defer import Deferral, defer
from duetime.core.steps.discard import discard
from duetime.core.steps.lease import lease, renew
from duetime.core.steps.record import Failure, fail, succeed
from duetime.core.steps.revive import revive
from duetime.core.task import Task, TaskError
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.core.wakes import WakeKind
from tests import backends
from tests.api.dead import a_dead_task
from tests.aws.stored import a_store
from tests.factories import (
    NOW,
    WAKE_POLICY,
    SteppedClock,
    a_draw,
    a_schedule,
    a_spec,
    a_task,
    an_id,
)

SERVERS = [name for name in backends.STORES if name == "dynamodb_endpoint"]
ERROR = TaskError(type="ValueError", message="no " * 100, traceback=text_of(1_600))
FAILED = Failure(outcome=Outcome.FAILED, error=ERROR)


@dataclass
class ReportedCapacity:
    """Records the units that the server has billed for writes, by table and index."""

    counts: Counter[str] = field(default_factory=Counter)

    def attach(self, client: Any) -> None:
        client.meta.events.register("before-parameter-build.dynamodb", self._ask)
        for write in ("PutItem", "UpdateItem", "BatchWriteItem"):
            client.meta.events.register(f"after-call.dynamodb.{write}", self._note)

    def _ask(self, params: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "INDEXES"

    def _note(self, parsed: Mapping[str, Any], **_: Any) -> None:
        reported = parsed["ConsumedCapacity"]  # a batch returns a list, by table
        for consumed in reported if isinstance(reported, list) else [reported]:
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
    reported: ReportedCapacity = field(default_factory=ReportedCapacity)

    def apply(self, change: Change) -> Task:
        [answer] = self.store.apply([change])
        assert isinstance(answer, Applied)
        return answer.stored

    def agreed(self) -> Mapping[str, float]:
        """Returns the units of the writes since the last call, on which both must agree."""
        counted = self.meter.take_counts()
        ours = {name: n for name, n in counted.items() if name.startswith("write.")}
        theirs, self.reported.counts = self.reported.counts, Counter()
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
        billed.reported.attach(client)
        yield billed


def units_of_row(text: str) -> int:
    """Returns the units of the row of a text that is too long for its item."""
    return write_units(None, text_row(schema.task_pk(an_id()), f"spec#{digest(text)}", text))[
        "table"
    ]


@pytest.mark.parametrize("size", [200, 2_000, 20_000])
def test_the_units_of_every_write_of_a_task(billed: Billed, size: int):
    spec = a_spec(payload=text_of(size), retry=RetryPolicy(max_attempts=2))
    beside = units_of_row(encode_spec(spec)) if size > 200 else 0
    task = a_task(spec=spec)
    billed.store.put([task])
    assert billed.agreed() == {"table": 1 + beside, "wake": 1, "listing": 1}

    later = Deferral(spec=task.spec, due_at=task.due_at + MINUTE)
    task = billed.apply(defer(WAKE_POLICY, task, later, now=NOW, draw=a_draw()))
    assert billed.agreed() == {"table": 1 + beside, "wake": 2}, "its spec is written again"

    assert task.wake is not None
    task = billed.apply(claim(WAKE_POLICY, task.wake, now=task.due_at - MINUTE, draw=a_draw()))
    assert billed.agreed() == {"table": 1, "wake": 2}

    task = leased(billed, task)
    assert billed.agreed() == {"table": 1}

    task = billed.apply(renew(task, now=task.due_at + SECOND))
    assert billed.agreed() == {"table": 1}

    task = billed.apply(fail(WAKE_POLICY, task, FAILED, now=task.due_at + SECOND, draw=a_draw()))
    assert billed.agreed() == {"table": 1 + 2, "wake": 2}, "the error is two units long"

    task = leased(billed, task)
    assert task.previous is not None
    billed.store.keep_attempt(task.id, task.previous)
    assert billed.agreed() == {"table": 1 + 2}

    task = billed.apply(fail(WAKE_POLICY, task, FAILED, now=task.due_at + SECOND, draw=a_draw()))
    assert billed.agreed() == {"table": 1 + 2, "wake": 1, "dead": 1}

    task = billed.apply(revive(WAKE_POLICY, task, now=task.due_at + HOUR, draw=a_draw()))
    assert billed.agreed() == {"table": 1, "wake": 1, "dead": 1}

    task = leased(billed, task)
    assert billed.agreed() == {"table": 1}

    billed.apply(succeed(task, result="y" * 300, now=task.due_at + SECOND))
    assert billed.agreed() == {"table": 1 + 1, "wake": 1}, "its result is long"


def test_the_units_of_a_shift_and_of_a_discard(billed: Billed):
    task, dead = a_task(spec=a_spec(payload="x" * 200)), a_dead_task()
    billed.store.put([task, dead])
    billed.agreed()

    for key in "abcde":
        moved = shifted(task, HOUR, mark_of(key))
        task = billed.apply(defer(WAKE_POLICY, task, moved, now=NOW, draw=a_draw()))
        assert billed.agreed() == {"table": 1, "wake": 2}

    billed.apply(discard(dead, now=NOW + HOUR))
    assert billed.agreed() == {"table": 1, "dead": 1}


@pytest.mark.parametrize("size", [100, 2_000, 200_000])
def test_the_units_of_every_write_of_a_schedule(billed: Billed, size: int):
    schedule = a_schedule(task=a_spec(payload=text_of(size)))
    beside = units_of_row(encode_plan(schedule.plan)) if size > 100 else 0
    billed.schedules.put([schedule])
    assert billed.agreed() == {"table": 1 + beside, "wake": 1, "listing": 1}

    wake = WAKE_POLICY.wake(WakeKind.SCHEDULE, schedule.id, schedule.plan.lane, NOW + HOUR, now=NOW)
    schedule = replace(schedule, revision=2, wake=wake, put_at=(NOW, NOW + 1), runs=1)
    billed.schedules.put([schedule])
    assert billed.agreed() == {"table": 1, "wake": 2}, "for any payload"

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
        outcome=LedgerOutcome.FIRED,
        task_id=schedule.id,
    )
    span = LedgerSpan(
        schedule_id=schedule.id,
        start=NOW,
        until=NOW + HOUR,
        outcome=LedgerOutcome.PAUSED,
        recurrence=schedule.plan.recurrence,
    )
    billed.schedules.write_ledger([row, span], NOW)

    assert billed.agreed() == {"table": 2}


def test_deleting_a_schedule_costs_as_calculated(billed: Billed):
    schedule = a_schedule(task=a_spec(payload=text_of(2_000)))
    beside = units_of_row(encode_plan(schedule.plan))
    billed.schedules.put([schedule])
    billed.agreed()

    billed.schedules.delete(schedule.id)

    assert billed.agreed() == {"table": 1 + beside, "wake": 1, "listing": 1}


def leased(billed: Billed, task: Task) -> Task:
    return billed.apply(lease(delivery_of(task, task.due_at), now=task.due_at, holder="me"))


@pytest.mark.parametrize(
    "value",
    [
        {"S": "Zoë 不行 🚀"},
        *({"N": number} for number in ("0", "7", "27", "461", "-461", "10", "100", "1000")),
        *({"N": number} for number in ("1794819600000", "1794819600001", "0.05", "0.5", "12.345")),
        {"BOOL": True},
        {"B": b"\x00\x01"},
        {"NULL": True},
    ],
)
def test_the_size_of_an_item_to_the_byte(billed: Billed, value: Any):
    item = {schema.PK: {"S": "x"}, schema.SK: {"S": "x"}, "é": value, schema.TEXT: {"S": ""}}
    for size, units in [(WRITE_UNIT, 1), (WRITE_UNIT + 1, 2)]:
        text = "x" * (size - size_of(item))
        billed.client.put_item(TableName=billed.table, Item=item | {schema.TEXT: {"S": text}})
        assert billed.agreed() == {"table": units}
