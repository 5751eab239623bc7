"""The records of the events that AWS invokes a Lambda with, as values of the core."""

from collections.abc import Mapping
from typing import Any

from lambdas.aws import schema
from lambdas.aws.items import decode_task, is_task, task_references
from lambdas.aws.messages import read_message
from lambdas.core.delivery import Message
from lambdas.core.events import StatusChange, status_change
from lambdas.core.lanes import Lane

Queues = Mapping[Lane, str]

UNKNOWN: Queues = {}
_BY_EXPIRY = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


def message_of_record(record: Mapping[str, Any], queues: Queues = UNKNOWN) -> Message:
    """A record of SQS. Corrupt if it is none of ours: reported as failed, it comes to the
    dead-letter queue. `queues` are the URLs of the lanes' queues: the record names its own."""
    receipt, attributes = record["receiptHandle"], record["attributes"]
    source = _lane_of_queue(record.get("eventSourceARN", ""), queues)
    return read_message(record["messageId"], receipt, record["body"], attributes, source)


def _lane_of_queue(arn: str, queues: Queues) -> Lane | None:
    name = arn.rpartition(":")[2]
    return next((lane for lane, url in queues.items() if url.rpartition("/")[2] == name), None)


def change_of_record(record: Mapping[str, Any]) -> StatusChange | None:
    """A record of the table's stream. None for rows that are no tasks, and for writes that left
    the status alone. Images come without the long texts beside the item, so a long name or
    error is cut."""
    images = record["dynamodb"]
    new, old = images.get("NewImage"), images.get("OldImage")
    if not new or not is_task(new):
        return None
    before = decode_task(old, texts=None) if old else None
    return status_change(before, decode_task(new, texts=None))


def left_behind_by_record(record: Mapping[str, Any]) -> str | None:
    """The id of a task that DynamoDB removed when its retention was over, if it had rows beside
    it: long texts, or earlier attempts, each of which got a row when the next began. Most tasks
    have neither, and cost nothing more."""
    by = record.get("userIdentity") or {}
    if record["eventName"] != "REMOVE" or not _BY_EXPIRY.items() <= by.items():
        return None
    old = record["dynamodb"]["OldImage"]
    if not is_task(old):
        return None
    beside = task_references(old) or int(old[schema.ATTEMPT]["N"]) > 1
    return schema.task_id_of(old[schema.PK]["S"]) if beside else None
