"""The lanes: one queue for each priority, with its dead-letter queue."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.core.lanes import MAX_RECEIVES, MESSAGE_RETENTION, Lane
from infra.policies import allow
from infra.pool_settings import DEAD_LETTERS

EXECUTOR_TIMEOUT = Duration.minutes(15)  # Lambda's maximum: the longest task and its overhead
TASK_OVERHEAD = 60  # seconds: the lease, the outcome, and the wait for the rest of its batch
LONGEST_TASK = int(EXECUTOR_TIMEOUT.to_seconds()) - TASK_OVERHEAD
VISIBILITY_FACTOR = 6  # × the function's timeout, as AWS recommends
LAMBDA_VISIBILITY = Duration.seconds(VISIBILITY_FACTOR * EXECUTOR_TIMEOUT.to_seconds())


class LaneQueues(Construct):
    """The queues of the three lanes, by `names`.

    `visibility` is how long a received message stays hidden from other executors."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        names: Mapping[Lane, str],
        visibility: Duration = LAMBDA_VISIBILITY,
    ) -> None:
        super().__init__(scope, name)
        self.names = names
        self.dead_letters: dict[Lane, sqs.Queue] = {}
        self.queues: dict[Lane, sqs.Queue] = {}
        for lane in Lane:
            self._make(lane, names[lane], visibility)

    def allow(self, *actions: str, lanes: tuple[Lane, ...] = tuple(Lane)) -> iam.PolicyStatement:
        return allow_on_queues([self.queues[lane] for lane in lanes], *actions)

    def _make(self, lane: Lane, name: str, visibility: Duration) -> None:
        """The two queues refer to each other, so one of them names the other by its ARN."""
        source = sqs.Queue.from_queue_arn(
            self, f"{lane.title()}Source", Stack.of(self).format_arn(service="sqs", resource=name)
        )
        self.dead_letters[lane] = queue(
            self,
            f"{lane.title()}Dlq",
            queue_name=f"{name}{DEAD_LETTERS}",
            redrive_allow_policy=sqs.RedriveAllowPolicy(
                redrive_permission=sqs.RedrivePermission.BY_QUEUE, source_queues=[source]
            ),
        )
        self.queues[lane] = queue(
            self,
            lane.title(),
            queue_name=name,
            visibility_timeout=visibility,
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=self.dead_letters[lane], max_receive_count=MAX_RECEIVES
            ),
        )


def allow_on_queues(queues: list[sqs.Queue], *actions: str) -> iam.PolicyStatement:
    return allow([f"sqs:{action}" for action in actions], *(each.queue_arn for each in queues))


def queue(
    scope: Construct, name: str, *, kept: Duration | None = None, **options: Any
) -> sqs.Queue:
    """Returns an encrypted, TLS-only queue that keeps messages for `kept`, by default 14 days."""
    return sqs.Queue(
        scope,
        name,
        retention_period=kept or Duration.seconds(MESSAGE_RETENTION),
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        **options,
    )
