"""The `scanner` Lambda: an EventBridge rule calls it every minute, with the slice to scan."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from lambdas import wiring
from lambdas.core.lanes import Lane
from lambdas.core.times import SECOND
from lambdas.scanner.report import TickReport
from lambdas.scanner.scanner import Scanner
from lambdas.settings import METRICS_NAMESPACE

RESERVE = 10 * SECOND  # of the function's time, for a batch under way and the cursor

SERVICE = "scanner"

logger = Logger(service=SERVICE)
metrics = Metrics(namespace=METRICS_NAMESPACE, service=SERVICE)
copy_config_to_registered_loggers(logger, include={"lambdas"})
wiring.make_clients(wiring.dynamodb, wiring.sqs)


@cache
def scanner() -> Scanner:
    adapters = wiring.adapters()
    given = wiring.settings()
    return Scanner(adapters.ports, adapters.cursors, catch_up=given.catch_up, at_once=given.at_once)


@logger.inject_lambda_context
@metrics.log_metrics
def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    slice_number, slices = slice_of(event)
    now = wiring.adapters().ports.clock.monotonic()
    left = context.get_remaining_time_in_millis()
    until = now + max(left - RESERVE, left // 2)
    report = scanner().tick(slice_number, slices, until, continues=event.get("continues"))
    _publish(slice_number, report)
    if report.unfinished and report.saved:  # else another tick of this slice is at it
        again = {"slice": slice_number, "slices": slices, "continues": report.chain}
        wiring.invoke_again(context.invoked_function_arn, again)
    return report.told()


def slice_of(event: Mapping[str, Any]) -> tuple[int, int]:
    """A rule with a constant input names its slice, and of how many: `{"slice": 3, "slices": 4}`.
    Both stand in the event, so that they change together. An event as EventBridge makes it has
    neither, and means all shards."""
    number, slices = event.get("slice", 0), event.get("slices", 1)
    whole = type(number) is int and type(slices) is int
    if not whole or not 0 <= number < slices:
        raise ValueError(f"no such slice: {number!r} of {slices!r}, counted from 0")
    return number, slices


def _publish(slice_number: int, report: TickReport) -> None:
    """A metric costs money in every hour in which it is sent: what is zero is left out, so that
    an idle deployment pays for three. A tick that yielded did not scan: it counts for no tick,
    or the alarm for missing ticks would not ring when the chain is dead."""
    logger.info("tick", step="scan", slice=slice_number, **report.told())
    if report.age is not None:
        metrics.add_metric("TickAge", MetricUnit.Seconds, report.age / SECOND)
    if report.yielded:
        return
    metrics.add_metric("Ticks", MetricUnit.Count, 1)
    metrics.add_metric("Lag", MetricUnit.Seconds, report.lag / SECOND)
    _count(metrics, {"HeldBack": report.held_back, "SetAside": report.set_aside})
    for lane in Lane:
        _publish_lane(lane, report.claims[lane], report.lost_claims[lane])


def _publish_lane(lane: Lane, claims: int, lost_claims: int) -> None:
    """By itself: what stands in one object shares its dimensions."""
    if claims or lost_claims:
        of_lane = EphemeralMetrics(namespace=METRICS_NAMESPACE, service=SERVICE)
        of_lane.add_dimension("lane", lane)
        _count(of_lane, {"Claims": claims, "LostClaims": lost_claims})
        of_lane.flush_metrics()


def _count(metrics: Metrics | EphemeralMetrics, counts: Mapping[str, int]) -> None:
    for name, count in counts.items():
        if count:
            metrics.add_metric(name, MetricUnit.Count, count)
