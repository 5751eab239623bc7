"""Buckets: private, encrypted, reached through TLS alone."""

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.policies import acknowledge


def private_bucket(scope: Construct, removal_policy: RemovalPolicy) -> s3.Bucket:
    bucket = s3.Bucket(
        scope,
        "Bucket",
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=True,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        lifecycle_rules=[
            s3.LifecycleRule(abort_incomplete_multipart_upload_after=Duration.days(1))
        ],
        removal_policy=removal_policy,
    )
    acknowledge(bucket, "S1", "CloudTrail shows who reads it; access logs cost more than it.")
    return bucket


def arn_in_findings(bucket: s3.IBucket) -> str:
    """Returns the ARN of a bucket as cdk-nag writes it."""
    made = bucket.node.default_child
    if made is None:
        return f"arn:<AWS::Partition>:s3:::{bucket.bucket_name}"
    return f"<{Stack.of(bucket).get_logical_id(made)}.Arn>"  # type: ignore[arg-type]
