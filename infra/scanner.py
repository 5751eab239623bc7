"""The scanner: a rule calls it every minute, once for each slice of the shards."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_destinations as destinations
from constructs import Construct

from infra.acknowledged import acknowledge
from infra.function import Given, RoleFunction
from infra.lanes import queue
from infra.policy import allow
from lambdas.aws import schema

TARGETS_PER_RULE = 5  # a quota of EventBridge
WORTH_RETRYING = Duration.minutes(2)  # by then the next tick has done what this one would have

REMEMBERED = Duration.hours(1)  # failed ticks: the alarm that looks at them ends by itself


class Scanner(Construct):
    def __init__(self, scope: Construct, name: str, given: Given) -> None:
        super().__init__(scope, name)
        stage, table, lanes = given.stage, given.table, given.lanes
        self.failed_ticks = queue(self, "FailedTicks", kept=REMEMBERED)
        acknowledge(self.failed_ticks, "SQS3", "It is where ticks end that could not be made.")
        self.role_function = RoleFunction(
            self,
            "scanner",
            given,
            role="scanner",
            memory=stage.scanner_memory,
            timeout=Duration.minutes(1),
            may=[
                table.allow("GetItem", "BatchGetItem", "PutItem", "UpdateItem"),
                table.allow_on(schema.WAKE_INDEX, "Query", "Scan"),
                lanes.allow("SendMessage", "GetQueueAttributes"),
                allow(["sqs:SendMessage"], self.failed_ticks.queue_arn),
            ],
            recursive_loop=lambda_.RecursiveLoop.ALLOW,  # a long backlog takes many ticks on end
            retry_attempts=0,  # the next tick does what a failed one has left
            max_event_age=WORTH_RETRYING,
            on_failure=destinations.SqsDestination(self.failed_ticks),
        )
        self._may_invoke_itself()
        self._every_minute(stage.slices)

    def _may_invoke_itself(self) -> None:
        """A policy of its own, since the function is made after its role's first policy."""
        function = self.role_function.function
        iam.Policy(
            self,
            "InvokeAgain",
            roles=[self.role_function.role],
            statements=[allow(["lambda:InvokeFunction"], function.function_arn)],
        )

    def _every_minute(self, slices: int) -> None:
        for first in range(0, slices, TARGETS_PER_RULE):
            numbers = range(first, min(first + TARGETS_PER_RULE, slices))
            events.Rule(
                self,
                f"EveryMinute{first // TARGETS_PER_RULE}",
                schedule=events.Schedule.rate(Duration.minutes(1)),
                targets=[self._tick(number, slices) for number in numbers],
            )

    def _tick(self, number: int, slices: int) -> targets.LambdaFunction:
        return targets.LambdaFunction(
            self.role_function.function,
            event=events.RuleTargetInput.from_object({"slice": number, "slices": slices}),
            retry_attempts=2,
            max_event_age=WORTH_RETRYING,
            dead_letter_queue=self.failed_ticks,
        )
