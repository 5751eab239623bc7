"""Statements of IAM: named actions on named resources."""

from collections.abc import Sequence

from aws_cdk import aws_iam as iam


def allow(actions: Sequence[str], *resources: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=list(resources))
