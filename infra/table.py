"""The table: the truth. Names and keys come from the schema that the roles use."""

from collections.abc import Sequence
from typing import cast

from aws_cdk import CfnElement, RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.policy import allow
from infra.stage import Stage
from lambdas.aws import schema


class TaskTable(Construct):
    def __init__(self, scope: Construct, name: str, stage: Stage) -> None:
        super().__init__(scope, name)
        shape = schema.create_table("")
        self.table = dynamodb.Table(
            self,
            "Tasks",
            partition_key=_key(shape["KeySchema"][0]),
            sort_key=_key(shape["KeySchema"][1]),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            stream=dynamodb.StreamViewType(shape["StreamSpecification"]["StreamViewType"]),
            time_to_live_attribute=schema.REMOVE_AFTER,
            encryption=dynamodb.TableEncryption.DEFAULT,  # with a key of AWS's own, at no cost
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=stage.keep_data,
            removal_policy=RemovalPolicy.RETAIN if stage.keep_data else RemovalPolicy.DESTROY,
        )
        for index in shape["GlobalSecondaryIndexes"]:
            self.table.add_global_secondary_index(
                index_name=index["IndexName"],
                partition_key=_key(index["KeySchema"][0]),
                sort_key=_key(index["KeySchema"][1]),
                projection_type=dynamodb.ProjectionType(index["Projection"]["ProjectionType"]),
            )

    @property
    def name(self) -> str:
        return self.table.table_name

    @property
    def logical_id(self) -> str:
        table = self.table.node.default_child
        return str(Stack.of(self).get_logical_id(cast(CfnElement, table)))

    @property
    def stream_arn(self) -> str:
        arn = self.table.table_stream_arn
        if arn is None:
            raise LookupError("the table has no stream")
        return arn

    def allow(self, *actions: str) -> iam.PolicyStatement:
        """On the table itself."""
        return allow(_of_dynamodb(actions), self.table.table_arn)

    def allow_on(self, index: str, *actions: str) -> iam.PolicyStatement:
        return allow(_of_dynamodb(actions), f"{self.table.table_arn}/index/{index}")


def _of_dynamodb(actions: Sequence[str]) -> list[str]:
    return [f"dynamodb:{action}" for action in actions]


def _key(named: dict[str, str]) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=named["AttributeName"], type=dynamodb.AttributeType.STRING)
