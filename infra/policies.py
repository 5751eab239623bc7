"""IAM statements (named actions on named resources), and acknowledged cdk-nag findings."""

from collections.abc import Sequence

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_iam as iam
from constructs import IConstruct


def allow(actions: Sequence[str], *resources: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=list(resources))


def acknowledge(construct: IConstruct, rule: str, reason: str) -> None:
    finding = Acknowledgment(id=f"AwsSolutions-{rule}", reason=reason)
    Validations.of(construct).acknowledge(finding)
