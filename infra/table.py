"""The table, the source of truth. Names and keys come from the schema that the roles use."""

from collections.abc import Sequence
from typing import cast

from aws_cdk import CfnElement, RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.aws import schema
from infra.policies import allow
from infra.stage import Stage


class TaskTable(Construct):
    """Created by the stack, or an existing table that the stack uses without changing it."""

    def __init__(self, scope: Construct, name: str, stage: Stage) -> None:
        super().__init__(scope, name)
        self.table = (
            dynamodb.Table.from_table_attributes(
                self,
                "Tasks",
                table_arn=stage.table_stream_arn.partition("/stream/")[0],
                table_stream_arn=stage.table_stream_arn,
            )
            if stage.table_stream_arn
            else self._made(stage)
        )

    def _made(self, stage: Stage) -> dynamodb.Table:
        shape = schema.create_table("")
        warm = (
            dynamodb.WarmThroughput(write_units_per_second=stage.warm_writes)
            if stage.warm_writes
            else None
        )
        table = dynamodb.Table(
            self,
            "Tasks",
            partition_key=_key(shape["KeySchema"][0]),
            sort_key=_key(shape["KeySchema"][1]),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            stream=dynamodb.StreamViewType(shape["StreamSpecification"]["StreamViewType"]),
            time_to_live_attribute=schema.REMOVE_AFTER,
            encryption=dynamodb.TableEncryption.DEFAULT,  # with a key that AWS owns, at no cost
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=stage.keep_data,
            removal_policy=RemovalPolicy.RETAIN if stage.keep_data else RemovalPolicy.DESTROY,
            warm_throughput=warm,
        )
        for index in shape["GlobalSecondaryIndexes"]:
            # The other indexes are written once per task, or once per death.
            is_hot = index["IndexName"] == schema.WAKE_INDEX
            table.add_global_secondary_index(
                index_name=index["IndexName"],
                partition_key=_key(index["KeySchema"][0]),
                sort_key=_key(index["KeySchema"][1]),
                projection_type=dynamodb.ProjectionType(index["Projection"]["ProjectionType"]),
                warm_throughput=warm if is_hot else None,
            )
        return table

    @property
    def name(self) -> str:
        return self.table.table_name

    @property
    def arn(self) -> str:
        return self.table.table_arn

    @property
    def arn_in_findings(self) -> str:
        """The ARN as cdk-nag writes it."""
        table = self.table.node.default_child
        if table is None:
            return self.arn
        return f"<{Stack.of(self).get_logical_id(cast(CfnElement, table))}.Arn>"

    @property
    def stream_arn(self) -> str:
        arn = self.table.table_stream_arn
        if arn is None:
            raise LookupError("the table has no stream")
        return arn

    def allow(self, *actions: str) -> iam.PolicyStatement:
        """On the table itself."""
        return allow(_of_dynamodb(actions), self.arn)

    def allow_on(self, index: str, *actions: str) -> iam.PolicyStatement:
        """On one index."""
        return allow(_of_dynamodb(actions), f"{self.arn}/index/{index}")


def _of_dynamodb(actions: Sequence[str]) -> list[str]:
    return [f"dynamodb:{action}" for action in actions]


def _key(named: dict[str, str]) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=named["AttributeName"], type=dynamodb.AttributeType.STRING)
