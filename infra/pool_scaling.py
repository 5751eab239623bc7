"""How many workers of a pool run: more while messages wait, none while there are none.

CloudWatch counts the workers as ECS reports them: each worker sends one sample of its CPU a minute.
Container Insights counts them too, and costs more than a small pool."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_applicationautoscaling as scaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.lanes import LaneQueues
from infra.metrics import MINUTE

BACKLOG_FACTOR = 2  # × what a worker runs at once: the messages that may wait for each worker
IDLE_MINUTES = 10  # without a visible message, until the workers stop
# A worker takes a minute to start, and two until it is counted. The action does not count workers
# that still start for new ones, as long as it cools down.
COOLDOWN = Duration.minutes(3)
COOLDOWN_FROM_ZERO = Duration.minutes(5)
FROM_ZERO = (1, 4, 16)  # workers that start at first, for as many times the backlog of one
DOUBLINGS = (1, 2, 4, 8)  # × the target; the capacity grows as much
WORKERS = "FILL(workers, 0)"
VISIBLE = "FILL(lane0, 0) + FILL(lane1, 0) + FILL(lane2, 0)"


class PoolScaling(Construct):
    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        service: ecs.FargateService,
        queues: LaneQueues,
        concurrency: int,
        fewest: int,
        most: int,
    ) -> None:
        super().__init__(scope, name)
        self._service, self._queues = service, queues
        self._target = scaling.ScalableTarget(
            self,
            "Workers",
            service_namespace=scaling.ServiceNamespace.ECS,
            resource_id=f"service/{service.cluster.cluster_name}/{service.service_name}",
            scalable_dimension="ecs:service:DesiredCount",
            min_capacity=fewest,
            max_capacity=most,
            role=_linked_role(self),
        )
        backlog = BACKLOG_FACTOR * concurrency
        self._out(backlog)
        if fewest == 0:
            self._from_zero(backlog)
        self._in(fewest)

    def _out(self, backlog: int) -> None:
        """The backlog of a worker, in multiples of the target, says by how much to grow. For two
        minutes, because workers that have started together are counted one after the other."""
        action = self._action(
            "Out",
            scaling.AdjustmentType.PERCENT_CHANGE_IN_CAPACITY,
            cooldown=COOLDOWN,
            min_adjustment_magnitude=1,
        )
        for lower, upper in zip(DOUBLINGS, (*DOUBLINGS[1:], None), strict=True):
            action.add_adjustment(
                adjustment=50 if lower == 1 else 100 * (lower - 1),
                lower_bound=(lower - 1) * backlog,
                upper_bound=None if upper is None else (upper - 1) * backlog,
            )
        metric = self._metric(f"IF({WORKERS} < 1, 0, ({VISIBLE}) / {WORKERS})")
        self._alarm("backlog", metric, action, above=backlog, minutes=2)

    def _from_zero(self, backlog: int) -> None:
        """A percentage of nothing is nothing, so the first workers are a number."""
        action = self._action(
            "FromZero", scaling.AdjustmentType.CHANGE_IN_CAPACITY, cooldown=COOLDOWN_FROM_ZERO
        )
        for workers, more in zip(FROM_ZERO, (*FROM_ZERO[1:], None), strict=True):
            action.add_adjustment(
                adjustment=workers,
                lower_bound=0 if workers == 1 else workers * backlog,
                upper_bound=None if more is None else more * backlog,
            )
        metric = self._metric(f"IF({WORKERS} < 1, {VISIBLE}, 0)")
        self._alarm("messages and no worker", metric, action, above=0)

    def _in(self, fewest: int) -> None:
        """Without FILL: a minute in which SQS has reported nothing is not a minute without
        messages. A worker that runs a task is protected."""
        action = self._action(
            "In", scaling.AdjustmentType.EXACT_CAPACITY, cooldown=Duration.minutes(1)
        )
        action.add_adjustment(adjustment=fewest, upper_bound=0)
        metric = self._metric("lane0 + lane1 + lane2", with_workers=False)
        self._alarm("no messages", metric, action, at_most=0, minutes=IDLE_MINUTES)

    def _action(
        self,
        name: str,
        kind: scaling.AdjustmentType,
        *,
        cooldown: Duration,
        min_adjustment_magnitude: int | None = None,
    ) -> scaling.StepScalingAction:
        return scaling.StepScalingAction(
            self,
            name,
            scaling_target=self._target,
            adjustment_type=kind,
            cooldown=cooldown,
            metric_aggregation_type=scaling.MetricAggregationType.MAXIMUM,
            min_adjustment_magnitude=min_adjustment_magnitude,
        )

    def _metric(self, expression: str, *, with_workers: bool = True) -> cloudwatch.MathExpression:
        visible = {
            f"lane{number}": queue.metric_approximate_number_of_messages_visible(
                period=MINUTE, statistic="Maximum"
            )
            for number, queue in enumerate(self._queues.queues.values())
        }
        running = self._service.metric_cpu_utilization(period=MINUTE, statistic="SampleCount")
        return cloudwatch.MathExpression(
            expression=expression,
            using_metrics=visible | ({"workers": running} if with_workers else {}),
            period=MINUTE,
        )

    def _alarm(
        self,
        name: str,
        metric: cloudwatch.MathExpression,
        action: scaling.StepScalingAction,
        *,
        above: int | None = None,
        at_most: int | None = None,
        minutes: int = 1,
    ) -> None:
        comparison = cloudwatch.ComparisonOperator
        alarm = cloudwatch.Alarm(
            self,
            f"{name.title().replace(' ', '')}Alarm",
            alarm_description=f"Scales the workers of a pool: {name}",
            metric=metric,
            threshold=above if above is not None else at_most or 0,
            comparison_operator=(
                comparison.GREATER_THAN_THRESHOLD
                if above is not None
                else comparison.LESS_THAN_OR_EQUAL_TO_THRESHOLD
            ),
            evaluation_periods=minutes,
            datapoints_to_alarm=minutes,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.ApplicationScalingAction(action))


def _linked_role(scope: Construct) -> iam.IRole:
    """The role with which Application Auto Scaling changes services of ECS. AWS creates it."""
    arn = Stack.of(scope).format_arn(
        service="iam",
        region="",
        resource="role",
        resource_name="aws-service-role/ecs.application-autoscaling.amazonaws.com/"
        "AWSServiceRoleForApplicationAutoScaling_ECSService",
    )
    return iam.Role.from_role_arn(scope, "Role", arn)
