"""The alarms: each names what is wrong, and docs/operations.md what to do."""

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.measures import MINUTE, Measures, throttled_writes
from infra.parts import Parts
from infra.stage import Stage
from lambdas.aws import schema
from lambdas.core.lanes import Lane

LATE_MS = 10_000
WAITING = Duration.minutes(20)  # more than the longest run, whose message is in its queue as well
BEHIND = Duration.minutes(5)


class Alarms(Construct):
    def __init__(self, scope: Construct, name: str, *, stage: Stage, parts: Parts) -> None:
        super().__init__(scope, name)
        self._stage = stage
        self._topic = sns.Topic(self, "Topic", enforce_ssl=True)
        # A policy of its own replaces the one that lets CloudWatch publish.
        self._topic.grant_publish(iam.ServicePrincipal("cloudwatch.amazonaws.com"))
        if stage.alarm_email:
            self._topic.add_subscription(subscriptions.EmailSubscription(stage.alarm_email))
        self._on_time(Measures(stage))
        self._nothing_stuck(parts)
        self._nothing_fails(parts)

    def _on_time(self, measures: Measures) -> None:
        self._alarm(
            "no tick for 3 minutes",
            measures.of_role("scanner", "Ticks", "Sum"),
            below=self._stage.slices,  # so that one slice that stops is missed too
            minutes=3,
            without_data=cloudwatch.TreatMissingData.BREACHING,
        )
        for lane in Lane:
            drift = measures.of_lane("relay", "Drift", lane, "p99")
            self._alarm(f"tasks start late, {lane}", drift, above=LATE_MS, minutes=5)

    def _nothing_stuck(self, parts: Parts) -> None:
        for name, queue in parts.failures().items():
            visible = queue.metric_approximate_number_of_messages_visible(
                period=MINUTE, statistic="Maximum"
            )
            self._alarm(name, visible, above=0)
        for lane, queue in parts.lanes.queues.items():
            age = queue.metric_approximate_age_of_oldest_message(period=MINUTE, statistic="Maximum")
            self._alarm(f"messages wait, {lane}", age, above=WAITING.to_seconds(), minutes=5)
        iterator_age = parts.relay.role_function.function.metric(
            "IteratorAge", period=MINUTE, statistic="Maximum"
        )
        self._alarm("the relay is behind", iterator_age, above=BEHIND.to_milliseconds(), minutes=5)

    def _nothing_fails(self, parts: Parts) -> None:
        functions = {part.name: part.function for part in parts.functions()}
        for name, function in functions.items():
            errors = function.metric_errors(period=MINUTE, statistic="Sum")
            self._alarm(f"errors, {name}", errors, above=0)
        refused = {n: f.metric_throttles(period=MINUTE) for n, f in functions.items()}
        self._alarm("functions are throttled", _sum(refused), above=0, late=True)
        table = parts.table.name
        indexes = [
            index["IndexName"] for index in schema.create_table("")["GlobalSecondaryIndexes"]
        ]
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
        """`late`: a sum of several metrics has its newest minutes filled in with zeros until
        they have all come, so the alarm looks at those before too."""
        comparison = cloudwatch.ComparisonOperator
        threshold = above if above is not None else below
        alarm = cloudwatch.Alarm(
            self,
            what.title().replace(" ", "").replace(",", ""),
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
