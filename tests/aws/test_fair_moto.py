import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from moto.dynamodb.responses import DynamoHandler

from duetime.aws import clients
from duetime.local.moto_backend import fair_moto


def test_moto_takes_one_call_at_a_time(monkeypatch: pytest.MonkeyPatch):
    """Otherwise two threads could win the same condition."""
    act = DynamoHandler.call_action
    inside: list[Any] = []
    crowds = []

    def slow(self: Any) -> Any:
        inside.append(self)
        crowds.append(len(inside))
        time.sleep(0.01)
        inside.remove(self)
        return act(self)

    monkeypatch.setattr(DynamoHandler, "call_action", slow)
    with fair_moto(), ThreadPoolExecutor(8) as threads:
        client = clients.dynamodb()
        list(threads.map(lambda _: client.list_tables(), range(8)))

    assert crowds == [1] * 8
    assert DynamoHandler.call_action is slow, "and leaves no trace"
