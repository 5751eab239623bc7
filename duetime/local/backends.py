"""The backends of the local runner: SQLite, or AWS (real, at another endpoint, or moto)."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from duetime.aws.settings import Settings, queue_setting
from duetime.core.codec import to_json
from duetime.core.errors import DuetimeError, StoreLost
from duetime.core.events import StatusChange
from duetime.core.lanes import Queue
from duetime.core.limits.slots import line_of
from duetime.core.ports import CursorStore, Ports
from duetime.core.quotas import QuotaStore
from duetime.core.task import LONGEST_TIMEOUT, Task
from duetime.core.times import seconds
from duetime.core.wake_policy import WakePolicy
from duetime.core.workers import WorkerStore
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.engine.lines import look_lines
from duetime.executor.lane_sources import LaneSource
from duetime.extras import NotInstalled
from duetime.local.batches.submission import QueueNew
from duetime.local.folder_archive import FolderArchive
from duetime.local.lane_sources import MemoryLanes, PolledLanes
from duetime.local.options import LocalOptions
from duetime.local.retention import RetentionSweep, Sweep
from duetime.sqlite.figures import StoreFigures
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.object_store import FolderObjectStore, LocalObjects, MemoryObjectStore
from duetime.sqlite.slot_store import SqliteSlotStore
from duetime.sqlite.task_store import SqliteTaskStore

FILE = "duetime.db"
OBJECTS = "objects"  # the folder of large payloads and results, beside the file
BUCKET = "duetime-objects"

Feed = Callable[[], Sequence[StatusChange]]
OnChanges = Callable[[Sequence[StatusChange]], None]
OnLost = Callable[[StoreLost], None]


@dataclass(frozen=True, kw_only=True)
class Backend:
    name: str
    ports: Ports
    cursors: CursorStore
    source: LaneSource
    poll: float  # seconds that a poll of a lane may wait
    close: Callable[[], None]
    check: Callable[[], object]  # raises if the store does not work
    feed: Feed | None = None  # polls status changes if the store does not publish them
    sweep: Sweep | None = None  # removes tasks, if the store does not do that by itself
    quotas: QuotaStore | None = None  # if there are quotas
    look_at_lines: Callable[[], object] | None = None  # if ticks alone would be too seldom
    waiting: Callable[[], Counter[Queue]] | None = None  # counts the tasks that wait for a limit
    figures: Callable[[], StoreFigures] | None = None  # for its metrics
    memory_lanes: MemoryLaneQueue | None = None  # from which HTTP workers can be served
    workers: WorkerStore | None = None  # those that need no runner
    held_by_workers: Callable[[], Sequence[Task]] = lambda: ()  # since before the start
    queue_new: QueueNew | None = None  # stores new tasks whose rows are made already
    longest_timeout: int = LONGEST_TIMEOUT  # also of other executors, if there are any
    resumed: int = 0  # tasks that were under way when the previous runner ended


def open_backend(options: LocalOptions, on_changes: OnChanges, on_lost: OnLost) -> Backend:
    if options.backend == "embedded":
        return _sqlite(options, on_changes, on_lost)
    return _aws(options)


def _sqlite(options: LocalOptions, on_changes: OnChanges, on_lost: OnLost) -> Backend:
    path = None if options.memory else options.data / FILE
    clock = SystemClock()
    objects: LocalObjects = (
        MemoryObjectStore() if path is None else FolderObjectStore(path.parent / OBJECTS)
    )
    store = SqliteTaskStore(path, on_changes, on_lost, objects)
    now = clock.now()
    wake_policy = WakePolicy(shards=store.shards(now).count, age_after=seconds(options.age_after))
    lanes = MemoryLaneQueue(clock)
    ports = Ports(
        store=store,
        schedules=store.schedules(clock),
        limits=store.limits(),
        lanes=lanes,
        wake_policy=wake_policy,
        clock=clock,
        chance=SystemRandom(),
        archive=FolderArchive(options.archive, clock) if options.archive else None,
        objects=objects,
        slots=store.slots(),
        rates=store.rates(),
        runs=store.runs(),
        stats=store.stats(),
        pools=dict.fromkeys(options.pools, LONGEST_TIMEOUT),
    )
    return Backend(
        name="memory; nothing is kept" if path is None else str(path),
        ports=ports,
        cursors=store,
        source=MemoryLanes(lanes),
        poll=1.0,
        close=store.close,
        check=store.check,
        resumed=store.recover(wake_policy, now),
        sweep=RetentionSweep(ports, options.retention) if options.retention else None,
        quotas=store.quotas(clock) if options.quotas else None,
        look_at_lines=partial(look_at_watched_lines, ports, store.slots()),
        waiting=store.waiting,
        figures=store.figures,
        memory_lanes=lanes,
        held_by_workers=store.held_by_workers,
        queue_new=store.queue_new,
    )


def look_at_watched_lines(ports: Ports, slots: SqliteSlotStore) -> None:
    look_lines(ports, [line_of(watch.task_id) for watch in slots.watched()])


def _aws(options: LocalOptions) -> Backend:
    from duetime.aws import clients
    from duetime.aws.backend import aws_adapters
    from duetime.aws.worker_store import DynamoWorkerStore

    closing = ExitStack()
    if options.backend == "moto":
        _enter_moto(closing)
    settings = _settings(options)
    adapters = aws_adapters(
        table=settings.table,
        queues=settings.queue_urls,
        shards=settings.shards,
        retention=settings.retention,
        endpoint_url=options.endpoint_url,
        objects_bucket=settings.objects_bucket,
        age_after=seconds(options.age_after),
        pools=settings.pool_timeouts,
    )
    closing.callback(adapters.close)
    return Backend(
        name=options.endpoint_url or options.backend,
        ports=adapters.ports,
        cursors=adapters.cursors,
        source=PolledLanes(adapters.ports.lanes),
        poll=1.0 if options.backend == "moto" else 5.0,
        close=closing.close,
        check=lambda: adapters.cursors.load(0),
        feed=_feed(settings.table, options.endpoint_url),
        longest_timeout=settings.longest_timeout,
        workers=DynamoWorkerStore(clients.dynamodb(options.endpoint_url), settings.table),
    )


def _enter_moto(closing: ExitStack) -> None:
    try:
        from duetime.local.moto_backend import fair_moto

        closing.enter_context(fair_moto())
    except ModuleNotFoundError as error:
        raise NotInstalled(f"What --backend moto needs ({error})", "moto") from error


def _settings(options: LocalOptions) -> Settings:
    """Reads the names of a deployment from the environment; elsewhere creates what is missing."""
    if options.backend == "aws" and options.endpoint_url is None:
        try:
            return Settings.read(os.environ)
        except ValueError as error:
            message = f"--backend aws without --endpoint-url uses a deployment's names; {error}"
            raise DuetimeError(message) from None
    from duetime.aws import clients
    from duetime.aws.provision import SHARDS, TABLE, ensure_bucket, ensure_resources

    moto = options.backend == "moto"
    if moto:
        ensure_bucket(clients.s3(), BUCKET)
    urls = ensure_resources(
        clients.dynamodb(options.endpoint_url),
        clients.sqs(options.endpoint_url),
        table=TABLE,
        pools=options.pools,
    )
    return Settings(
        table=TABLE,
        queues=queue_setting(urls),
        pools=to_json(dict.fromkeys(options.pools, LONGEST_TIMEOUT)),
        shards=SHARDS,
        longest_timeout=LONGEST_TIMEOUT,
        objects_bucket=BUCKET if moto else "",
    )


def _feed(table: str, endpoint_url: str | None) -> Feed:
    from duetime.aws import clients
    from duetime.aws.stream_reader import StreamReader, stream_arn

    arn = stream_arn(clients.dynamodb(endpoint_url), table)
    return StreamReader(clients.streams(endpoint_url), arn).poll
