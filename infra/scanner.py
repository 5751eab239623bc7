"""The scanner: a function that a rule invokes every minute, once for each slice of the shards."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_destinations as destinations
from constructs import Construct

from duetime.aws import schema
from infra.function import FunctionInputs, RoleFunction
from infra.lanes import queue
from infra.objects import Objects
from infra.policies import acknowledge, allow

TARGETS_PER_RULE = 5  # a quota of EventBridge
MAX_EVENT_AGE = Duration.minutes(2)  # by then the next tick has done the work
FAILED_TICKS_KEPT = Duration.hours(1)  # then the alarm on them clears by itself


class Scanner(Construct):
    """`objects` is where it reads large results, and stores that of a run for the task that waits
    for it, if anywhere."""

    def __init__(
        self, scope: Construct, name: str, given: FunctionInputs, objects: Objects | None = None
    ) -> None:
        super().__init__(scope, name)
        stage, table = given.stage, given.table
        self.failed_ticks = queue(self, "FailedTicks", kept=FAILED_TICKS_KEPT)
        acknowledge(self.failed_ticks, "SQS3", "It is where ticks end that could not be made.")
        self.role_function = RoleFunction(
            self,
            "scanner",
            given,
            role="scanner",
            memory=stage.scanner_memory,
            timeout=Duration.minutes(1),
            environment=stage.otel,
            statements=[
                table.allow("GetItem", "BatchGetItem", "PutItem", "UpdateItem"),
                table.allow("Query", "DeleteItem"),  # slots and places of limits
                table.allow_on(schema.WAKE_INDEX, "Query", "Scan"),
                given.queues.allow("SendMessage", "GetQueueAttributes"),
                allow(["sqs:SendMessage"], self.failed_ticks.queue_arn),
                *(objects.allow("GetObject", "PutObject") if objects else []),
            ],
            recursive_loop=lambda_.RecursiveLoop.ALLOW,  # a long backlog takes many ticks in a row
            retry_attempts=0,  # the next tick does the work of a failed one
            max_event_age=MAX_EVENT_AGE,
            on_failure=destinations.SqsDestination(self.failed_ticks),
        )
        if objects:
            objects.acknowledge_on(self.role_function.role)
        self._may_invoke_itself()
        self._every_minute(stage.slices)

    def _may_invoke_itself(self) -> None:
        """A separate policy, because the function is created after the first policy of its role."""
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
            max_event_age=MAX_EVENT_AGE,
            dead_letter_queue=self.failed_ticks,
        )
