"""The AWS backend: adapters made from settings, once per cold start.

The Lambda entry points and the local runner share it.
"""

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from duetime.aws import clients
from duetime.aws.clients import invoke_later, lazy
from duetime.aws.connections import Connections
from duetime.aws.cursor_store import CachedShards, DynamoCursorStore
from duetime.aws.lane_queue import SqsLaneQueue
from duetime.aws.parallel import ParallelCalls
from duetime.aws.settings import STATS_IN_TABLE, Settings
from duetime.aws.task_store import DynamoTaskStore
from duetime.core.lanes import Queue
from duetime.core.ports import Clock, CursorStore, ObjectStore, Ports
from duetime.core.secrets import SecretStore
from duetime.core.times import SECOND, Millis
from duetime.core.value import value
from duetime.core.wake_policy import AGE_AFTER, WakePolicy
from duetime.engine.clock import SystemClock, SystemRandom

if TYPE_CHECKING:
    from duetime.aws.connection_posts import ApiGatewayPosts
    from duetime.aws.live_store import DynamoLiveStore
    from duetime.aws.quota_store import DynamoQuotaStore
    from duetime.aws.removed_tasks import RemovedTasks
    from duetime.aws.services import AwsServices
    from duetime.aws.stats_store import DynamoStatsStore
    from duetime.aws.stored_counts import StoredCounts
    from duetime.aws.worker_store import DynamoWorkerStore
    from duetime.core.limits.ports import LimitStore, RateStore
    from duetime.core.limits.slots import SlotStore
    from duetime.core.schedules.ports import ScheduleStore
    from duetime.core.stats.ports import StatsStore
    from duetime.core.workflows.ports import RunStore

__all__ = [
    "Adapters",
    "adapters",
    "aws_adapters",
    "clock",
    "connection_posts",
    "dynamodb",
    "functions",
    "invoke_later",
    "live_store",
    "make_clients",
    "post_calls",
    "quota_store",
    "removed_tasks",
    "secrets",
    "services",
    "settings",
    "sqs",
    "stats_store",
    "stored_counts",
    "worker_store",
]


NO_POOLS: Mapping[str, int] = {}


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
    queues: Mapping[Queue, str],
    shards: int,
    retention: Millis,
    endpoint_url: str | None = None,
    dynamodb: Any = None,
    sqs: Any = None,
    objects_bucket: str = "",
    age_after: Millis = AGE_AFTER,
    pools: Mapping[str, int] = NO_POOLS,
    stats: bool = False,
) -> Adapters:
    """Make the adapters. Clients that are not given are made for `endpoint_url`."""
    clock = SystemClock()
    dynamodb = dynamodb or clients.dynamodb(endpoint_url)
    cursors = DynamoCursorStore(dynamodb, table, shards=shards)
    known = CachedShards(cursors, clock)
    parallel = ParallelCalls()
    store = DynamoTaskStore(
        dynamodb, table, shards=known, clock=clock, retention=retention, parallel=parallel
    )

    def schedules() -> "ScheduleStore":
        """Imports the schedule store on first use: most invocations never need it."""
        from duetime.aws.schedule_store import DynamoScheduleStore

        return DynamoScheduleStore(dynamodb, table, clock=clock, parallel=parallel)

    def limits() -> "LimitStore":
        """Imports the store of the limits on first use: most tasks have none."""
        from duetime.aws.limit_store import DynamoLimitStore

        return DynamoLimitStore(dynamodb, table, clock=clock)

    def objects() -> ObjectStore:
        """Imports the client of S3 on first use: most invocations see no large text."""
        from duetime.aws.object_store import S3ObjectStore

        return S3ObjectStore(clients.s3(endpoint_url), objects_bucket)

    def slots() -> "SlotStore":
        """Imports the slot store on first use: most tasks are under no limit."""
        from duetime.aws.slot_store import DynamoSlotStore

        return DynamoSlotStore(dynamodb, table, parallel)

    def rates() -> "RateStore":
        """As the schedules."""
        from duetime.aws.rate_store import DynamoRateStore

        return DynamoRateStore(dynamodb, table, parallel)

    def runs() -> "RunStore":
        """Imports the run store on first use: most tasks belong to no run."""
        from duetime.aws.run_store import DynamoRunStore

        return DynamoRunStore(
            dynamodb, table, shards=known, clock=clock, retention=retention, parallel=parallel
        )

    def stats_store() -> "StatsStore":
        """Imports the store of the statistics on first use: only their routes read it."""
        from duetime.aws.stats_store import DynamoStatsStore

        return DynamoStatsStore(dynamodb, table, parallel)

    lanes = SqsLaneQueue(sqs or lazy(lambda: clients.sqs(endpoint_url)), queues)
    ports = Ports(
        store=store,
        schedules=lazy(schedules),
        limits=lazy(limits),
        lanes=lanes,
        wake_policy=WakePolicy(shards=known().count, age_after=age_after),
        clock=clock,
        chance=SystemRandom(),
        objects=lazy(objects) if objects_bucket else None,
        slots=lazy(slots),
        rates=lazy(rates),
        runs=lazy(runs),
        stats=lazy(stats_store) if stats else None,
        pools=pools,
    )

    def close() -> None:
        lanes.close()
        parallel.close()

    return Adapters(ports, cursors, Connections(dynamodb, clock, parallel.width), close)


