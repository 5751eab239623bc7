"""The table and the queues, created where no stack has: in tests and at local endpoints."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from duetime.aws import schema
from duetime.aws.clients import error_code, translate_errors
from duetime.core import codec
from duetime.core.lanes import MAX_RECEIVES, MESSAGE_RETENTION, Queue, queues_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient

TABLE = "duetime"
SHARDS = 2  # moto takes milliseconds per bucket, and a tick reads ten of each shard
VISIBILITY = 900  # seconds


def ensure_resources(
    dynamodb: "DynamoDBClient",
    sqs: "SQSClient",
    *,
    table: str,
    prefix: str = "duetime",
    visibility: int = VISIBILITY,
    pools: Iterable[str] = (),
) -> dict[Queue, str]:
    """Creates the table and the queues if they are absent; returns the queue URLs."""
    ensure_table(dynamodb, table)
    return ensure_lanes(sqs, prefix=prefix, visibility=visibility, pools=pools)


def ensure_table(client: "DynamoDBClient", table: str) -> None:
    try:
        with translate_errors():
            client.create_table(**schema.create_table(table))
    except ClientError as error:
        if error_code(error) != "ResourceInUseException":
            raise
        return
    client.get_waiter("table_exists").wait(TableName=table, WaiterConfig={"Delay": 1})
    with translate_errors():
        client.update_time_to_live(
            TableName=table,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": schema.REMOVE_AFTER},
        )


def ensure_bucket(client: Any, bucket: str) -> None:
    """Creates a bucket if it is absent."""
    region = client.meta.region_name
    place = {} if region == "us-east-1" else {"LocationConstraint": region}
    try:
        with translate_errors():
            given = {"CreateBucketConfiguration": place} if place else {}
            client.create_bucket(Bucket=bucket, **given)
    except ClientError as error:
        if error_code(error) != "BucketAlreadyOwnedByYou":
            raise


def ensure_lanes(
    client: "SQSClient",
    *,
    prefix: str = "duetime",
    visibility: int = VISIBILITY,
    pools: Iterable[str] = (),
) -> dict[Queue, str]:
    """Creates the queues of all lanes, and of those of the pools."""
    return {
        queue: _ensure_queue(client, f"{prefix}-{str(queue).replace('/', '-')}", visibility)
        for pool in (None, *pools)
        for queue in queues_of(pool)
    }


def _ensure_queue(client: "SQSClient", name: str, visibility: int) -> str:
    url = _url(client, name)
    if url is not None:
        return url
    dead_letters = _ensure_dead_letters(client, f"{name}-dlq")
    redrive = {"deadLetterTargetArn": dead_letters, "maxReceiveCount": MAX_RECEIVES}
    return _create(
        client,
        name,
        {"RedrivePolicy": codec.to_json(redrive), "VisibilityTimeout": str(visibility)},
    )


def _ensure_dead_letters(client: "SQSClient", name: str) -> str:
    url = _url(client, name) or _create(client, name, {})
    with translate_errors():
        answer = client.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    return answer["Attributes"]["QueueArn"]


def _create(client: "SQSClient", name: str, attributes: dict[str, str]) -> str:
    given = {"MessageRetentionPeriod": str(MESSAGE_RETENTION), **attributes}
    with translate_errors():
        return client.create_queue(QueueName=name, Attributes=given)["QueueUrl"]  # type: ignore[arg-type]


def _url(client: "SQSClient", name: str) -> str | None:
    try:
        with translate_errors():
            return client.get_queue_url(QueueName=name)["QueueUrl"]
    except ClientError as error:
        if error_code(error) not in ("NonExistentQueue", "QueueDoesNotExist"):
            raise
        return None
