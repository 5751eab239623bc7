"""The relay: a function that the table's stream invokes with the changes."""

from dataclasses import replace

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from constructs import Construct

from duetime.aws import schema
from infra.archive import Archive
from infra.function import FunctionInputs, RoleFunction
from infra.lanes import queue
from infra.objects import Objects
from infra.policies import acknowledge, allow
from infra.websocket import WebSocket

BATCH = 100  # records
WINDOW = Duration.seconds(1)
MAX_RETRIES = 5
AT_ONCE = 4  # batches of one shard of the stream; those of one task stay in order
STREAM_KEEPS = Duration.days(1)  # a failed record is named by its position in the stream
TASKS = {schema.SK: {"S": lambda_.FilterRule.is_equal(schema.TASK)}}
RUNS = {schema.SK: {"S": lambda_.FilterRule.is_equal(schema.RUN)}}


class Relay(Construct):
    """`archive` is where it writes removed tasks, `objects` where it deletes their large texts, and
    stores the large result of a run for the task that waits for it. `websocket` pushes the changes
    that it passes on."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        given: FunctionInputs,
        archive: Archive | None = None,
        objects: Objects | None = None,
        websocket: WebSocket | None = None,
    ) -> None:
        super().__init__(scope, name)
        table = given.table
        self.failed_records = queue(self, "FailedRecords", kept=STREAM_KEEPS)
        acknowledge(self.failed_records, "SQS3", "It is where the stream's failures end.")
        self.role_function = RoleFunction(
            self,
            "relay",
            _with_live_function(given, websocket),
            role="relay",
            memory=512,  # it runs the follow-ups that executors have left
            timeout=Duration.minutes(1),
            statements=[
                allow(
                    ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
                    table.stream_arn,
                ),
                allow(["dynamodb:ListStreams"], f"{table.arn}/stream/*"),
                allow(["sqs:SendMessage"], self.failed_records.queue_arn),
                # To delete the rows of removed tasks, and to run follow-ups.
                table.allow("Query", "BatchWriteItem", "DeleteItem"),
                table.allow("GetItem", "BatchGetItem", "PutItem", "UpdateItem"),
                *_counting(given),
                *([websocket.may_be_invoked] if websocket else []),
                given.queues.allow("SendMessage"),
                *([archive.statement] if archive else []),
                *(objects.allow("GetObject", "PutObject", "DeleteObject") if objects else []),
            ],
            # A fixed-delay schedule never ends: the end of a run creates the next one.
            recursive_loop=lambda_.RecursiveLoop.ALLOW,
        )
        if archive:
            archive.acknowledge_on(self.role_function.role)
        if objects:
            objects.acknowledge_on(self.role_function.role)
        acknowledge(
            self.role_function.role,
            f"IAM5[Resource::{table.arn_in_findings}/stream/*]",
            "Lambda asks for ListStreams, and a stream is named by the moment of its making.",
        )
        lambda_.EventSourceMapping(
            self,
            "Stream",
            target=self.role_function.function,
            event_source_arn=table.stream_arn,
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            batch_size=BATCH,
            max_batching_window=WINDOW,
            parallelization_factor=AT_ONCE,
            bisect_batch_on_error=True,
            retry_attempts=MAX_RETRIES,
            report_batch_item_failures=True,
            # The relay does not need cursors, keys, long texts and earlier attempts.
            filters=[
                lambda_.FilterCriteria.filter({"dynamodb": {"Keys": TASKS}}),
                lambda_.FilterCriteria.filter(
                    {"eventName": lambda_.FilterRule.is_equal("REMOVE"), "dynamodb": {"Keys": RUNS}}
                ),
            ],
            on_failure=event_sources.SqsDlq(self.failed_records),
        )


def _with_live_function(given: FunctionInputs, websocket: WebSocket | None) -> FunctionInputs:
    name = websocket.role_function.function.function_name if websocket else ""
    return replace(given, settings=replace(given.settings, live_function=name))


def _counting(given: FunctionInputs) -> list[iam.PolicyStatement]:
    """To count the stored tasks of a namespace for its quota."""
    wanted = given.stage.limits_stored_tasks
    return [given.table.allow_on(schema.LISTING_INDEX, "Query")] if wanted else []
