"""Findings of cdk-nag that stand, each beside the thing that it is about, with its reason."""

from aws_cdk import Acknowledgment, Validations
from constructs import Construct


def acknowledge(construct: Construct, rule: str, reason: str) -> None:
    found = Acknowledgment(id=f"AwsSolutions-{rule}", reason=reason)
    Validations.of(construct).acknowledge(found)
