"""The alarms: each names what is wrong, and docs/how-to/operations.md what to do.

The essential alarms are in every stage that has alarms at all: without ticks, or with throttled
functions, nothing works, and nothing else reports it.
"""

import re
from collections.abc import Mapping

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.aws import schema
from duetime.core.lanes import Lane
from infra.metrics import MINUTE, StageMetrics, throttled_writes
from infra.parts import Parts
from infra.stage import Stage

LATE_MS = 10_000  # of drift
LAG = Duration.minutes(2)  # of a cursor; a tick that is a minute late is normal
MAX_MESSAGE_AGE = Duration.minutes(20)  # a message stays in its queue for a whole run
MAX_MINUTES_WITHOUT_WORKER = 20
MAX_STREAM_AGE = Duration.minutes(5)


class Alarms(Construct):
    def __init__(self, scope: Construct, name: str, *, stage: Stage, parts: Parts) -> None:
        super().__init__(scope, name)
        self._stage = stage
        self._topic = sns.Topic(self, "Topic", enforce_ssl=True)
        # enforce_ssl adds a topic policy, which replaces the one that lets CloudWatch publish.
        ours = {"StringEquals": {"aws:SourceAccount": Stack.of(self).account}}
        self._topic.grant_publish(iam.ServicePrincipal("cloudwatch.amazonaws.com", conditions=ours))
        if stage.alarm_email:
            self._topic.add_subscription(subscriptions.EmailSubscription(stage.alarm_email))
        metrics, functions = StageMetrics(stage), {p.name: p.function for p in parts.functions()}
        self._essential(metrics, functions)
        if stage.alarms == "all":
            self._on_time(metrics)
            self._nothing_stuck(parts)
            self._nothing_fails(metrics, functions, parts)

    def _essential(self, metrics: StageMetrics, functions: Mapping[str, lambda_.Function]) -> None:
        self._alarm(
            "no tick for 3 minutes",
            metrics.of_role("scanner", "Ticks", "Sum"),
            below=self._stage.slices,  # one slice that stops is enough
            minutes=3,
            without_data=cloudwatch.TreatMissingData.BREACHING,
        )
        refused = {n: f.metric_throttles(period=MINUTE) for n, f in functions.items()}
        self._alarm("functions are throttled", _sum(refused), above=0, late=True)

    def _on_time(self, metrics: StageMetrics) -> None:
        lag = metrics.of_role("scanner", "Lag", "Maximum")
        self._alarm("the scanner is behind", lag, above=LAG.to_seconds(), minutes=5)
        held_back = metrics.of_role("scanner", "HeldBack", "Maximum")
        self._alarm("overdue tasks are held back", held_back, above=0, minutes=15)
        for lane in Lane:
            drift = metrics.of_lane("relay", "Drift", lane, "p99")
            self._alarm(f"tasks start late, {lane}", drift, above=LATE_MS, minutes=5)

    def _nothing_stuck(self, parts: Parts) -> None:
        for name, queue in parts.failures().items():
            visible = queue.metric_approximate_number_of_messages_visible(
                period=MINUTE, statistic="Maximum"
            )
            self._alarm(name, visible, above=0)
        for lane, queue in parts.queues.lanes.queues.items():
            age = queue.metric_approximate_age_of_oldest_message(period=MINUTE, statistic="Maximum")
            self._alarm(
                f"messages wait, {lane}", age, above=MAX_MESSAGE_AGE.to_seconds(), minutes=5
            )
        for pooled, queue in parts.queues.of_pools().items():
            waiting = _not_received(queue)
            self._alarm(
                f"messages wait, {pooled}", waiting, above=0, minutes=MAX_MINUTES_WITHOUT_WORKER
            )
        iterator_age = parts.relay.role_function.function.metric(
            "IteratorAge", period=MINUTE, statistic="Maximum"
        )
        self._alarm(
            "the relay is behind", iterator_age, above=MAX_STREAM_AGE.to_milliseconds(), minutes=5
        )

    def _nothing_fails(
        self, metrics: StageMetrics, functions: Mapping[str, lambda_.Function], parts: Parts
    ) -> None:
        for each in parts.queues.all():  # goes off for every death, even beside dead letters
            died = metrics.of_lane("relay", "Dead", each, "Sum")
            self._alarm(f"tasks died, {each}", died, above=0)
        for name, function in functions.items():
            errors = function.metric_errors(period=MINUTE, statistic="Sum")
            self._alarm(f"errors, {name}", errors, above=0)
        indexes = [
            index["IndexName"] for index in schema.create_table("")["GlobalSecondaryIndexes"]
        ]
        table = parts.table.name
        throttled = {"table": throttled_writes(table)}
        throttled |= {index: throttled_writes(table, index) for index in indexes}
        self._alarm("the table is throttled", _sum(throttled), above=0, late=True)

    def _alarm(
        self,
        what: str,
        metric: cloudwatch.IMetric,
        *,
        above: float | None = None,
        below: float | None = None,
        minutes: int = 1,
        late: bool = False,
        without_data: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
    ) -> None:
        """`late` is for a sum of several metrics: its newest minutes are filled with zeros until
        all of them have arrived, so the alarm also looks at earlier minutes."""
        comparison = cloudwatch.ComparisonOperator
        threshold = above if above is not None else below
        alarm = cloudwatch.Alarm(
            self,
            re.sub("[ ,/]", "", what.title()),
            alarm_name=f"duetime-{self._stage.name}: {what}",
            metric=metric,
            threshold=threshold or 0,
            comparison_operator=(
                comparison.GREATER_THAN_THRESHOLD
                if above is not None
                else comparison.LESS_THAN_THRESHOLD
            ),
            evaluation_periods=5 if late else minutes,
            datapoints_to_alarm=1 if late else minutes,
            treat_missing_data=without_data,
        )
        alarm.add_alarm_action(actions.SnsAction(self._topic))


def _sum(metrics: Mapping[str, cloudwatch.Metric]) -> cloudwatch.MathExpression:
    named = {f"m{number}": metric for number, metric in enumerate(metrics.values())}
    return cloudwatch.MathExpression(
        expression=" + ".join(f"FILL({name}, 0)" for name in named),
        using_metrics=named,
        period=MINUTE,
    )


def _not_received(queue: sqs.Queue) -> cloudwatch.MathExpression:
    """The visible messages of a queue from which no worker receives. The age of the oldest message
    says nothing in a pool: a message stays in its queue for a run of up to 11 hours."""
    return cloudwatch.MathExpression(
        expression="IF(FILL(received, 0) > 0, 0, FILL(visible, 0))",
        using_metrics={
            "received": queue.metric_number_of_messages_received(period=MINUTE, statistic="Sum"),
            "visible": queue.metric_approximate_number_of_messages_visible(
                period=MINUTE, statistic="Maximum"
            ),
        },
        period=MINUTE,
    )
