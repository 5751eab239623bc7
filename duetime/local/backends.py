"""The two backends, ready for the local runner: embedded, or AWS (real, elsewhere, or moto)."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from duetime.embedded.lanes import MemoryLanes
from duetime.embedded.store import EmbeddedStore
from duetime.local.options import LocalOptions
from lambdas.core.errors import DuetimeError, StoreLost
from lambdas.core.events import StatusChange
from lambdas.core.ports import CursorStore, Ports
from lambdas.core.rules import Rules
from lambdas.core.task import LONGEST_TIMEOUT
from lambdas.settings import Settings
from lambdas.system import SystemChance, SystemClock

FILE = "duetime.db"
TABLE = "duetime"
MOTO_SHARDS = 2  # moto reads a bucket in milliseconds, and a tick reads ten of each shard

Feed = Callable[[], Sequence[StatusChange]]
OnChanges = Callable[[Sequence[StatusChange]], None]
OnLost = Callable[[StoreLost], None]


@dataclass(frozen=True, kw_only=True)
class Backend:
    name: str
    ports: Ports
    cursors: CursorStore
    poll: float  # seconds that one poll of a lane may take
    close: Callable[[], None]
    check: Callable[[], object]  # raises what is wrong with the store
    feed: Feed | None = None  # where the store does not tell of status changes itself
    longest_timeout: int = LONGEST_TIMEOUT  # of whoever else may execute, too
    resumed: int = 0  # tasks that were under way when the last runner ended


def open_backend(options: LocalOptions, on_changes: OnChanges, on_lost: OnLost) -> Backend:
    if options.backend == "embedded":
        return _embedded(options, on_changes, on_lost)
    return _aws(options)


def _embedded(options: LocalOptions, on_changes: OnChanges, on_lost: OnLost) -> Backend:
    path = None if options.memory else options.data / FILE
    clock = SystemClock()
    store = EmbeddedStore(path, on_changes, on_lost)
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
        check=store.check,
        resumed=store.recover(rules, now),
    )


def _aws(options: LocalOptions) -> Backend:
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
    return Backend(
        name=options.endpoint_url or options.backend,
        ports=adapters.ports,
        cursors=adapters.cursors,
        poll=1.0 if options.backend == "moto" else 5.0,
        close=closing.close,
        check=lambda: adapters.cursors.load(0),
        feed=_feed(settings.table, options.endpoint_url),
        longest_timeout=settings.longest_timeout,
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
        table=TABLE,
        queue_high=high,
        queue_medium=medium,
        queue_low=low,
        shards=MOTO_SHARDS,
        longest_timeout=LONGEST_TIMEOUT,
    )


def _feed(table: str, endpoint_url: str | None) -> Feed:
    from lambdas.aws import clients
    from lambdas.aws.change_feed import StreamFeed, stream_of

    arn = stream_of(clients.dynamodb(endpoint_url), table)
    return StreamFeed(clients.streams(endpoint_url), arn).poll
