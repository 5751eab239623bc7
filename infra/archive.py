"""The archive: a private bucket to which the relay writes tasks that have left the table."""

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_s3 as s3
from constructs import Construct

from duetime.core.archive import day_folder
from infra.policies import acknowledge, allow
from infra.stage import Stage

FOLDERS = f"{day_folder(0).partition('=')[0]}=*"  # dt=2026-11-17 and the like


class Archive(Construct):
    """Created by the stack, or an existing bucket that the stack uses without changing it."""

    def __init__(self, scope: Construct, name: str, stage: Stage) -> None:
        super().__init__(scope, name)
        self.bucket = (
            s3.Bucket.from_bucket_name(self, "Bucket", stage.archive)
            if isinstance(stage.archive, str)
            else self._made()
        )
        self.statement = allow(["s3:PutObject"], self.bucket.arn_for_objects(FOLDERS))

    def acknowledge_on(self, role: Construct) -> None:
        """The relay names an object by what it holds, so no permission can name it before."""
        stack = Stack.of(self)
        made = self.bucket.node.default_child
        arn = (
            f"<{stack.get_logical_id(made)}.Arn>"  # type: ignore[arg-type]
            if made is not None
            else f"arn:<AWS::Partition>:s3:::{self.bucket.bucket_name}"
        )
        acknowledge(
            role, f"IAM5[Resource::{arn}/{FOLDERS}]", "Its objects are named by what they hold."
        )

    def _made(self) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "Bucket",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(abort_incomplete_multipart_upload_after=Duration.days(1))
            ],
            removal_policy=RemovalPolicy.RETAIN,  # it holds what is nowhere else any more
        )
        acknowledge(bucket, "S1", "CloudTrail shows who reads it; access logs cost more than it.")
        return bucket
