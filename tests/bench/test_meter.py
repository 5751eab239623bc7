"""The meter counts every call of a client, and refuses to guess."""

from collections.abc import Iterator
from typing import Any

import pytest

from bench.billing.meter import Meter
from duetime.aws import clients, schema
from duetime.local.moto_backend import fair_moto
from tests.backends import a_table

FREE = f"attribute_not_exists({schema.PK})"


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[Any]:
    with fair_moto():
        yield clients.dynamodb()


@pytest.fixture
def table(dynamodb: Any) -> Iterator[str]:
    with a_table(dynamodb) as table:
        yield table


@pytest.fixture
def meter() -> Meter:
    return Meter()


@pytest.fixture
def metered(dynamodb: Any, meter: Meter) -> Any:
    client = clients.dynamodb()
    meter.attach(client)
    return client


def key(number: int = 1) -> Any:
    return {schema.PK: {"S": f"task#{number}"}, schema.SK: {"S": schema.TASK}}


def waking(text: str = "") -> Any:
    named = {schema.WAKE_BUCKET: "20261116T0907#03", schema.WAKE_KEY: "d#1#1", schema.TEXT: text}
    return key() | {name: {"S": value} for name, value in named.items()}


def test_writes_are_billed_by_size_and_index_entries(metered: Any, table: str, meter: Meter):
    metered.put_item(TableName=table, Item=waking("x" * 3_000))
    assert meter.take_counts() == {"call.PutItem": 1, "write.table": 3, "write.wake": 1}

    metered.update_item(
        TableName=table,
        Key=key(),
        UpdateExpression=f"REMOVE {schema.TEXT}, {schema.WAKE_KEY}",
        ReturnValues="ALL_NEW",
    )
    assert meter.take_counts() == {"call.UpdateItem": 1, "write.table": 3, "write.wake": 1}

    metered.update_item(
        TableName=table,
        Key=key(),
        UpdateExpression=f"SET {schema.STATUS} = :new",
        ExpressionAttributeValues={":new": {"S": "DEAD"}},
        ReturnValues="ALL_NEW",
    )
    assert meter.take_counts() == {"call.UpdateItem": 1, "write.table": 1}


def test_a_refused_write_is_billed_by_the_stored_item(metered: Any, table: str, meter: Meter):
    metered.put_item(TableName=table, Item=waking("x" * 3_000))
    meter.take_counts()

    with pytest.raises(metered.exceptions.ConditionalCheckFailedException):
        metered.put_item(TableName=table, Item=key(), ConditionExpression=FREE)
    assert meter.take_counts() == {"call.PutItem": 1, "write.table": 3}

    with pytest.raises(metered.exceptions.ConditionalCheckFailedException):
        metered.update_item(
            TableName=table,
            Key=key(2),
            UpdateExpression=f"REMOVE {schema.TEXT}",
            ConditionExpression=f"attribute_exists({schema.PK})",
        )
    assert meter.take_counts() == {"call.UpdateItem": 1, "write.table": 1}


def test_a_batch_of_deletes_is_billed_by_the_deleted_items(metered: Any, table: str, meter: Meter):
    metered.put_item(TableName=table, Item=waking("x" * 3_000))
    meter.take_counts()

    asked = [{"DeleteRequest": {"Key": key(number)}} for number in (1, 2)]
    for expected in ({"write.table": 3 + 1, "write.wake": 1}, {"write.table": 1 + 1}):
        metered.batch_write_item(RequestItems={table: asked})
        assert meter.take_counts() == {"call.BatchWriteItem": 1} | expected
    assert meter.items() == []


def test_reads_are_billed_by_size_and_consistency(metered: Any, table: str, meter: Meter):
    metered.put_item(TableName=table, Item=waking("x" * 5_000))
    meter.take_counts()

    metered.get_item(TableName=table, Key=key(), ConsistentRead=True)
    assert meter.take_counts() == {"call.GetItem": 1, "read": 2}

    metered.batch_get_item(RequestItems={table: {"Keys": [key(1), key(2)]}})
    assert meter.take_counts() == {"call.BatchGetItem": 1, "read": 1.5}

    metered.query(
        TableName=table,
        IndexName=schema.WAKE_INDEX,
        KeyConditionExpression=f"{schema.WAKE_BUCKET} = :bucket",
        ExpressionAttributeValues={":bucket": {"S": "20261116T0907#03"}},
    )
    assert meter.take_counts() == {"call.Query": 1, "read": 0.5}

    metered.scan(TableName=table, IndexName=schema.WAKE_INDEX)
    assert meter.take_counts() == {"call.Scan": 1, "read": 2}, "each partition is searched"


def test_sqs_requests_are_billed_by_the_size_of_their_bodies(dynamodb: Any, meter: Meter):
    sqs = clients.sqs()
    url = sqs.create_queue(QueueName="counted")["QueueUrl"]
    meter.attach(sqs)

    entries = [{"Id": str(n), "MessageBody": "x" * 40_000} for n in range(2)]
    sqs.send_message_batch(QueueUrl=url, Entries=entries)
    assert meter.take_counts() == {"call.SendMessageBatch": 1, "sqs": 2}, "two chunks of 64 KB"

    sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1)
    assert meter.take_counts() == {"call.ReceiveMessage": 1, "sqs": 1}

    sqs.get_queue_attributes(QueueUrl=url)
    assert meter.take_counts() == {"call.GetQueueAttributes": 1, "sqs": 1}


def test_the_meter_raises_for_an_operation_without_a_rule(metered: Any, table: str):
    with pytest.raises(NotImplementedError, match="DescribeTable"):
        metered.describe_table(TableName=table)
