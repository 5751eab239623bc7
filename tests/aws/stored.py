"""What really stands in a table, and what it was asked."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lambdas.aws.task_store import DynamoTaskStore
from lambdas.core.ports import Shards
from lambdas.core.retention import RETENTION
from lambdas.core.times import Millis
from tests.backends import SINCE
from tests.factories import RULES, SteppedClock


def a_store(
    client: Any, table: str, *, shards: int = RULES.shards, retention: Millis = RETENTION
) -> DynamoTaskStore:
    known = Shards(count=shards, since=SINCE)
    return DynamoTaskStore(
        client, table, shards=lambda: known, clock=SteppedClock(), retention=retention
    )


def items_in(client: Any, table: str) -> dict[str, Mapping[str, Any]]:
    """Every item, by its sort key."""
    items = client.scan(TableName=table, ConsistentRead=True)["Items"]
    return {item["sk"]["S"]: item for item in items}


@contextmanager
def asked_of(client: Any) -> Iterator[list[str]]:
    """The calls made, by name; a read that is billed twice, for its consistency, says so."""
    calls: list[str] = []

    def note(model: Any, params: Any, **_: Any) -> None:
        consistent = b'"ConsistentRead": true' in params["body"]
        calls.append(f"{model.name} consistent" if consistent else model.name)

    client.meta.events.register("before-call", note)
    yield calls
    client.meta.events.unregister("before-call", note)
