"""AWS clients with explicit limits, and the translation of their errors.

The clients are botocore's own, which is what boto3 returns. Importing boto3 as well, with its
resources and its S3 transfers, would be a quarter of a function's cold start.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from botocore.config import Config
from botocore.exceptions import (
    ClientError,
    ConnectionError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
)
from botocore.session import get_session

from duetime.aws.botocore_endpoints import OurServices
from duetime.aws.root_certificates import verify_with
from duetime.core.codec import to_json
from duetime.core.errors import NotConfigured, Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_sqs import SQSClient

T = TypeVar("T")

CONNECT_TIMEOUT = 1.0  # seconds, as the following
READ_TIMEOUT = 5.0
# The heartbeats of a worker pool wait for the slowest of its writes: all attempts of a call
# together must take less time than a lease may go without a renewal before its handler is stopped.
TABLE_READ_TIMEOUT = 2.0
POST_READ_TIMEOUT = 2.0  # to one of many connections
POLL_READ_TIMEOUT = 30.0  # a long poll of SQS may take 20 s to answer
ATTEMPTS = 3
POOL_SIZE = 32

FAILED_CHECK = "ConditionalCheckFailed"  # of one write in a transaction
CONFLICT = "TransactionConflict"  # the same: another writer has the item
_FAILED_CONDITION = "ConditionalCheckFailedException"
_CANCELLED = "TransactionCanceledException"
_RETRYABLE_CODES = {
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
    "TransactionConflictException",  # a transaction is writing the item, or checking it
    "TransactionInProgressException",
}


def dynamodb(endpoint_url: str | None = None) -> "DynamoDBClient":
    return cast("DynamoDBClient", _client("dynamodb", TABLE_READ_TIMEOUT, endpoint_url))


def streams(endpoint_url: str | None = None) -> "DynamoDBStreamsClient":
    return cast("DynamoDBStreamsClient", _client("dynamodbstreams", READ_TIMEOUT, endpoint_url))


def sqs(endpoint_url: str | None = None) -> "SQSClient":
    return cast("SQSClient", _client("sqs", POLL_READ_TIMEOUT, endpoint_url))


def s3(endpoint_url: str | None = None) -> Any:
    return _client("s3", READ_TIMEOUT, endpoint_url)


def functions() -> "LambdaClient":
    return cast("LambdaClient", _client("lambda", READ_TIMEOUT, None))


def ssm(endpoint_url: str | None = None) -> Any:
    return _client("ssm", READ_TIMEOUT, endpoint_url)


def connections(url: str) -> Any:
    """Returns the client for the connections of one WebSocket API, at the `wss` URL of its
    stage. Each post is tried once."""
    address = url.replace("wss://", "https://", 1)
    return _client(
        "apigatewaymanagementapi", POST_READ_TIMEOUT, address, attempts=1, own_endpoint=False
    )


def invoke_later(function_arn: str, event: object, client: "LambdaClient | None" = None) -> None:
    """Invoke a function asynchronously: Lambda queues the event and this call returns."""
    with translate_errors():
        (client or functions()).invoke(
            FunctionName=function_arn, InvocationType="Event", Payload=to_json(event).encode()
        )


def lazy(make: Callable[[], T]) -> T:
    """Returns a proxy that calls `make` when an attribute is first used."""
    return cast(T, _Lazy(make))


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise Unavailable for throttling, timeouts, lost connections and server errors, and
    NotConfigured for a missing region or missing credentials. Other errors pass unchanged."""
    try:
        yield
    except ClientError as error:
        if not is_retryable(error):
            raise
        raise Unavailable(str(error)) from error
    except (ConnectionError, HTTPClientError) as error:
        raise Unavailable(str(error)) from error
    except (NoRegionError, NoCredentialsError) as error:
        raise NotConfigured(f"AWS is not configured: {error}") from error


def conflicting_item(error: ClientError) -> dict[str, Any] | None:
    """Returns the item that failed the condition of a write. None if there is no such item, or
    if the server does not return it (DynamoDB Local). Raises any other error."""
    if error_code(error) != _FAILED_CONDITION:
        raise error
    item: dict[str, Any] | None = error.response.get("Item")  # type: ignore[assignment]
    return item


def cancellation_codes(error: ClientError) -> list[str]:
    """Returns why each write of a transaction failed, "None" for one that did not. Raises any other
    error."""
    if error_code(error) != _CANCELLED:
        raise error
    reasons: list[dict[str, str]] = error.response.get("CancellationReasons", [])  # type: ignore[assignment]
    return [reason.get("Code", "None") for reason in reasons]


def error_code(error: ClientError) -> str:
    """Returns the code without the prefix that SQS adds to some codes in one of its protocols."""
    return error.response.get("Error", {}).get("Code", "").rpartition(".")[2]


def is_retryable(error: ClientError) -> bool:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= 500 or error_code(error) in _RETRYABLE_CODES


def client_for(
    service: str,
    *,
    read_timeout: float,
    attempts: int,
    region: str | None = None,
    endpoint_url: str | None = None,
) -> Any:
    """Makes a client of any service, for a target."""
    return _client(service, read_timeout, endpoint_url, attempts=attempts, region=region)


def _client(
    service: str,
    read_timeout: float,
    endpoint_url: str | None,
    *,
    attempts: int | None = None,
    region: str | None = None,
    own_endpoint: bool = True,
) -> Any:
    """`own_endpoint` is whether an endpoint, if one is given, is not one of AWS."""
    session = get_session()
    session.register_component("data_loader", OurServices())
    config = Config(
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=read_timeout,
        retries={"mode": "standard", "total_max_attempts": attempts or ATTEMPTS},
        max_pool_connections=POOL_SIZE,
        parameter_validation=False,  # mypy checks the types; this is a fifth of a call's CPU
        # The caller's name for CloudTrail. By default botocore builds this string twice for every
        # request, which is a fifth of the remaining CPU.
        user_agent=f"duetime {session.user_agent()}",
    )
    with translate_errors():
        verify = verify_with(session, endpoint_url if own_endpoint else None)
        return session.create_client(
            service, region, endpoint_url=endpoint_url, verify=verify, config=config
        )


class _Lazy:
    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None
        self._lock = Lock()  # handlers that submit run in threads

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = self._make()
        return getattr(self._made, name)
