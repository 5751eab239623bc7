"""Records of SQS and of the table's stream, read as values of the core."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from duetime.aws import schema
from duetime.aws.message_codec import read_message
from duetime.aws.task_items import decode_task, is_task, refers_to_objects, task_references
from duetime.core.delivery import Message
from duetime.core.events import StatusChange, status_change
from duetime.core.lanes import Queue
from duetime.core.lifecycle import Status
from duetime.core.ports import UniqueKey
from duetime.core.times import SECOND, Millis
from duetime.core.value import value

if TYPE_CHECKING:
    from duetime.core.live.pushes import Progressed

Queues = Mapping[Queue, str]

UNKNOWN: Queues = {}


def message_of_record(record: Mapping[str, Any], queues: Queues = UNKNOWN) -> Message:
    """Reads a record of SQS. Raises Corrupt if the message is not one of ours; reported as failed,
    it ends in the dead-letter queue. `queues` maps each queue to its URL, by which that of the
    record is recognised."""
    receipt, attributes = record["receiptHandle"], record["attributes"]
    source = _queue_of_arn(record.get("eventSourceARN", ""), queues)
    return read_message(record["messageId"], receipt, record["body"], attributes, source)


def _queue_of_arn(arn: str, queues: Queues) -> Queue | None:
    name = arn.rpartition(":")[2]
    return next((queue for queue, url in queues.items() if url.rpartition("/")[2] == name), None)


def change_of_record(record: Mapping[str, Any]) -> StatusChange | None:
    """Reads a record of the table's stream. None for rows that are not tasks, and for writes that
    did not change the status. Images lack the texts that are stored in rows of their own, so a
    long name or error is cut."""
    images = record["dynamodb"]
    new, old = images.get("NewImage"), images.get("OldImage")
    if not new or not is_task(new):
        return None
    before = decode_task(old, texts=None) if old else None
    return status_change(before, decode_task(new, texts=None))


def progress_of_record(record: Mapping[str, Any]) -> "Progressed | None":
    """Reads a report of progress; None for other writes. Imports its value on first use: most
    deployments have no live updates."""
    from duetime.core.live.pushes import Progressed

    images = record["dynamodb"]
    new, old = images.get("NewImage"), images.get("OldImage")
    if not new or not old or not is_task(new) or schema.PROGRESS not in new:
        return None
    if new[schema.PROGRESS] == old.get(schema.PROGRESS):
        return None
    task = decode_task(new, texts=None)
    if task.progress is None:
        return None
    return Progressed(
        task_id=task.id, namespace=task.spec.namespace, progress=task.progress, at=task.updated_at
    )


def watch_of_record(record: Mapping[str, Any]) -> dict[str, bool]:
    """Returns whether a task has a wake after this write, by its id; nothing for other rows."""
    new = record["dynamodb"].get("NewImage")
    if not new or not is_task(new):
        return {}
    return {schema.task_id_of(new[schema.PK]["S"]): schema.WAKE_KEY in new}


@value(frozen=True, kw_only=True, slots=True)
class RemovedTask:
    """A finished task that has left the table, as its last image shows it."""

    task_id: str
    image: Mapping[str, Any]
    sequence_number: str
    removed_at: Millis
    has_objects: bool  # a large payload or result, now or before its spec was replaced
    has_rows: bool  # long texts, or earlier attempts: each gets a row when the next attempt starts


def removed_task_of_record(record: Mapping[str, Any]) -> RemovedTask | None:
    """Reads a removal, by the TTL of the table or by a purge. None for other records, and for a
    task that had not finished: its rows are kept, so that an operator can restore it."""
    if record["eventName"] != "REMOVE":
        return None
    images = record["dynamodb"]
    old = images["OldImage"]
    if not is_task(old) or not Status(old[schema.STATUS]["S"]).finished:
        return None
    is_replaced = schema.REPLACED in old
    has_texts = bool(task_references(old)) or is_replaced
    return RemovedTask(
        task_id=schema.task_id_of(old[schema.PK]["S"]),
        image=old,
        sequence_number=images["SequenceNumber"],
        removed_at=int(images["ApproximateCreationDateTime"] * SECOND),
        has_objects=is_replaced or refers_to_objects(old),
        has_rows=has_texts or int(old[schema.ATTEMPT]["N"]) > 1,
    )


def removed_run_of_record(record: Mapping[str, Any]) -> str | None:
    """Returns the id of a run that the table has removed, and that has left its input in a row."""
    old = record["dynamodb"].get("OldImage")
    if record["eventName"] != "REMOVE" or not old or old[schema.SK]["S"] != schema.RUN:
        return None
    return schema.run_id_of(old[schema.PK]["S"]) if old[schema.SPEC]["S"].startswith("@") else None


def freed_key_of_record(record: Mapping[str, Any]) -> UniqueKey | None:
    """Returns the unique key of a task that was removed, by DynamoDB or by a user."""
    old = record["dynamodb"].get("OldImage")
    if record["eventName"] != "REMOVE" or not old or not is_task(old):
        return None
    if '"unique"' not in old[schema.SPEC]["S"]:  # most tasks: their spec is not decoded
        return None
    task = decode_task(old, texts=None)
    if task.spec.unique is None:
        return None
    namespace, key = task.spec.namespace, task.spec.unique.key
    return UniqueKey(namespace=namespace, key=key, task_id=task.id)


def count_of_record(record: Mapping[str, Any]) -> tuple[str, int] | None:
    """Returns the namespace of a task that was stored or removed, and the change of its number of
    tasks. Reads no spec: the listing bucket begins with the namespace. The tasks of steps have
    none, and do not count: a quota counts what its tenant has submitted."""
    images = record["dynamodb"]
    change = {"INSERT": 1, "REMOVE": -1}.get(record["eventName"])
    image = images.get("NewImage") or images.get("OldImage")
    if change is None or not image or not is_task(image) or schema.LISTING_BUCKET not in image:
        return None
    return image[schema.LISTING_BUCKET]["S"].partition("#")[0], change
