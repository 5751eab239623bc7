"""The records of the events that AWS invokes a Lambda with, as values of the core."""

from collections.abc import Mapping
from typing import Any

from lambdas.aws.items import decode_task, is_task
from lambdas.aws.messages import read_message
from lambdas.core.delivery import Message
from lambdas.core.events import StatusChange, status_change


def message_of_record(record: Mapping[str, Any]) -> Message:
    """A record of SQS. Corrupt if it is none of ours: reported as failed, it comes to the
    dead-letter queue."""
    receipt, attributes = record["receiptHandle"], record["attributes"]
    return read_message(record["messageId"], receipt, record["body"], attributes)


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
