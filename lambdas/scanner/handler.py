"""The `scanner` Lambda: an EventBridge rule calls it every minute, with the slice to scan."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from aws_lambda_powertools.metrics import MetricUnit

from lambdas import wiring
from lambdas.core.times import SECOND
from lambdas.scanner.scanner import Scanner, TickReport

RESERVE = 10 * SECOND  # of the function's time, for a batch under way and the cursor

logger = Logger(service="scanner")
metrics = Metrics(namespace="Duetime", service="scanner")
copy_config_to_registered_loggers(logger, include={"lambdas"})


@cache
def scanner() -> Scanner:
    adapters = wiring.adapters()
    catch_up = wiring.settings().catch_up
    return Scanner(adapters.ports, adapters.cursors, catch_up=catch_up)


@logger.inject_lambda_context
@metrics.log_metrics
def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    slice_number, slices = slice_of(event)
    now = wiring.adapters().ports.clock.now()
    left = context.get_remaining_time_in_millis()
    until = now + max(left - RESERVE, left // 2)
    report = scanner().tick(slice_number, slices, until)
    _publish(slice_number, report)
    if report.unfinished and report.saved:  # else another tick of this slice is at it
        again = {"slice": slice_number, "slices": slices}
        wiring.invoke_again(context.invoked_function_arn, again)
    return asdict(report)


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
    logger.info("tick", step="scan", slice=slice_number, **asdict(report))
    metrics.add_metric("Ticks", MetricUnit.Count, 1)
    metrics.add_metric("Claims", MetricUnit.Count, report.claimed)
    metrics.add_metric("LostClaims", MetricUnit.Count, report.lost)
    metrics.add_metric("HeldBack", MetricUnit.Count, report.held_back)
