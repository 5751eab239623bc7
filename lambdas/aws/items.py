"""A task as a DynamoDB item.

Every field that a condition looks at is an attribute of its own. A field at its default is left
out, but for the few that conditions and readers always want.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from lambdas.aws import schema
from lambdas.aws.attributes import encode_fields
from lambdas.aws.texts import Texts, references, whole
from lambdas.core import codec
from lambdas.core.errors import UNREADABLE, Corrupt
from lambdas.core.lifecycle import Status
from lambdas.core.task import Task
from lambdas.core.wakes import Wake, parse_wake

Item = Mapping[str, Mapping[str, Any]]
TaskItem = tuple[dict[str, dict[str, Any]], dict[str, str]]  # the item, the texts beside it

_TEXTS = (schema.SPEC, schema.CURRENT, schema.PREVIOUS, schema.RESULT)
_NEVER_CHANGE = ("id", "created_at")


def encode_task(task: Task, listing_bucket: str) -> TaskItem:
    attributes, beside = encode_fields(
        {f.name: getattr(task, f.name) for f in fields(Task) if f.name not in _NEVER_CHANGE}
    )
    item = {name: value for name, value in attributes.items() if value is not None}
    item[schema.PK] = {"S": schema.task_pk(task.id)}
    item[schema.SK] = {"S": schema.TASK}
    item[schema.LISTING_BUCKET] = {"S": listing_bucket}
    item[schema.CREATED_AT] = {"N": str(task.created_at)}
    return item, beside


def is_task(item: Item) -> bool:
    return bool(item[schema.SK]["S"] == schema.TASK)


def task_references(item: Item) -> list[str]:
    return references(item[name].get("S", "") for name in _TEXTS if name in item)


def decode_task(item: Item, texts: Texts | None) -> Task:
    """The task that an item stands for; without the texts beside it, as far as its stubs go."""
    pk = item[schema.PK]["S"]
    try:
        return _decode(schema.task_id_of(pk), item, texts)
    except UNREADABLE as error:
        raise Corrupt(pk, repr(error)) from error


def _decode(task_id: str, item: Item, texts: Texts | None) -> Task:
    current, previous = _text(item, schema.CURRENT, texts), _text(item, schema.PREVIOUS, texts)
    progress = _text(item, schema.PROGRESS, texts)
    return Task(
        id=task_id,
        spec=codec.decode_spec(whole(item[schema.SPEC]["S"], texts)),
        status=Status(item[schema.STATUS]["S"]),
        token=item[schema.TOKEN]["S"],
        due_at=int(item[schema.DUE_AT]["N"]),
        wake=wake_in(item),
        created_at=int(item[schema.CREATED_AT]["N"]),
        updated_at=int(item[schema.UPDATED_AT]["N"]),
        budget=int(item[schema.BUDGET]["N"]),
        attempt=int(item[schema.ATTEMPT]["N"]),
        lease_until=number_in(item, schema.LEASE_UNTIL),
        holder=item[schema.HOLDER]["S"] if schema.HOLDER in item else None,
        current=codec.decode_attempt(current) if current else None,
        previous=codec.decode_attempt(previous) if previous else None,
        cancel_requested=schema.CANCEL_REQUESTED in item,
        sends=number_in(item, schema.SENDS) or 0,
        skips=number_in(item, schema.SKIPS) or 0,
        progress=codec.decode_progress(progress) if progress else None,
        result=_text(item, schema.RESULT, texts) or None,  # the stub of a long one is empty
        reason=item[schema.REASON]["S"] if schema.REASON in item else None,
    )


def wake_in(item: Item) -> Wake | None:
    if schema.WAKE_BUCKET not in item:
        return None
    return parse_wake(item[schema.WAKE_BUCKET]["S"], item[schema.WAKE_KEY]["S"])


def _text(item: Item, name: str, texts: Texts | None) -> str | None:
    return whole(item[name]["S"], texts) if name in item else None


def number_in(item: Item, name: str) -> int | None:
    return int(item[name]["N"]) if name in item else None
