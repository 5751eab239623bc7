"""The `scanner` function: an EventBridge rule invokes it every minute with the slice to scan."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from duetime import tracing
from duetime.aws import backend
from duetime.aws.settings import METRICS_NAMESPACE
from duetime.core.lanes import Queue
from duetime.core.times import SECOND
from duetime.scanner.report import TickReport
from duetime.scanner.scanner import Scanner

RESERVE = 10 * SECOND  # of the function's time, for the current batch and for saving the cursor

SERVICE = "scanner"

logger = Logger(service=SERVICE)
metrics = Metrics(namespace=METRICS_NAMESPACE, service=SERVICE)
copy_config_to_registered_loggers(logger, include={"duetime"})
backend.make_clients(backend.dynamodb, backend.sqs)


@cache
def scanner() -> Scanner:
    tracing.start("duetime-scanner")
    adapters = backend.adapters()
    given = backend.settings()
    return Scanner(
        adapters.ports, adapters.cursors, catch_up=given.catch_up, executors=given.at_once
    )


@logger.inject_lambda_context
@metrics.log_metrics
def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    slice_number, slices = slice_of(event)
    now = backend.adapters().ports.clock.monotonic()
    left = context.get_remaining_time_in_millis()
    until = now + max(left - RESERVE, left // 2)
    report = scanner().tick(slice_number, slices, until, continues=event.get("continues"))
    tracing.flush()
    _publish(slice_number, report)
    if slice_number == 0 and report.saved and backend.settings().stats:
        _sum_hours(report)
    if report.unfinished and report.saved:  # not saved: another tick scans this slice
        next_tick = {"slice": slice_number, "slices": slices, "continues": report.chain}
        backend.invoke_later(context.invoked_function_arn, next_tick)
    return report.as_dict()


def _sum_hours(report: TickReport) -> None:
    """Writes the sums of the hours that have ended since the last tick, for GET /v1/stats."""
    now = backend.adapters().ports.clock.now()
    try:
        backend.stats_store().sum_hours(now - (report.age or 0), now)
    except Exception:
        logger.exception("hours not summed", step="scan")


def slice_of(event: Mapping[str, Any]) -> tuple[int, int]:
    """Parse the input of the rule, `{"slice": 3, "slices": 4}`. The event has both numbers, so that
    they change together. An event without them, as EventBridge makes it, means all shards."""
    number, slices = event.get("slice", 0), event.get("slices", 1)
    whole = type(number) is int and type(slices) is int
    if not whole or not 0 <= number < slices:
        raise ValueError(f"no such slice: {number!r} of {slices!r}, counted from 0")
    return number, slices


def _publish(slice_number: int, report: TickReport) -> None:
    """CloudWatch bills a metric for every hour in which it is sent. So zero counts are left out,
    and an idle deployment sends three metrics. A tick that yielded did not scan and is not
    counted, or the alarm for missing ticks would not fire when a chain is dead."""
    logger.info("tick finished", step="scan", slice=slice_number, **report.as_dict())
    if report.age is not None:
        metrics.add_metric("TickAge", MetricUnit.Seconds, report.age / SECOND)
    if report.yielded:
        return
    metrics.add_metric("Ticks", MetricUnit.Count, 1)
    metrics.add_metric("Lag", MetricUnit.Seconds, report.lag / SECOND)
    _count(metrics, {"HeldBack": report.held_back, "SetAside": report.set_aside})
    for queue in {*report.claims, *report.lost_claims, *report.promoted}:
        _publish_lane(
            queue,
            {
                "Claims": report.claims[queue],
                "LostClaims": report.lost_claims[queue],
                "Promoted": report.promoted[queue],
            },
        )


def _publish_lane(queue: Queue, counts: Mapping[str, int]) -> None:
    """Each lane is published alone, because metrics in one object share their dimensions."""
    if any(counts.values()):
        of_lane = EphemeralMetrics(namespace=METRICS_NAMESPACE, service=SERVICE)
        of_lane.add_dimension("lane", str(queue))
        _count(of_lane, counts)
        of_lane.flush_metrics()


def _count(metrics: Metrics | EphemeralMetrics, counts: Mapping[str, int]) -> None:
    for name, count in counts.items():
        if count:
            metrics.add_metric(name, MetricUnit.Count, count)
