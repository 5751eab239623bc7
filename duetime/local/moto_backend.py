"""AWS simulated in this process by moto: no account, no network, nothing is stored."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any
from unittest.mock import patch

REGION = "us-east-1"


@contextmanager
def fair_moto() -> Iterator[None]:
    """Send every AWS call of this process to moto.

    moto checks a condition and writes without a lock, so two threads can pass the same condition,
    which DynamoDB never allows. Here one call runs at a time.
    """
    from moto import mock_aws
    from moto.dynamodb.responses import DynamoHandler
    from moto.dynamodbstreams.responses import DynamoDBStreamsHandler

    turn = RLock()
    act, act_streams = DynamoHandler.call_action, DynamoDBStreamsHandler.call_action

    def in_turn(call: Any) -> Any:
        def call_action(self: Any) -> Any:
            with turn:
                return call(self)

        return call_action

    with (
        mock_aws(),
        patch.dict(os.environ, {"AWS_DEFAULT_REGION": os.environ.get("AWS_REGION", REGION)}),
        patch.object(DynamoHandler, "call_action", in_turn(act)),
        patch.object(DynamoDBStreamsHandler, "call_action", in_turn(act_streams)),
    ):
        yield
