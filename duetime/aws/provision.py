"""Make what the AWS backend needs, where no stack has done it: tests, local endpoints."""

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from lambdas.aws import schema
from lambdas.aws.clients import code_of, reached
from lambdas.core import codec
from lambdas.core.lanes import KEPT_FOR, MAX_RECEIVES, Lane

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient

VISIBILITY = 900


def ensure_resources(
    dynamodb: "DynamoDBClient",
    sqs: "SQSClient",
    *,
    table: str,
    prefix: str = "duetime",
    visibility: int = VISIBILITY,
) -> dict[Lane, str]:
    """The table and the lanes, made if absent; returns the lanes' queue URLs."""
    ensure_table(dynamodb, table)
    return ensure_lanes(sqs, prefix=prefix, visibility=visibility)


def ensure_table(client: "DynamoDBClient", table: str) -> None:
    try:
        with reached():
            client.create_table(**schema.create_table(table))
    except ClientError as error:
        if code_of(error) != "ResourceInUseException":
            raise
        return
    client.get_waiter("table_exists").wait(TableName=table, WaiterConfig={"Delay": 1})
    with reached():
        client.update_time_to_live(
            TableName=table,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": schema.REMOVE_AFTER},
        )


def ensure_lanes(
    client: "SQSClient", *, prefix: str = "duetime", visibility: int = VISIBILITY
) -> dict[Lane, str]:
    return {lane: _ensure_lane(client, f"{prefix}-{lane}", visibility) for lane in Lane}


def _ensure_lane(client: "SQSClient", name: str, visibility: int) -> str:
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
    with reached():
        answer = client.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    return answer["Attributes"]["QueueArn"]


def _create(client: "SQSClient", name: str, attributes: dict[str, str]) -> str:
    given = {"MessageRetentionPeriod": str(KEPT_FOR), **attributes}
    with reached():
        return client.create_queue(QueueName=name, Attributes=given)["QueueUrl"]  # type: ignore[arg-type]


def _url(client: "SQSClient", name: str) -> str | None:
    try:
        with reached():
            return client.get_queue_url(QueueName=name)["QueueUrl"]
    except ClientError as error:
        if code_of(error) not in ("NonExistentQueue", "QueueDoesNotExist"):
            raise
        return None
