"""The backends that the contract suite runs over, each opened empty.

moto runs in this process. Real servers are used if the environment names them:
DUETIME_TEST_DYNAMODB_ENDPOINT, DUETIME_TEST_SQS_ENDPOINT.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from duetime.aws import schema
from duetime.aws.cursor_store import DynamoCursorStore
from duetime.aws.lane_queue import SqsLaneQueue
from duetime.aws.limit_store import DynamoLimitStore
from duetime.aws.provision import VISIBILITY, ensure_lanes, ensure_table
from duetime.aws.rate_store import DynamoRateStore
from duetime.aws.run_store import DynamoRunStore
from duetime.aws.schedule_store import DynamoScheduleStore
from duetime.aws.slot_store import DynamoSlotStore
from duetime.aws.stats_store import DynamoStatsStore
from duetime.aws.task_store import DynamoTaskStore
from duetime.core.limits.ports import LimitStore, RateStore
from duetime.core.limits.slots import SlotStore
from duetime.core.ports import CursorStore, LaneQueue, Shards, TaskStore
from duetime.core.schedules.ports import ScheduleStore
from duetime.core.stats.ports import StatsStore
from duetime.core.times import DAY, SECOND, Millis
from duetime.core.workflows.ports import RunStore
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import NOW, WAKE_POLICY, SteppedClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient

DYNAMODB_ENDPOINT = os.environ.get("DUETIME_TEST_DYNAMODB_ENDPOINT")
SQS_ENDPOINT = os.environ.get("DUETIME_TEST_SQS_ENDPOINT")

STORES = ["sqlite", "moto", *(["dynamodb_endpoint"] if DYNAMODB_ENDPOINT else [])]
LANES = ["memory", "moto", *(["sqs_endpoint"] if SQS_ENDPOINT else [])]

SINCE = NOW - 5 * DAY
FEW_WAKES = 7  # in one response of the index, so that a few rows fill several pages


@dataclass(frozen=True, kw_only=True)
class Stores:
    tasks: TaskStore
    schedules: ScheduleStore
    limits: LimitStore
    slots: SlotStore
    other_limits: Callable[[], LimitStore]  # as another process has them
    cursors: CursorStore
    clock: SteppedClock
    rates: RateStore
    runs: RunStore
    stats: StatsStore
    spoil: Callable[[str, str], None]  # makes a schedule, or an entry of its ledger, unreadable
    spoil_run: Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Lanes:
    """Lanes with their clock: stepped in memory, real for a queue that has its own."""

    queue: LaneQueue
    now: Callable[[], Millis]
    pass_time: Callable[[Millis], None]


@contextmanager
def sqlite_stores(path: Path) -> Iterator[Stores]:
    store, clock = SqliteTaskStore(path), SteppedClock()

    def spoil(schedule_id: str, key: str = "") -> None:
        sql = "UPDATE schedules SET state = '{' WHERE id = ?"
        if key:
            sql = "UPDATE ledger SET entry = '{' WHERE schedule_id = ? AND key = ?"
        store._database.write(
            lambda c: c.execute(sql, (schedule_id, key) if key else (schedule_id,))
        )

    def spoil_run(run_id: str) -> None:
        sql = "UPDATE runs SET state = '{' WHERE id = ?"
        store._database.write(lambda c: c.execute(sql, (run_id,)))

    yield Stores(
        tasks=store,
        schedules=store.schedules(clock),
        limits=store.limits(),
        slots=store.slots(),
        other_limits=store.limits,
        cursors=store,
        rates=store.rates(),
        runs=store.runs(),
        stats=store.stats(),
        clock=clock,
        spoil=spoil,
        spoil_run=spoil_run,
    )
    store.close()


@contextmanager
def dynamo_stores(client: "DynamoDBClient") -> Iterator[Stores]:
    with a_table(client) as table:
        clock = SteppedClock()
        tasks = DynamoTaskStore(
            client,
            table,
            shards=lambda: Shards(count=WAKE_POLICY.shards, since=SINCE),
            clock=clock,
            wakes_per_query=FEW_WAKES,
        )
        cursors = DynamoCursorStore(client, table, shards=WAKE_POLICY.shards)
        schedules = DynamoScheduleStore(client, table, clock=clock)

        known = Shards(count=WAKE_POLICY.shards, since=SINCE)
        runs = DynamoRunStore(client, table, shards=lambda: known, clock=clock)

        def limits() -> DynamoLimitStore:
            return DynamoLimitStore(client, table, clock=clock)

        def spoil(schedule_id: str, key: str = "") -> None:
            sk = schema.ledger_sk(key) if key else schema.SCHEDULE
            client.update_item(
                TableName=table,
                Key={schema.PK: {"S": schema.schedule_pk(schedule_id)}, schema.SK: {"S": sk}},
                UpdateExpression=f"SET {schema.TEXT if key else schema.STATE} = :broken",
                ExpressionAttributeValues={":broken": {"S": "{"}},
            )

        def spoil_run(run_id: str) -> None:
            client.update_item(
                TableName=table,
                Key={schema.PK: {"S": schema.run_pk(run_id)}, schema.SK: {"S": schema.RUN}},
                UpdateExpression=f"SET {schema.STATE} = :broken",
                ExpressionAttributeValues={":broken": {"S": "{"}},
            )

        yield Stores(
            tasks=tasks,
            schedules=schedules,
            rates=DynamoRateStore(client, table),
            limits=limits(),
            slots=DynamoSlotStore(client, table),
            other_limits=limits,
            cursors=cursors,
            clock=clock,
            runs=runs,
            stats=DynamoStatsStore(client, table),
            spoil=spoil,
            spoil_run=spoil_run,
        )
        tasks.close()
        schedules.close()
        runs.close()


@contextmanager
def a_table(client: "DynamoDBClient") -> Iterator[str]:
    table = f"duetime-{uuid4().hex[:8]}"
    ensure_table(client, table)
    yield table
    client.delete_table(TableName=table)


def memory_lanes() -> Lanes:
    clock = SteppedClock()
    return Lanes(queue=MemoryLaneQueue(clock), now=clock.now, pass_time=clock.advance)


def sqs_lanes(client: "SQSClient", visibility: int = VISIBILITY) -> Lanes:
    urls = ensure_lanes(client, prefix=f"duetime-{uuid4().hex[:8]}", visibility=visibility)
    return Lanes(
        queue=SqsLaneQueue(client, urls),
        now=lambda: time.time_ns() // 1_000_000,
        pass_time=lambda ms: time.sleep(ms / SECOND),
    )
