import json
from typing import Any
from uuid import uuid4

from duetime.aws import schema
from duetime.aws.provision import ensure_lanes, ensure_resources, ensure_table
from duetime.core.lanes import MESSAGE_RETENTION, Lane, Queue


def attributes_of(sqs: Any, url: str) -> dict[str, str]:
    return sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]


def test_the_table_has_its_indexes_stream_and_expiry(dynamodb: Any, table: str):
    described = dynamodb.describe_table(TableName=table)["Table"]
    expiry = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]

    indexes = {index["IndexName"] for index in described["GlobalSecondaryIndexes"]}
    assert indexes == {schema.WAKE_INDEX, schema.LISTING_INDEX, schema.DEAD_INDEX}
    assert described["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    assert expiry["AttributeName"] == schema.REMOVE_AFTER


def test_existing_resources_are_left_unchanged(dynamodb: Any, sqs: Any, table: str):
    prefix = f"duetime-{uuid4().hex[:8]}"
    urls = ensure_lanes(sqs, prefix=prefix, visibility=60)
    dynamodb.put_item(TableName=table, Item={"pk": {"S": "a"}, "sk": {"S": "b"}})

    assert ensure_resources(dynamodb, sqs, table=table, prefix=prefix) == urls
    ensure_table(dynamodb, table)

    assert attributes_of(sqs, urls[Queue(Lane.HIGH)])["VisibilityTimeout"] == "60"
    assert dynamodb.scan(TableName=table)["Count"] == 1


def test_every_lane_has_its_dead_letter_queue(sqs: Any):
    urls = ensure_lanes(sqs, prefix=f"duetime-{uuid4().hex[:8]}", visibility=60)

    assert set(urls) == {Queue(lane) for lane in Lane}
    for queue, url in urls.items():
        attributes = attributes_of(sqs, url)
        redrive = json.loads(attributes["RedrivePolicy"])
        letters = attributes_of(sqs, f"{url}-dlq")
        assert url.endswith(f"-{queue}")
        assert redrive == {"deadLetterTargetArn": letters["QueueArn"], "maxReceiveCount": 10}
        assert attributes["MessageRetentionPeriod"] == str(MESSAGE_RETENTION)
        assert letters["MessageRetentionPeriod"] == str(MESSAGE_RETENTION)
