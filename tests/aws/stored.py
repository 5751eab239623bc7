"""The stored items of a table, and the calls made to it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from duetime.aws.task_store import DynamoTaskStore
from duetime.core.ports import Shards
from duetime.core.retention import RETENTION
from duetime.core.times import Millis
from tests.backends import SINCE
from tests.factories import WAKE_POLICY, SteppedClock


def a_store(
    client: Any, table: str, *, shards: int = WAKE_POLICY.shards, retention: Millis = RETENTION
) -> DynamoTaskStore:
    known = Shards(count=shards, since=SINCE)
    return DynamoTaskStore(
        client, table, shards=lambda: known, clock=SteppedClock(), retention=retention
    )


def items_in(client: Any, table: str) -> dict[str, Mapping[str, Any]]:
    """Returns every item by its sort key."""
    items = client.scan(TableName=table, ConsistentRead=True)["Items"]
    return {item["sk"]["S"]: item for item in items}


@contextmanager
def asked_of(client: Any) -> Iterator[list[str]]:
    """Yields the names of the calls made; a strongly consistent read, billed twice, is marked."""
    calls: list[str] = []

    def note(model: Any, params: Any, **_: Any) -> None:
        consistent = b'"ConsistentRead": true' in params["body"]
        calls.append(f"{model.name} consistent" if consistent else model.name)

    client.meta.events.register("before-call", note)
    yield calls
    client.meta.events.unregister("before-call", note)
