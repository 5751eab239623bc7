"""Settings to adapters, once per cold start. The handlers and the local runner share it."""

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from lambdas.aws import clients
from lambdas.aws.connections import Connections
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
    connections: Connections
    close: Callable[[], None]


def aws_adapters(
    *,
    table: str,
    queues: Mapping[Lane, str],
    shards: int,
    retention: Millis,
    endpoint_url: str | None = None,
    dynamodb: Any = None,
    sqs: Any = None,
) -> Adapters:
    """With clients for `endpoint_url`, unless some are given."""
    clock = SystemClock()
    dynamodb = dynamodb or clients.dynamodb(endpoint_url)
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

    lanes = SqsLanes(sqs or later(lambda: clients.sqs(endpoint_url)), queues)
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

    return Adapters(ports, cursors, Connections(dynamodb, clock, fan_out.width), close)


@cache
def settings() -> Settings:
    return Settings.read(os.environ)


@cache
def dynamodb() -> Any:
    return clients.dynamodb(settings().endpoint_url or None)


@cache
def sqs() -> Any:
    return clients.sqs(settings().endpoint_url or None)


def make_clients(*makers: Callable[[], object]) -> None:
    """Called by the handlers' modules. On Lambda a function that starts has a whole CPU, however
    little memory it has, so what is made then does not delay its first invocation. No client
    calls AWS when it is made."""
    if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:
        for make in makers:
            make()


@cache
def adapters() -> Adapters:
    given = settings()
    return aws_adapters(
        table=given.table,
        queues=given.queues,
        shards=given.shards,
        retention=given.retention,
        dynamodb=dynamodb(),
        sqs=later(sqs),
    )


@cache
def rows_beside() -> RowsBeside:
    return RowsBeside(dynamodb(), settings().table)


def invoke_again(function_arn: str, event: object) -> None:
    invoke_later(function_arn, event)