@cache
def settings() -> Settings:
    return Settings.read(os.environ)


@cache
def dynamodb() -> Any:
    return clients.dynamodb(settings().endpoint_url or None)


@cache
def sqs() -> Any:
    return clients.sqs(settings().endpoint_url or None)


@cache
def services() -> "AwsServices":
    """Returns the AWS services for targets; imported on first use, as most tasks need none."""
    from duetime.aws.services import AwsServices

    return AwsServices(settings().endpoint_url or None)


def make_clients(*makers: Callable[[], object]) -> None:
    """Make clients while the module of an entry point is imported.

    During its init phase a function has a whole CPU even if it has little memory, so clients
    made then do not delay the first invocation. Making a client does not call AWS."""
    if "AWS_LAMBDA_FUNCTION_NAME" in os.environ:
        for make in makers:
            make()


@cache
def adapters() -> Adapters:
    given = settings()
    return aws_adapters(
        table=given.table,
        queues=given.queue_urls,
        shards=given.shards,
        retention=given.retention,
        endpoint_url=given.endpoint_url or None,
        dynamodb=dynamodb(),
        sqs=lazy(sqs),
        objects_bucket=given.objects_bucket,
        age_after=given.age_after * SECOND,
        stats=given.stats == STATS_IN_TABLE,
        pools=given.pool_timeouts,
    )


@cache
def secrets() -> SecretStore:
    """Imports the store of the secrets on first use: most tasks name none."""

    def store() -> SecretStore:
        from duetime.aws.secret_store import SsmSecretStore

        given = settings()
        ssm = clients.ssm(given.endpoint_url or None)
        return SsmSecretStore(ssm, given.stage, given.secret_names, adapters().ports.clock)

    return lazy(store)


@cache
def removed_tasks() -> "RemovedTasks":
    """Imported on first use: most invocations of the relay see no removal."""
    from duetime.aws.archive_bucket import ArchiveBucket
    from duetime.aws.object_store import S3ObjectStore
    from duetime.aws.related_rows import DependentRows
    from duetime.aws.removed_tasks import RemovedTasks

    given = settings()
    s3 = lazy(lambda: clients.s3(given.endpoint_url or None))
    bucket = ArchiveBucket(s3, given.archive_bucket) if given.archive_bucket else None
    objects = S3ObjectStore(s3, given.objects_bucket) if given.objects_bucket else None
    return RemovedTasks(DependentRows(dynamodb(), given.table), bucket, objects)


@cache
def quota_store() -> "DynamoQuotaStore":
    """Imported on first use: most deployments have no quotas."""
    from duetime.aws.quota_store import DynamoQuotaStore

    return DynamoQuotaStore(dynamodb(), settings().table, adapters().ports.clock)


@cache
def stats_store() -> "DynamoStatsStore":
    """As above, with `stats` of the stage only."""
    from duetime.aws.stats_store import DynamoStatsStore

    return DynamoStatsStore(dynamodb(), settings().table)


@cache
def stored_counts() -> "StoredCounts":
    """As above."""
    from duetime.aws.stored_counts import StoredCounts

    given, ports = settings(), adapters()
    return StoredCounts(
        dynamodb(), given.table, shards=ports.cursors.shards, clock=ports.ports.clock
    )


@cache
def worker_store() -> "DynamoWorkerStore":
    """As above: most deployments have no pools."""
    from duetime.aws.worker_store import DynamoWorkerStore

    return DynamoWorkerStore(dynamodb(), settings().table)


@cache
def clock() -> Clock:
    return SystemClock()


@cache
def live_store() -> "DynamoLiveStore":
    """Imported on first use: most deployments have no live updates."""
    from duetime.aws.live_store import DynamoLiveStore

    return DynamoLiveStore(dynamodb(), settings().table)


@cache
def connection_posts() -> "ApiGatewayPosts":
    """As above."""
    from duetime.aws.connection_posts import ApiGatewayPosts

    return ApiGatewayPosts(clients.connections(settings().live_url))


@cache
def post_calls() -> ParallelCalls:
    """More than a function has CPU for: a post waits for its client."""
    return ParallelCalls(clients.POOL_SIZE)


@cache
def functions() -> Any:
    return clients.functions()
