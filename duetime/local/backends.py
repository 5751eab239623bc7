"""The two backends, ready for the local runner: embedded, or AWS (real, elsewhere, or moto)."""

import logging
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from duetime.embedded.lanes import MemoryLanes
from duetime.embedded.store import EmbeddedStore
from duetime.local.options import LocalOptions
from lambdas.core.errors import DuetimeError
from lambdas.core.events import StatusChange
from lambdas.core.ports import CursorStore, Ports
from lambdas.core.rules import Rules
from lambdas.settings import Settings
from lambdas.system import SystemChance, SystemClock

log = logging.getLogger(__name__)

FILE = "duetime.db"
TABLE = "duetime"
MOTO_SHARDS = 2  # moto reads a bucket in milliseconds, and a tick reads ten of each shard
FEED_PAUSE = 0.5

OnChanges = Callable[[Sequence[StatusChange]], None]


@dataclass(frozen=True, kw_only=True)
class Backend:
    name: str
    ports: Ports
    cursors: CursorStore
    poll: float  # seconds that one poll of a lane may take
    close: Callable[[], None]
    resumed: int = 0  # tasks that were under way when the last runner ended


def open_backend(options: LocalOptions, on_changes: OnChanges) -> Backend:
    if options.backend == "embedded":
        return _embedded(options, on_changes)
    return _aws(options, on_changes)


def _embedded(options: LocalOptions, on_changes: OnChanges) -> Backend:
    path = None if options.memory else options.data / FILE
    clock = SystemClock()
    store = EmbeddedStore(path, on_changes)
    now = clock.now()
    rules = Rules(shards=store.shards(now).count)
    ports = Ports(
        store=store,
        schedules=store.schedules(clock),
        lanes=MemoryLanes(clock),
        rules=rules,
        clock=clock,
        chance=SystemChance(),
    )
    return Backend(
        name="memory; nothing is kept" if path is None else str(path),
        ports=ports,
        cursors=store,
        poll=1.0,
        close=store.close,
        resumed=store.recover(rules, now),
    )


def _aws(options: LocalOptions, on_changes: OnChanges) -> Backend:
    from lambdas.wiring import aws_adapters

    closing = ExitStack()
    if options.backend == "moto":
        _enter_moto(closing)
    settings = _settings(options)
    adapters = aws_adapters(
        table=settings.table,
        queues=settings.queues,
        shards=settings.shards,
        retention=settings.retention,
        endpoint_url=options.endpoint_url,
    )
    closing.callback(adapters.close)
    closing.callback(_follow(settings.table, options.endpoint_url, on_changes))
    return Backend(
        name=options.endpoint_url or options.backend,
        ports=adapters.ports,
        cursors=adapters.cursors,
        poll=1.0 if options.backend == "moto" else 5.0,
        close=closing.close,
    )


def _enter_moto(closing: ExitStack) -> None:
    try:
        from duetime.local.moto_backend import fair_moto

        closing.enter_context(fair_moto())
    except ModuleNotFoundError as error:
        message = f"--backend moto needs moto ({error}); install duetime[moto]"
        raise DuetimeError(message) from error


def _settings(options: LocalOptions) -> Settings:
    """A deployment's own names from the environment; elsewhere what is missing is made."""
    if options.backend == "aws" and options.endpoint_url is None:
        try:
            return Settings.read(os.environ)
        except ValueError as error:
            message = f"--backend aws without --endpoint-url uses a deployment's names; {error}"
            raise DuetimeError(message) from None
    from lambdas.aws import clients
    from lambdas.aws.resources import ensure_resources

    urls = ensure_resources(
        clients.dynamodb(options.endpoint_url), clients.sqs(options.endpoint_url), table=TABLE
    )
    high, medium, low = urls.values()
    return Settings(
        table=TABLE, queue_high=high, queue_medium=medium, queue_low=low, shards=MOTO_SHARDS
    )


def _follow(table: str, endpoint_url: str | None, on_changes: OnChanges) -> Callable[[], None]:
    """Read the table's stream in a thread of its own; returns how to end that."""
    from lambdas.aws import clients
    from lambdas.aws.change_feed import StreamFeed, stream_of

    arn = stream_of(clients.dynamodb(endpoint_url), table)
    feed = StreamFeed(clients.streams(endpoint_url), arn)
    ended = threading.Event()

    def follow() -> None:
        while not ended.wait(FEED_PAUSE):
            try:
                changes = feed.poll()
            except Exception:
                log.exception("the stream cannot be read; trying again")
                continue
            if changes:
                on_changes(changes)

    thread = threading.Thread(target=follow, name="change-feed", daemon=True)
    thread.start()

    def end() -> None:
        ended.set()
        thread.join()

    return end
