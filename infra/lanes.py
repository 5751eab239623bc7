"""The lanes: a queue for each priority, with the dead-letter queue that its messages end in."""

from typing import Any

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.policy import allow
from infra.stage import Stage
from lambdas.core.lanes import KEPT_FOR, MAX_RECEIVES, Lane

EXECUTOR_TIMEOUT = Duration.minutes(15)  # Lambda's longest: the longest task and what is around it
AROUND_A_TASK = 60  # seconds: the lease, the outcome, and what comes before in its batch
LONGEST_TASK = int(EXECUTOR_TIMEOUT.to_seconds()) - AROUND_A_TASK
VISIBILITY = 6  # × the function's timeout, as AWS advises


class LaneQueues(Construct):
    def __init__(self, scope: Construct, name: str, stage: Stage) -> None:
        super().__init__(scope, name)
        self.dead_letters: dict[Lane, sqs.Queue] = {}
        self.queues: dict[Lane, sqs.Queue] = {}
        for lane in Lane:
            self._make(lane, f"duetime-{stage.name}-{lane}")

    def allow(self, *actions: str, lanes: tuple[Lane, ...] = tuple(Lane)) -> iam.PolicyStatement:
        arns = [self.queues[lane].queue_arn for lane in lanes]
        return allow([f"sqs:{action}" for action in actions], *arns)

    def _make(self, lane: Lane, name: str) -> None:
        """The two refer to each other, so one of them must know the other by its name."""
        source = sqs.Queue.from_queue_arn(
            self, f"{lane.title()}Source", Stack.of(self).format_arn(service="sqs", resource=name)
        )
        self.dead_letters[lane] = queue(
            self,
            f"{lane.title()}Dlq",
            queue_name=f"{name}-dlq",
            redrive_allow_policy=sqs.RedriveAllowPolicy(
                redrive_permission=sqs.RedrivePermission.BY_QUEUE, source_queues=[source]
            ),
        )
        self.queues[lane] = queue(
            self,
            lane.title(),
            queue_name=name,
            visibility_timeout=Duration.seconds(VISIBILITY * EXECUTOR_TIMEOUT.to_seconds()),
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=self.dead_letters[lane], max_receive_count=MAX_RECEIVES
            ),
        )


def queue(
    scope: Construct, name: str, *, kept: Duration | None = None, **options: Any
) -> sqs.Queue:
    """Encrypted, over TLS only; messages are kept for as long as SQS keeps any, unless `kept`."""
    return sqs.Queue(
        scope,
        name,
        retention_period=kept or Duration.seconds(KEPT_FOR),
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        **options,
    )
