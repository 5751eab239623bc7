"""What rate limits write to the table: one unit for each reservation, and a row that ends."""

from typing import Any

import pytest

from bench.billing.meter import Meter
from duetime.aws import clients, schema
from duetime.aws.rate_store import DynamoRateStore
from duetime.core.change import Unknown
from duetime.core.limits.definition import Rate
from duetime.core.limits.rate import RateKey, SlotRequest
from duetime.core.times import DAY, MINUTE, SECOND, Millis
from tests.factories import NOW

KEY = RateKey(namespace="n" * 128, name="stripe" * 10, key="k" * 128)
RATE = Rate(count=5, period=SECOND)


def request(count: int = 1, now: Millis = NOW, at_once: bool = False) -> SlotRequest:
    return SlotRequest(key=KEY, rate=RATE, count=count, asked_at=now, at_once=at_once)


@pytest.fixture
def meter(moto: None) -> Meter:
    return Meter()


@pytest.fixture
def metered(meter: Meter) -> Any:
    client = clients.dynamodb()
    meter.attach(client)
    return client


def units(meter: Meter) -> float:
    counts = meter.take_counts()
    return sum(n for name, n in counts.items() if name.startswith("write."))


def test_batch_costs_one_unit(metered: Any, table: str, meter: Meter):
    rates = DynamoRateStore(metered, table)
    for number in range(10):
        rates.reserve([request(count=10, now=NOW + number)])
        assert units(meter) == 1


def test_lone_task_costs_one_unit_whether_the_limit_is_idle_or_busy(
    metered: Any, table: str, meter: Meter
):
    rates = DynamoRateStore(metered, table)
    for now in (NOW, NOW + 1, NOW + 2, NOW + MINUTE, NOW + 2 * MINUTE):
        rates.reserve([request(now=now)])
        assert units(meter) == 1


def test_first_look_of_another_process_costs_one_unit_more(metered: Any, table: str, meter: Meter):
    DynamoRateStore(metered, table).reserve([request(count=10)])
    units(meter)
    other = DynamoRateStore(metered, table)
    other.reserve([request()])
    assert units(meter) == 2
    other.reserve([request()])
    assert units(meter) == 1


def test_full_limit_costs_a_skipped_task_nothing_once_it_is_known(
    metered: Any, table: str, meter: Meter
):
    rates = DynamoRateStore(metered, table)
    rates.reserve([request()])
    units(meter)

    assert rates.reserve([request(at_once=True)]) == [[]]
    assert units(meter) == 0


def test_row_ends_a_day_after_the_last_time(dynamodb: Any, table: str):
    rates = DynamoRateStore(dynamodb, table)

    for count in (1, 50, 1_000, 200_000):
        [slots] = rates.reserve([request(count)])
        assert not isinstance(slots, Unknown)
        assert end_of(dynamodb, table) >= (slots[-1] + DAY) // SECOND
    assert end_of(dynamodb, table) <= (slots[-1] + DAY) // SECOND + 5


def test_row_of_a_blocked_limit_outlives_the_block(dynamodb: Any, table: str):
    DynamoRateStore(dynamodb, table).block(KEY, RATE, NOW + DAY)

    assert end_of(dynamodb, table) == (NOW + 2 * DAY) // SECOND


def test_table_that_does_not_answer_leaves_the_times_unknown():
    rates = DynamoRateStore(clients.dynamodb("http://127.0.0.1:1"), "none")

    [answer] = rates.reserve([request()])

    assert isinstance(answer, Unknown)


def end_of(dynamodb: Any, table: str) -> int:
    key = schema.limit_pk(KEY.namespace, KEY.name, KEY.key)
    place = {schema.PK: {"S": key}, schema.SK: {"S": schema.RATE}}
    row = dynamodb.get_item(TableName=table, Key=place)["Item"]
    return int(row[schema.REMOVE_AFTER]["N"])
