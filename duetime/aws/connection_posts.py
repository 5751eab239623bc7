"""Posts to the connections of API Gateway: the ConnectionPosts of AWS."""

import logging
from typing import Any

from botocore.exceptions import ClientError

from duetime.aws.clients import translate_errors
from duetime.core.errors import Unavailable
from duetime.core.live.connections import Posted

GONE, LIMITED = 410, 429

log = logging.getLogger(__name__)


class ApiGatewayPosts:
    """A post is not repeated: its subscription gets a reset later."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def post(self, connection: str, frame: str) -> Posted:
        try:
            with translate_errors():
                self._client.post_to_connection(ConnectionId=connection, Data=frame.encode())
        except (Unavailable, ClientError) as error:
            if _status(error) == GONE:
                return Posted.GONE
            if not isinstance(error, Unavailable) and _status(error) != LIMITED:
                raise
            fields = {"step": "push", "connection": connection, "reason": str(error)}
            log.warning("frame not sent", extra=fields)
            return Posted.FAILED
        return Posted.SENT

    def close(self, connection: str) -> None:
        try:
            with translate_errors():
                self._client.delete_connection(ConnectionId=connection)
        except ClientError as error:
            if _status(error) != GONE:
                raise


def _status(error: Exception) -> int | None:
    if not isinstance(error, ClientError):
        return None
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
