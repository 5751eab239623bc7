"""The archive: a private bucket to which the relay writes tasks that have left the table."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct

from duetime.core.archive import day_folder
from infra.buckets import arn_in_findings, private_bucket
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
            # It holds what is nowhere else any more.
            else private_bucket(self, RemovalPolicy.RETAIN)
        )
        self.statement = allow(["s3:PutObject"], self.bucket.arn_for_objects(FOLDERS))

    def acknowledge_on(self, role: Construct) -> None:
        """The relay names an object by what it holds, so no permission can name it before."""
        finding = f"IAM5[Resource::{arn_in_findings(self.bucket)}/{FOLDERS}]"
        acknowledge(role, finding, "Its objects are named by what they hold.")
