"""The objects: a private bucket for large payloads and results."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.buckets import arn_in_findings, private_bucket
from infra.policies import acknowledge, allow
from infra.stage import Stage

EVERY_OBJECT = "*"


class Objects(Construct):
    """Created by the stack, or an existing bucket that the stack uses without changing it."""

    def __init__(self, scope: Construct, name: str, stage: Stage) -> None:
        super().__init__(scope, name)
        kept = RemovalPolicy.RETAIN if stage.keep_data else RemovalPolicy.DESTROY
        self.bucket = (
            s3.Bucket.from_bucket_name(self, "Bucket", stage.objects)
            if isinstance(stage.objects, str)
            else private_bucket(self, kept)
        )

    def allow(self, *actions: str) -> list[iam.PolicyStatement]:
        """Allows actions on all objects. Without ListBucket, S3 answers "access denied" for an
        object that does not exist."""
        objects = self.bucket.arn_for_objects(EVERY_OBJECT)
        return [
            allow([f"s3:{action}" for action in actions], objects),
            allow(["s3:ListBucket"], self.bucket.bucket_arn),
        ]

    def acknowledge_on(self, role: Construct) -> None:
        finding = f"IAM5[Resource::{arn_in_findings(self.bucket)}/{EVERY_OBJECT}]"
        acknowledge(role, finding, "Its objects are named by their tasks.")
