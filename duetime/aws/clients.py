"""Clients with stated limits, and what their errors mean to us.

They are botocore's own, which is what boto3 hands out: to import boto3 as well, with its resources
and its transfers to S3, would be a quarter of a function's cold start.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from botocore.config import Config
from botocore.exceptions import (
    ClientError,
    ConnectionError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
)
from botocore.session import get_session

from lambdas.aws.endpoints import OurServices
from lambdas.aws.roots import verify_with
from lambdas.core.errors import NotConfigured, Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_sqs import SQSClient

CONNECT_TIMEOUT = 1.0
READ_TIMEOUT = 5.0
# The heartbeats of a crew wait for the slowest of its writes: all tries together must take less
# than the silence after which its handlers are stopped.
TABLE_READ_TIMEOUT = 2.0
POLL_READ_TIMEOUT = 30.0  # a long poll of SQS stays silent for up to 20 s
ATTEMPTS = 3
POOL_SIZE = 32

_FAILED_CONDITION = "ConditionalCheckFailedException"
_WORTH_TRYING_AGAIN = {
    "InternalServerError",
    "KmsThrottled",
    "LimitExceededException",
    "OverLimit",
    "PriorRequestNotComplete",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "RequestTimeout",
    "ServiceUnavailable",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionInProgressException",
}


def dynamodb(endpoint_url: str | None = None) -> "DynamoDBClient":
    return cast("DynamoDBClient", _client("dynamodb", TABLE_READ_TIMEOUT, endpoint_url))


def streams(endpoint_url: str | None = None) -> "DynamoDBStreamsClient":
    return cast("DynamoDBStreamsClient", _client("dynamodbstreams", READ_TIMEOUT, endpoint_url))


def sqs(endpoint_url: str | None = None) -> "SQSClient":
    return cast("SQSClient", _client("sqs", POLL_READ_TIMEOUT, endpoint_url))


def functions() -> "LambdaClient":
    return cast("LambdaClient", _client("lambda", READ_TIMEOUT, None))


@contextmanager
def reached() -> Iterator[None]:
    """Turn throttling, timeouts, lost connections and server errors into Unavailable, and a
    missing region or credentials into NotConfigured."""
    try:
        yield
    except ClientError as error:
        if not _worth_trying_again(error):
            raise
        raise Unavailable(str(error)) from error
    except (ConnectionError, HTTPClientError) as error:
        raise Unavailable(str(error)) from error
    except (NoRegionError, NoCredentialsError) as error:
        raise NotConfigured(f"AWS is not configured: {error}") from error


def standing_item(error: ClientError) -> dict[str, Any] | None:
    """What stood in the way of a conditional write. None if nothing did, or if the server does
    not tell (DynamoDB Local); any other error rises."""
    if code_of(error) != _FAILED_CONDITION:
        raise error
    item: dict[str, Any] | None = error.response.get("Item")  # type: ignore[assignment]
    return item


def code_of(error: ClientError) -> str:
    """SQS prefixes some of its codes, depending on the protocol."""
    return error.response.get("Error", {}).get("Code", "").rpartition(".")[2]


def _worth_trying_again(error: ClientError) -> bool:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= 500 or code_of(error) in _WORTH_TRYING_AGAIN


def _client(service: str, read_timeout: float, endpoint_url: str | None) -> Any:
    session = get_session()
    session.register_component("data_loader", OurServices())
    config = Config(
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=read_timeout,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        max_pool_connections=POOL_SIZE,
        parameter_validation=False,  # types are checked before; this is a fifth of a call's CPU
        # Who calls, for CloudTrail. Left to itself, botocore puts that together anew, twice for
        # every request, which is a fifth of the rest.
        user_agent=f"duetime {session.user_agent()}",
    )
    with reached():
        verify = verify_with(session, endpoint_url)
        return session.create_client(
            service, endpoint_url=endpoint_url, verify=verify, config=config
        )
