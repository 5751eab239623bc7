"""The calls of targets to AWS services, with a client for each service and region.

A client is made on first use and kept. It waits for an answer no longer than the task's timeout
and repeats a call at most once: the retry policy of the task does the rest."""

from collections.abc import Mapping
from math import ceil
from threading import Lock
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    ConnectTimeoutError,
    HTTPClientError,
    ReadTimeoutError,
)

from duetime.aws import clients
from duetime.core.errors import NotConfigured
from duetime.core.service_calls import ServiceCall, ServiceCallFailed

MAX_CLIENTS = 64  # then all are made again: timeouts differ, and each makes a client of its own
_LATER_ALL_THE_SAME = {
    "DatabaseResumingException",
    "EC2ThrottledException",
    "ExecutionLimitExceeded",
    "ExpiredToken",
    "ExpiredTokenException",
    "InternalServerErrorException",
    "LimitExceededFault",
    "QueueDeletedRecently",
    "RequestExpired",
    "ResourceConflictException",
    "ResourceNotReadyException",
    "SnapStartNotReadyException",
    "StatementTimeoutException",
    "ThrottledException",
    "TransactionConflictException",
}
_TRANSACTION_CONFLICTS = {"None", "TransactionConflict", "ThrottlingError"}


class AwsServices:
    def __init__(self, endpoint_url: str | None = None) -> None:
        self._endpoint_url = endpoint_url
        self._clients: dict[tuple[Any, ...], Any] = {}
        self._lock = Lock()

    def call(self, call: ServiceCall, timeout: float) -> Mapping[str, Any]:
        try:
            client = self._client(call, timeout)
            answer: Mapping[str, Any] = getattr(client, call.operation)(**call.parameters)
        except ClientError as error:
            code, permanent = clients.error_code(error), not _is_transient(error)
            raise ServiceCallFailed(code, _message(error), permanent=permanent) from error
        except (ReadTimeoutError, ConnectTimeoutError) as error:
            raise ServiceCallFailed("TimedOut", str(error), permanent=False) from error
        except (ConnectionError, HTTPClientError) as error:
            raise ServiceCallFailed("ConnectionFailed", str(error), permanent=False) from error
        except (NotConfigured, BotoCoreError) as error:
            raise ServiceCallFailed(type(error).__name__, str(error), permanent=True) from error
        return answer

    def _client(self, call: ServiceCall, timeout: float) -> Any:
        attempts = 2 if call.repeatable else 1
        read_timeout = min(ceil(timeout / attempts), call.longest)
        key = (call.service, call.region, read_timeout, attempts)
        with self._lock:  # making a client is not safe among threads
            if key not in self._clients:
                if len(self._clients) >= MAX_CLIENTS:
                    self._clients.clear()
                self._clients[key] = clients.client_for(
                    call.service,
                    read_timeout=read_timeout,
                    attempts=attempts,
                    region=call.region,
                    endpoint_url=self._endpoint_url,
                )
            return self._clients[key]


def _is_transient(error: ClientError) -> bool:
    reasons = [r.get("Code", "None") for r in error.response.get("CancellationReasons", ())]
    if reasons:  # of a transaction
        return set(reasons) <= _TRANSACTION_CONFLICTS
    return clients.is_retryable(error) or clients.error_code(error) in _LATER_ALL_THE_SAME


def _message(error: ClientError) -> str:
    """Returns the service's own words. botocore's text around them names the operation, which the
    target's type already tells."""
    found = error.response.get("Error", {}).get("Message")
    return found or str(error)
