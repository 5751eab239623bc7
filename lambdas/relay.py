"""The `relay` Lambda: the table's stream calls it with what was written."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from aws_lambda_powertools.metrics import EphemeralMetrics

from lambdas.aws.events import change_of_record, left_behind_by_record
from lambdas.core.events import StatusChange
from lambdas.core.lanes import Lane
from lambdas.relay.measures import measures_of
from lambdas.relay.relay import Relay
from lambdas.settings import METRICS_NAMESPACE

SERVICE = "relay"

logger = Logger(service=SERVICE)
copy_config_to_registered_loggers(logger, include={"lambdas"})


def _metrics_of(lane: Lane) -> EphemeralMetrics:
    dimensions = {"lane": lane.value}
    return EphemeralMetrics(
        namespace=METRICS_NAMESPACE, service=SERVICE, default_dimensions=dimensions
    )


# What is published together shares its dimensions, so each lane is published alone.
METRICS = {lane: _metrics_of(lane) for lane in Lane}


class Measuring:
    """Powertools keeps every value, and publishes by itself when it holds a hundred of one
    name, which is as many as CloudWatch takes at once."""

    def notify(self, change: StatusChange) -> None:
        for measure in measures_of(change):
            METRICS[change.lane].add_metric(measure.name, measure.unit, measure.amount)


def _follow_up(changes: Sequence[StatusChange]) -> None:
    """Most changes need none, so it is wired only then, as is all that asks the table: see
    _forget."""
    from lambdas import wiring
    from lambdas.debts import follow_up

    follow_up(wiring.adapters().ports, changes)


relay = Relay([Measuring()], _follow_up)


@contextmanager
def published() -> Iterator[None]:
    """Whatever becomes of an invocation, what it has measured is published."""
    try:
        yield
    finally:
        for metrics in METRICS.values():
            if metrics.metric_set:
                metrics.flush_metrics()


@logger.inject_lambda_context
@published()
def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001
    """A record that cannot be read, or whose leftovers cannot be deleted, is named, so that the
    event source tries it again from there, and in the end sets it aside; those before it are
    done."""
    for record in event["Records"]:
        try:
            _relay(record)
        except Exception:
            number = record["dynamodb"]["SequenceNumber"]
            logger.exception("a record cannot be relayed", sequence_number=number)
            return {"batchItemFailures": [{"itemIdentifier": number}]}
    return {"batchItemFailures": []}


def _relay(record: Mapping[str, Any]) -> None:
    change = change_of_record(record)
    if change is not None:
        relay.relay([change])
    task_id = left_behind_by_record(record)
    if task_id is not None:
        _forget(task_id)


def _forget(task_id: str) -> None:
    """Seldom needed, so wired only then: a relay that forgets nothing starts without boto3."""
    from lambdas import wiring

    wiring.rows_beside().forget(task_id)
