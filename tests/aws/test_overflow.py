"""Long texts: stored compressed, and cached by a reader that many threads fill."""

import sys
import threading
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from bench.billing.units import write_units
from duetime.aws import schema
from duetime.aws.item_reader import TEXT_CACHE_SIZE, TaskReader
from duetime.aws.overflow import digest
from duetime.core.codec import encode_spec, to_json
from duetime.core.errors import Corrupt
from tests.aws.stored import a_store, items_in
from tests.factories import a_listing, a_spec, a_task

THREADS = 8
EACH = 2_000


@pytest.fixture
def _switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_switching_often")
def test_texts_are_remembered_from_many_threads_at_once():
    reader = TaskReader(client=None, table="")  # type: ignore[arg-type]
    failed: list[Any] = []

    def remember(number: int) -> None:
        try:
            for n in range(EACH):
                reader.remember(f"task#{number}", {f"run#{n}": "text"})
        except RuntimeError as error:
            failed.append(error)

    threads = [threading.Thread(target=remember, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []
    assert len(reader._texts) == TEXT_CACHE_SIZE


def orders(size: int) -> list[dict[str, Any]]:
    """Ordinary JSON of about this many bytes: records that differ."""
    random, records = Random(7), []
    while len(to_json(records)) < size:
        records += [_order(random, len(records) + n) for n in range(50)]
    return records


def _order(random: Random, n: int) -> dict[str, Any]:
    return {
        "order_id": f"{random.getrandbits(64):016x}",
        "customer": {"id": random.randrange(10**6), "name": f"Customer {n}", "country": "DE"},
        "items": [{"sku": f"SKU-{random.randrange(999)}", "price": round(random.random(), 2)}],
        "note": random.choice(["", "Leave it at the door.", "Call before you come."]),
    }


def test_payload_of_200_kb_costs_at_most_60_write_units(dynamodb: Any, table: str):
    payload = orders(200_000)
    task = a_task(spec=a_spec(payload=payload))
    a_store(dynamodb, table).put([task])

    items = items_in(dynamodb, table).values()
    units = sum(n for item in items for n in write_units(None, item).values())

    assert len(to_json(payload)) >= 200_000
    assert 3 < units <= 60
    assert a_store(dynamodb, table).get([task.id]) == {task.id: task}


def test_text_of_an_earlier_version_is_read(dynamodb: Any, table: str):
    """It was stored as it is, under the same sort key."""
    task = a_task(spec=a_spec(payload="x" * 5_000))
    a_store(dynamodb, table).put([task])
    [row] = [item for sk, item in items_in(dynamodb, table).items() if sk.startswith("spec#")]
    assert "B" in row[schema.TEXT]
    plain = {**row, schema.TEXT: {"S": encode_spec(task.spec)}}
    dynamodb.put_item(TableName=table, Item=plain)

    assert row[schema.SK]["S"] == f"spec#{digest(encode_spec(task.spec))}"
    assert a_store(dynamodb, table).get([task.id]) == {task.id: task}


def test_text_that_cannot_be_inflated_makes_its_task_unreadable(dynamodb: Any, table: str):
    task = a_task(spec=a_spec(payload="x" * 5_000))
    a_store(dynamodb, table).put([task])
    [row] = [item for sk, item in items_in(dynamodb, table).items() if sk.startswith("spec#")]
    dynamodb.put_item(TableName=table, Item={**row, schema.TEXT: {"B": b"broken"}})

    store = a_store(dynamodb, table)
    with pytest.raises(Corrupt):
        store.get([task.id])
    assert store.page(a_listing()).tasks == []
