"""Connections to the table, opened before they are needed.

A connection takes three round trips and some milliseconds of CPU. An executor waits for the due
second of its messages anyway, so connections that it opens in that time do not delay the leases.
After a freeze it also finds the connections that the server has closed; on such a connection
botocore would repeat a lease only after up to a second.
"""

import logging
from typing import TYPE_CHECKING, Any

from botocore.awsrequest import AWSRequest
from botocore.exceptions import ConnectionClosedError

from duetime.core.ports import Clock
from duetime.core.times import SECOND, Millis

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

log = logging.getLogger(__name__)

RECHECK_INTERVAL: Millis = 30 * SECOND  # until then connections are assumed to be open


class Connections:
    def __init__(self, client: "DynamoDBClient", clock: Clock, limit: int) -> None:
        self._client: Any = client
        self._clock = clock
        self._limit = limit
        self._opened_at: Millis | None = None

    def open(self, count: int) -> None:
        """Open as many connections as `count` parallel calls can use. Never raises: a call that
        finds no open connection opens its own."""
        now = self._clock.now()
        if self._opened_at is not None and now - self._opened_at < RECHECK_INTERVAL:
            return
        self._opened_at = now
        try:
            self._open(min(count, self._limit))
        except Exception:
            log.warning("connections not opened", exc_info=True, extra={"step": "execute"})

    def _open(self, count: int) -> None:
        """Sends `GET /`, DynamoDB's health check, which needs no signature and costs nothing. No
        response is read before all have arrived, so each request uses its own connection."""
        session = self._client._endpoint.http_session
        url = self._client.meta.endpoint_url
        answers: list[Any] = []
        try:
            for _ in range(2 * count):  # each may first meet a closed connection
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
