"""Sets up a deployment without tasks on moto."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import bench.handlers  # noqa: F401 - registers them
from bench.billing.deployment import FULL, Batching, Deployment
from bench.billing.meter import Meter
from bench.billing.sandbox import ROLES
from duetime.aws import backend, clients
from duetime.aws.cursor_store import DynamoCursorStore
from duetime.aws.provision import ensure_resources
from duetime.aws.settings import STATS_IN_TABLE, Settings, queue_setting
from duetime.aws.stream_reader import stream_arn
from duetime.core.lanes import Queue
from duetime.core.ports import SliceState
from duetime.core.times import DAY, Millis
from duetime.core.wakes import minute_of
from duetime.local.moto_backend import fair_moto
from lambdas import api, executor, relay, scanner
from tests.backends import a_table
from tests.factories import NOW, SteppedClock
from tests.world import stepped_sqs

SINCE: Millis = NOW - 2 * DAY  # so old that every minute is swept
ONCE_PER_COLD_START = (
    *(api.api, scanner.scanner, executor.targets),
    *(backend.dynamodb, backend.sqs, backend.removed_tasks, backend.stats_store),
)


@contextmanager
def deployed(batching: Batching = FULL, *, stats: bool = False) -> Iterator[Deployment]:
    """Yields a deployment with the default settings, its cursors at the present. With `stats` it
    counts in rows of its table."""
    clock, meter = SteppedClock(NOW), Meter()
    with ExitStack() as stack:
        stack.enter_context(fair_moto())
        stack.enter_context(stepped_sqs(clock))
        dynamodb, sqs = clients.dynamodb(), clients.sqs()
        table = stack.enter_context(a_table(dynamodb))
        queues = ensure_resources(dynamodb, sqs, table=table, prefix=f"duetime-{uuid4().hex[:8]}")
        changes = _stream(stream_arn(dynamodb, table))
        settings = _settings(table, queues)
        if stats:
            settings = replace(settings, stats=STATS_IN_TABLE)
            stack.enter_context(patch.dict(os.environ, {relay.STATS: STATS_IN_TABLE}))
        metered = clients.dynamodb(), clients.sqs()
        for client in metered:
            meter.attach(client)
        _start(metered[0], settings)
        stack.enter_context(_cold(settings, clock, *metered))
        executor.DEAD_LETTER_IDS.clear()
        adapters = {role: _adapters(settings, stack) for role in ROLES}
        meter.take_counts()
        changes()
        yield Deployment(
            meter=meter,
            clock=clock,
            adapters=adapters,
            cold=lambda: _adapters(settings, stack),
            queues=queues,
            table=table,
            dynamodb=dynamodb,
            sqs=sqs,
            changes=changes,
            batching=batching,
        )


def _settings(table: str, queues: Mapping[Queue, str]) -> Settings:
    return Settings(
        table=table,
        queues=queue_setting(queues),
    )


def _start(dynamodb: Any, settings: Settings) -> None:
    cursors = DynamoCursorStore(dynamodb, settings.table, shards=settings.shards)
    shards = cursors.shards(SINCE)
    present = minute_of(NOW)
    cursors.save(
        0, SliceState(fence=1, cursors=dict.fromkeys(range(shards.count), present), swept=present)
    )


@contextmanager
def _cold(settings: Settings, clock: SteppedClock, dynamodb: Any, sqs: Any) -> Iterator[None]:
    with (
        patch.object(backend, "settings", lambda: settings),
        patch.object(backend, "SystemClock", lambda: clock),
        patch.object(clients, "dynamodb", lambda _: dynamodb),
        patch.object(clients, "sqs", lambda _: sqs),
    ):
        for made_once in ONCE_PER_COLD_START:
            made_once.cache_clear()
        yield
        for made_once in ONCE_PER_COLD_START:
            made_once.cache_clear()


def _adapters(settings: Settings, stack: ExitStack) -> backend.Adapters:
    adapters = backend.aws_adapters(
        table=settings.table,
        queues=settings.queue_urls,
        shards=settings.shards,
        retention=settings.retention,
        endpoint_url=None,
    )
    stack.callback(adapters.close)
    return adapters


def _stream(arn: str) -> Callable[[], list[Any]]:
    """Returns a function that returns the records written since its last call, in order."""
    streams = clients.streams()
    [shard] = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    iterator = streams.get_shard_iterator(
        StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]

    def changes() -> list[Any]:
        nonlocal iterator
        found: list[Any] = []
        while True:
            answer = streams.get_records(ShardIterator=iterator, Limit=1_000)
            iterator = answer["NextShardIterator"]
            if not answer["Records"]:
                return found
            found += answer["Records"]

    return changes
