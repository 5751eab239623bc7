"""The metrics that the alarms and the dashboard use."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from duetime.aws.settings import metrics_namespace
from duetime.core.lanes import Lane, Queue
from infra.stage import Stage

MINUTE = Duration.minutes(1)


class StageMetrics:
    """The metrics that the roles of a stage publish."""

    def __init__(self, stage: Stage) -> None:
        self._namespace = metrics_namespace(stage.name)

    def of_lane(
        self, role: str, name: str, lane: Lane | Queue, statistic: str
    ) -> cloudwatch.Metric:
        return self._metric(name, statistic, {"service": role, "lane": str(lane)}, str(lane))

    def of_role(self, role: str, name: str, statistic: str) -> cloudwatch.Metric:
        return self._metric(name, statistic, {"service": role}, name)

    def _metric(
        self, name: str, statistic: str, dimensions: dict[str, str], label: str
    ) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace=self._namespace,
            metric_name=name,
            dimensions_map=dimensions,
            statistic=statistic,
            period=MINUTE,
            label=label,
        )


def throttled_writes(table: str, index: str | None = None) -> cloudwatch.Metric:
    """Throttled writes of the table or of one index: a throttled index throttles the table too."""
    names = {"TableName": table} | ({"GlobalSecondaryIndexName": index} if index else {})
    return cloudwatch.Metric(
        namespace="AWS/DynamoDB",
        metric_name="WriteThrottleEvents",
        dimensions_map=names,
        statistic="Sum",
        period=MINUTE,
        label=index or "table",
    )
