"""Connections to the table, opened before they are needed.

A connection takes three round trips and some milliseconds of CPU. An executor waits for the due
second of its messages anyway: connections that it opens then do not delay their leases. After a
freeze it also finds out which of its connections the other side has closed; a lease that comes
upon one would be repeated by botocore after up to a second.
"""

import logging
from typing import TYPE_CHECKING, Any

from botocore.awsrequest import AWSRequest
from botocore.exceptions import ConnectionClosedError

from lambdas.core.ports import Clock
from lambdas.core.times import SECOND, Millis

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

log = logging.getLogger(__name__)

KEPT_FOR: Millis = 30 * SECOND  # how long connections are taken for open without another look


class Connections:
    def __init__(self, client: "DynamoDBClient", clock: Clock, most: int) -> None:
        self._client: Any = client
        self._clock = clock
        self._most = most
        self._opened_at: Millis | None = None

    def open(self, count: int) -> None:
        """Open as many as `count` calls at once can use. Never raises: a call that finds no open
        connection opens its own."""
        now = self._clock.now()
        if self._opened_at is not None and now - self._opened_at < KEPT_FOR:
            return
        self._opened_at = now
        try:
            self._open(min(count, self._most))
        except Exception:
            log.warning("connections not opened", exc_info=True, extra={"step": "execute"})

    def _open(self, count: int) -> None:
        """`GET /` is DynamoDB's health check: it needs no signature and costs nothing. Each
        answer is left unread until all are there, so each request has a connection of its own."""
        session = self._client._endpoint.http_session
        url = self._client.meta.endpoint_url
        answers: list[Any] = []
        try:
            for _ in range(2 * count):  # each may come upon a connection that was closed
                if len(answers) == count:
                    break
                request = AWSRequest(method="GET", url=url, stream_output=True).prepare()
                try:
                    answers.append(session.send(request))
                except ConnectionClosedError:
                    continue
        finally:
            for answer in answers:
                _ = answer.content
