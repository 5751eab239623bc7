"""What a process may do that runs tasks: an executor on Lambda, or a worker of a pool."""

from collections.abc import Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.objects import Objects
from infra.policies import allow
from infra.setting_models import Statement
from infra.stage import Stage, Targets
from infra.table import TaskTable
from infra.target_permissions import acknowledge_patterns, target_statements

OF_CONSUMERS = ("ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueAttributes")


def executor_statements(
    scope: Construct,
    *,
    stage: Stage,
    table: TaskTable,
    on_queues: Sequence[iam.PolicyStatement],
    of_handlers: Sequence[Statement],
    objects: Objects | None,
) -> list[iam.PolicyStatement]:
    """Returns the permissions on everything but logs.

    Args:
        on_queues: What it may do with messages.
        of_handlers: What the stage grants to the handlers.
        objects: Where it reads large payloads and stores large results, if anywhere."""
    return [
        table.allow("GetItem", "BatchGetItem", "PutItem", "UpdateItem", "Query"),
        table.allow("DeleteItem"),  # slots and places of limits
        *on_queues,
        *(objects.allow("GetObject", "PutObject") if objects else []),
        *_secrets(scope, stage),
        *(iam.PolicyStatement.from_json(statement.as_policy()) for statement in of_handlers),
        *target_statements(scope, stage.targets or Targets()),
    ]


def acknowledge_executor(role: Construct, stage: Stage, objects: Objects | None) -> None:
    """Accepts the `*` that some of these resources have."""
    acknowledge_patterns(role, stage.targets or Targets())
    if objects:
        objects.acknowledge_on(role)


def _secrets(scope: Construct, stage: Stage) -> list[iam.PolicyStatement]:
    """The policy of the key `aws/ssm` lets every role decrypt what SSM lets it read, so no
    permission of KMS is needed."""
    arns = [
        Stack.of(scope).format_arn(
            service="ssm", resource="parameter", resource_name=f"duetime/{stage.name}/{name}"
        )
        for name in stage.secrets
    ]
    return [allow(["ssm:GetParameter"], *arns)] if arns else []
