"""The `relay` Lambda: the table's stream calls it with what was written."""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from aws_lambda_powertools.metrics import MetricUnit

from lambdas.aws.events import change_of_record
from lambdas.core.events import StatusChange
from lambdas.core.lifecycle import Status
from lambdas.relay.relay import Relay

logger = Logger(service="relay")
metrics = Metrics(namespace="Duetime", service="relay")
copy_config_to_registered_loggers(logger, include={"lambdas"})


class Measure:
    """Counts the ends of tasks by status, and how late their attempts started."""

    def notify(self, change: StatusChange) -> None:
        if change.after is Status.RUNNING and change.drift_ms is not None:
            metrics.add_metric("Drift", MetricUnit.Milliseconds, change.drift_ms)
        elif change.after.finished:
            metrics.add_metric(change.after.title(), MetricUnit.Count, 1)


relay = Relay([Measure()])


@logger.inject_lambda_context
@metrics.log_metrics(raise_on_empty_metrics=False)
def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001
    """A record that cannot be read is named, so that the event source tries it again from
    there, and in the end sets it aside; those before it are done."""
    for record in event["Records"]:
        try:
            change = change_of_record(record)
        except Exception:
            number = record["dynamodb"]["SequenceNumber"]
            logger.exception("a record cannot be relayed", sequence_number=number)
            return {"batchItemFailures": [{"itemIdentifier": number}]}
        if change is not None:
            relay.relay([change])
    return {"batchItemFailures": []}
