"""The permissions that executors need for the targets of a stage: named actions on what the stage
names."""

from collections.abc import Iterator, Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.policies import acknowledge, allow
from infra.stage import Targets

# dynamodb:UpdateItem also covers an update in a transaction.
ACTIONS = {
    "dynamodb": ["dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"],
    "eventbridge": ["events:PutEvents"],
    "functions": ["lambda:InvokeFunction"],
    "sns": ["sns:Publish"],
    "sqs": ["sqs:SendMessage"],
    "stepfunctions": ["states:StartExecution"],
}


def target_statements(scope: Construct, targets: Targets) -> list[iam.PolicyStatement]:
    named = [
        allow(actions, *getattr(targets, field))
        for field, actions in ACTIONS.items()
        if getattr(targets, field)
    ]
    return [*named, *_sql(targets), *_email(scope, targets.email)]


def acknowledge_patterns(role: Construct, targets: Targets) -> None:
    """The stage chose each `*` in a name."""
    for field in ACTIONS:
        for arn in getattr(targets, field):
            if "*" in arn:
                acknowledge(role, f"IAM5[Resource::{arn}]", "The stage names this pattern.")


def _sql(targets: Targets) -> Iterator[iam.PolicyStatement]:
    if databases := targets.sql.values():
        clusters, secrets = ({getattr(d, of) for d in databases} for of in ("cluster", "secret"))
        yield allow(["rds-data:ExecuteStatement"], *sorted(clusters))
        yield allow(["secretsmanager:GetSecretValue"], *sorted(secrets))


def _email(scope: Construct, senders: Sequence[str]) -> Iterator[iam.PolicyStatement]:
    """An address is verified by itself or through its domain. The condition keeps other addresses
    of the domain out."""
    if senders:
        identities = {part for sender in senders for part in _identities(sender)}
        resources = [
            Stack.of(scope).format_arn(service="ses", resource="identity", resource_name=name)
            for name in sorted(identities)
        ]
        yield iam.PolicyStatement(
            actions=["ses:SendEmail", "ses:SendRawEmail"],
            resources=resources,
            conditions={"StringLike": {"ses:FromAddress": list(senders)}},
        )


def _identities(sender: str) -> tuple[str, ...]:
    domain = sender.rpartition("@")[2]
    return (domain,) if sender.startswith("*@") else (domain, sender)
