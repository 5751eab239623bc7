"""The `relay` function: the stream of the table invokes it with the rows that were written."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from aws_lambda_powertools.metrics import EphemeralMetrics

from duetime.aws.event_records import (
    RemovedTask,
    change_of_record,
    count_of_record,
    freed_key_of_record,
    progress_of_record,
    removed_run_of_record,
    removed_task_of_record,
    watch_of_record,
)
from duetime.aws.settings import METRICS_NAMESPACE
from duetime.core.events import StatusChange
from duetime.core.metrics import ChangeMetrics, Path, metrics_of
from duetime.core.ports import UniqueKey
from duetime.core.value import value
from duetime.relay import Relay

if TYPE_CHECKING:
    from duetime.engine.live_feed import LiveFeed

SERVICE = "relay"
# See duetime.aws.settings.
ARCHIVE_BUCKET, OBJECTS_BUCKET = "DUETIME_ARCHIVE_BUCKET", "DUETIME_OBJECTS_BUCKET"
QUOTAS, STATS = "DUETIME_QUOTAS", "DUETIME_STATS"
LIVE_FUNCTION = "DUETIME_LIVE_FUNCTION"

logger = Logger(service=SERVICE)
copy_config_to_registered_loggers(logger, include={"duetime"})


METRICS: dict[str, EphemeralMetrics] = {}


def _lane_metrics(lane: str) -> EphemeralMetrics:
    """Metrics in one object share their dimensions, so each lane has an object of its own."""
    if lane not in METRICS:
        dimensions = {"lane": lane}
        METRICS[lane] = EphemeralMetrics(
            namespace=METRICS_NAMESPACE, service=SERVICE, default_dimensions=dimensions
        )
    return METRICS[lane]


class MetricsObserver:
    """Adds the metrics of a change. Powertools keeps every value and publishes by itself when it
    has a hundred of one name, the limit of CloudWatch."""

    def notify(self, change: StatusChange) -> None:
        metrics = metrics_of(change)
        for metric in emf_metrics(metrics) if metrics else ():
            _lane_metrics(str(change.queue)).add_metric(metric.name, metric.unit, metric.amount)


def _follow_up(changes: Sequence[StatusChange]) -> None:
    """Most changes have no follow-up, so the backend is imported only here and where rows are
    deleted: a relay that needs neither starts without boto3."""
    from duetime.aws import backend
    from duetime.engine.followups import run_follow_ups_after

    run_follow_ups_after(backend.adapters().ports, changes)


class FollowUps:
    """The ends of a batch, without those whose follow-up another role has run meanwhile: the last
    image of such a task has no watch any more."""

    def __init__(self) -> None:
        self.changes: list[StatusChange] = []
        self._watched: dict[str, bool] = {}

    def add(self, change: StatusChange | None, watched: Mapping[str, bool]) -> None:
        self.changes += [] if change is None else [change]
        self._watched |= watched

    @property
    def left(self) -> list[StatusChange]:
        return [
            change if self._watched.get(change.task_id) else replace(change, has_follow_up=False)
            for change in self.changes
        ]


relay = Relay([MetricsObserver()], _follow_up)


@contextmanager
def published() -> Iterator[None]:
    """Publish the metrics, even if the invocation fails."""
    try:
        yield
    finally:
        for metrics in METRICS.values():
            if metrics.metric_set:
                metrics.flush_metrics()


@logger.inject_lambda_context
@published()
def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001
    """On the first record that fails, the answer names it. The event source then retries from that
    record, and finally moves it to the failure destination; the records before it are done.

    The follow-ups of a batch run together, so that a workflow run of which many steps have ended is
    written once."""
    failed: str | None = None
    removed: list[RemovedTask] = []
    batch = FollowUps()
    for record in event["Records"]:
        try:
            removed += _relay(record, batch)
        except Exception:
            failed = record["dynamodb"]["SequenceNumber"]
            logger.exception("record not relayed", step="relay", sequence_number=failed)
            break
    relay.run_follow_ups(batch.left)
    failed = _let_go(removed) or failed
    if QUOTAS in os.environ:
        _count_stored(event["Records"], failed)
    if STATS in os.environ:
        _add_stats(batch.changes)
    if LIVE_FUNCTION in os.environ:
        _push(batch.changes, event["Records"])
    return {"batchItemFailures": [{"itemIdentifier": failed}] if failed else []}


def _relay(record: Mapping[str, Any], batch: FollowUps) -> list[RemovedTask]:
    """Notifies of a change. Returns the task if it was removed."""
    change = change_of_record(record)
    if change is not None:
        relay.notify(change)
    batch.add(change, watch_of_record(record))
    key = freed_key_of_record(record)
    if key is not None:
        _free_key(key)
    run_id = removed_run_of_record(record)
    if run_id is not None:
        _delete_input(run_id)
    task = removed_task_of_record(record)
    return [] if task is None else [task]


def _let_go(removed: Sequence[RemovedTask]) -> str | None:
    """Archives removed tasks and deletes their dependent rows. Returns the number of the record
    from which the event source must retry: the first, if the archive was not written."""
    archives, has_objects = ARCHIVE_BUCKET in os.environ, OBJECTS_BUCKET in os.environ
    has_more = any(task.has_rows or (has_objects and task.has_objects) for task in removed)
    if not removed or not (archives or has_more):
        return None
    from duetime.aws import backend

    number = removed[0].sequence_number
    try:
        backend.removed_tasks().archive(removed)
        for task in removed:
            number = task.sequence_number
            backend.removed_tasks().delete_rows(task)
    except Exception:
        logger.exception("removal not followed up", step="archive", sequence_number=number)
        return number
    return None


def _count_stored(records: Sequence[Mapping[str, Any]], failed: str | None) -> None:
    """Counts the stored tasks of namespaces that have a quota for them. A failure leaves the count
    wrong by this batch: it must not repeat what the batch has done."""
    from duetime.aws import backend
    from duetime.core.quotas import parse_quotas

    quotas = parse_quotas(os.environ[QUOTAS])
    changes: Counter[str] = Counter()
    for record in records:
        if record["dynamodb"]["SequenceNumber"] == failed:
            break  # the event source repeats from here
        counted = count_of_record(record)
        if counted and quotas.limits_stored(counted[0]):
            changes[counted[0]] += counted[1]
    if not changes:
        return
    try:
        backend.stored_counts().add(changes)
    except Exception:
        namespaces = sorted(changes)
        logger.exception("stored tasks not counted", step="relay", namespaces=namespaces)


def _add_stats(changes: Sequence[StatusChange]) -> None:
    """Counts the ends of attempts and tasks in rows, with one write for each lane. A failure loses
    the counts of this batch: it must not repeat what the batch has done."""
    from duetime.aws import backend
    from duetime.engine.stats import StatsCounter

    counter = StatsCounter(backend.stats_store().add)
    for change in changes:
        metrics = metrics_of(change)
        if metrics and (metrics.outcome or metrics.end):
            counter.add(metrics)
    try:
        counter.flush()
    except Exception:
        logger.exception("statistics not written", step="relay")


@cache
def live_feed() -> "LiveFeed":
    """Kept while the sandbox is warm. Most deployments have no live updates, and import nothing
    for them."""
    from duetime.aws import backend
    from duetime.engine.live_feed import LiveFeed

    function = backend.settings().live_function
    return LiveFeed(
        backend.live_store(),
        lambda event: backend.invoke_later(function, event, backend.functions()),
        backend.clock(),
    )


def _push(changes: Sequence[StatusChange], records: Sequence[Mapping[str, Any]]) -> None:
    """Has changes pushed to open connections. A push is a hint: without it, clients are late."""
    try:
        progressed = [report for record in records if (report := progress_of_record(record))]
        live_feed().push(changes, progressed)
    except Exception:
        logger.exception("changes not pushed", step="push", count=len(changes))


def _delete_input(run_id: str) -> None:
    """Delete the input of a run that the table has removed."""
    from duetime.aws import backend

    backend.removed_tasks().delete_input(run_id)


def _free_key(key: UniqueKey) -> None:
    """Delete the unique key of a task that the table has removed."""
    from duetime.aws import backend

    backend.removed_tasks().free_key(key)


@value(frozen=True, slots=True)
class Metric:
    name: str
    amount: float
    unit: str = "Count"


def emf_metrics(metrics: ChangeMetrics) -> Iterator[Metric]:
    if metrics.submitted:
        yield Metric("FastPath", int(metrics.submitted is Path.FAST))
    if metrics.drift_ms is not None:
        yield Metric("Drift", metrics.drift_ms, "Milliseconds")
    if metrics.retried:
        yield Metric("Retries", 1)
    if metrics.end:
        yield Metric(metrics.end.title(), 1)
