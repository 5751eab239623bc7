"""Settings to adapters, once per cold start. The handlers and the local runner share it."""

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from lambdas.aws import clients
from lambdas.aws.cursor_store import DynamoCursorStore
from lambdas.aws.fan_out import FanOut
from lambdas.aws.invoke import invoke_later
from lambdas.aws.known_shards import KnownShards
from lambdas.aws.lane_queue import SqsLanes
from lambdas.aws.later import later
from lambdas.aws.retention import RowsBeside
from lambdas.aws.task_store import DynamoTaskStore
from lambdas.core.lanes import Lane
from lambdas.core.ports import CursorStore, Ports
from lambdas.core.rules import Rules
from lambdas.core.times import Millis
from lambdas.core.values import value
from lambdas.settings import Settings
from lambdas.system import SystemChance, SystemClock

if TYPE_CHECKING:
    from lambdas.core.schedules.ports import ScheduleStore


@value(frozen=True, slots=True)
class Adapters:
    """The AWS backend, ready for any role."""

    ports: Ports
    cursors: CursorStore
    close: Callable[[], None]


def aws_adapters(
    *,
    table: str,
    queues: Mapping[Lane, str],
    shards: int,
    retention: Millis,
    endpoint_url: str | None,
) -> Adapters:
    clock = SystemClock()
    dynamodb = clients.dynamodb(endpoint_url)
    cursors = DynamoCursorStore(dynamodb, table, shards=shards)
    known = KnownShards(cursors, clock)
    fan_out = FanOut()
    store = DynamoTaskStore(
        dynamodb, table, shards=known, clock=clock, retention=retention, fan_out=fan_out
    )

    def schedules() -> "ScheduleStore":
        """Imported then: who meets no schedule does not wait for what reads them."""
        from lambdas.aws.schedule_store import DynamoScheduleStore

        return DynamoScheduleStore(dynamodb, table, clock=clock, fan_out=fan_out)

    lanes = SqsLanes(later(lambda: clients.sqs(endpoint_url)), queues)
    ports = Ports(
        store=store,
        schedules=later(schedules),
        lanes=lanes,
        rules=Rules(shards=known().count),
        clock=clock,
        chance=SystemChance(),
    )

    def close() -> None:
        lanes.close()
        fan_out.close()

    return Adapters(ports, cursors, close)


@cache
def settings() -> Settings:
    return Settings.read(os.environ)


@cache
def adapters() -> Adapters:
    given = settings()
    return aws_adapters(
        table=given.table,
        queues=given.queues,
        shards=given.shards,
        retention=given.retention,
        endpoint_url=given.endpoint_url or None,
    )


@cache
def rows_beside() -> RowsBeside:
    given = settings()
    return RowsBeside(clients.dynamodb(given.endpoint_url or None), given.table)


def invoke_again(function_arn: str, event: object) -> None:
    invoke_later(function_arn, event)
