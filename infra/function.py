"""One function of Duetime, with its own log group, IAM role and settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from duetime.aws.settings import Settings
from infra.environment import check_environment
from infra.network import given_network
from infra.policies import acknowledge, allow
from infra.queues import StageQueues
from infra.setting_models import Vpc
from infra.stage import LOG_DAYS, Stage
from infra.table import TaskTable

RETENTION = dict(zip(LOG_DAYS, logs.RetentionDays, strict=False))  # the last is "infinite"
ARCHITECTURES = {"arm64": lambda_.Architecture.ARM_64, "x86_64": lambda_.Architecture.X86_64}


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionInputs:
    """What every function is built from."""

    stage: Stage
    table: TaskTable
    queues: StageQueues
    settings: Settings
    bundle: Path


class RoleFunction(Construct):
    """`statements` are its permissions; nothing else adds to them."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        given: FunctionInputs,
        *,
        role: str,
        memory: int,
        timeout: Duration,
        statements: Sequence[iam.PolicyStatement],
        environment: dict[str, str] | None = None,
        vpc: Vpc | None = None,
        **options: Any,
    ) -> None:
        super().__init__(scope, name)
        self.name = name
        stage, self.settings = given.stage, given.settings
        variables = {**(environment or {}), **self.settings.environment()}
        check_environment(stage, name, variables)
        self.log = log_group(self, "Log", stage)
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        for statement in (*statements, *self._telemetry(stage), *(_interfaces() if vpc else ())):
            self.role.add_to_policy(statement)
        self.function = lambda_.Function(
            self,
            "Function",
            description=f"Duetime {stage.name}: {name}",
            code=lambda_.Code.from_asset(str(given.bundle)),
            handler=f"lambdas.{role}.handle",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=ARCHITECTURES[stage.architecture],
            memory_size=memory,
            timeout=timeout,
            role=self.role.without_policy_updates(),
            environment=variables,
            log_group=self.log,
            tracing=lambda_.Tracing.ACTIVE if stage.tracing else lambda_.Tracing.DISABLED,
            **options,
            **(given_network(self, vpc) if vpc else {}),
        )
        self.function.node.add_dependency(self.role)
        reason = "X-Ray and network interfaces have no ARN to name before they are there."
        acknowledge(self.role, "IAM5[Resource::*]", reason)
        acknowledge(self.function, "L1", "The bundles are made for Python 3.13 and tried with it.")

    def _telemetry(self, stage: Stage) -> list[iam.PolicyStatement]:
        log = allow(["logs:CreateLogStream", "logs:PutLogEvents"], self.log.log_group_arn)
        # X-Ray has no resources.
        traces = allow(["xray:PutTraceSegments", "xray:PutTelemetryRecords"], "*")
        return [log, traces] if stage.tracing else [log]


def log_group(
    scope: Construct, id_: str, stage: Stage, *, name: str | None = None
) -> logs.LogGroup:
    return logs.LogGroup(
        scope,
        id_,
        log_group_name=name,
        retention=RETENTION[stage.log_retention_days],
        removal_policy=RemovalPolicy.DESTROY,
    )


def _interfaces() -> list[iam.PolicyStatement]:
    """A function in a VPC creates its own network interfaces, whose names are not known before."""
    actions = [
        "ec2:CreateNetworkInterface",
        "ec2:DeleteNetworkInterface",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSubnets",
        "ec2:AssignPrivateIpAddresses",
        "ec2:UnassignPrivateIpAddresses",
    ]
    return [allow(actions, "*")]
