"""Tasks as DynamoDB items.

Attribute values are encoded by hand: boto3's serializer is slow, and every path uses this.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from duetime.aws import schema
from duetime.aws.overflow import (
    Text,
    Texts,
    attempt_text,
    references,
    resolve,
    result_text,
    spec_text,
)
from duetime.core import codec
from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.large_texts import reference_in
from duetime.core.lifecycle import Status
from duetime.core.suspension import Suspension
from duetime.core.task import Attempt, Progress, Promotion, Spec, Task
from duetime.core.wakes import Wake, parse_wake

Item = Mapping[str, Mapping[str, Any]]
TaskItem = tuple[dict[str, dict[str, Any]], dict[str, str]]  # the item, its overflow rows
Attributes = dict[str, dict[str, Any] | None]  # None: the attribute must be absent
Encoded = tuple[Attributes, Text | None]

_TEXTS = (schema.SPEC, schema.CURRENT, schema.PREVIOUS, schema.RESULT)
_IMMUTABLE = ("id", "created_at")


def encode_task(task: Task, listing_bucket: str | None) -> TaskItem:
    """`listing_bucket` is None for a task that is in no list."""
    attributes, overflow = encode_fields(
        {f.name: getattr(task, f.name) for f in fields(Task) if f.name not in _IMMUTABLE}
    )
    item = {name: value for name, value in attributes.items() if value is not None}
    item[schema.PK] = {"S": schema.task_pk(task.id)}
    item[schema.SK] = {"S": schema.TASK}
    if listing_bucket is not None:
        item[schema.LISTING_BUCKET] = {"S": listing_bucket}
    item[schema.CREATED_AT] = {"N": str(task.created_at)}
    return item, overflow


def is_task(item: Item) -> bool:
    return bool(item[schema.SK]["S"] == schema.TASK)


def task_references(item: Item) -> list[str]:
    return references(item[name].get("S", "") for name in _TEXTS if name in item)


def refers_to_objects(item: Item) -> bool:
    """Whether the payload or the result may be an object, without decoding the item: a payload may
    have the name of our field in it."""
    result = item[schema.RESULT]["S"] if schema.RESULT in item else None
    return '"payload_object"' in item[schema.SPEC]["S"] or reference_in(result) is not None


def decode_task(item: Item, texts: Texts | None) -> Task:
    """Decodes an item. Without the texts of its overflow rows, the task has their stubs."""
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
        spec=codec.decode_spec(resolve(item[schema.SPEC]["S"], texts)),
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
        result=_text(item, schema.RESULT, texts) or None,  # the stub of a long result is empty
        reason=item[schema.REASON]["S"] if schema.REASON in item else None,
        body_hash=item[schema.BODY_HASH]["S"] if schema.BODY_HASH in item else None,
        promoted=_promotion_in(item),
        held=number_in(item, schema.HELD),
        grant=number_in(item, schema.GRANT),
        suspended=_suspension_in(item),
    )


def wake_in(item: Item) -> Wake | None:
    if schema.WAKE_BUCKET not in item:
        return None
    return parse_wake(item[schema.WAKE_BUCKET]["S"], item[schema.WAKE_KEY]["S"])


def _promotion_in(item: Item) -> Promotion | None:
    if schema.PROMOTED not in item:
        return None
    return codec.decode_promotion(item[schema.PROMOTED]["S"])


def _suspension_in(item: Item) -> Suspension | None:
    if schema.SUSPENDED not in item:
        return None
    return codec.decode_suspension(item[schema.SUSPENDED]["S"])


def _text(item: Item, name: str, texts: Texts | None) -> str | None:
    return resolve(item[name]["S"], texts) if name in item else None


def number_in(item: Item, name: str) -> int | None:
    return int(item[name]["N"]) if name in item else None


def encode_fields(values: Mapping[str, Any]) -> tuple[Attributes, dict[str, str]]:
    """Encodes fields of a task. Returns attributes, and the long texts to store before them."""
    attributes: Attributes = {}
    overflow: dict[str, str] = {}
    for name, value in values.items():
        encoded, text = _ENCODERS[name](value)
        attributes |= encoded
        if text is not None and text.overflow is not None:
            overflow[text.overflow[0]] = text.overflow[1]
    return attributes, overflow


def _number(value: int) -> dict[str, Any]:
    return {"N": str(value)}


def wake_attributes(wake: Wake | None) -> Attributes:
    if wake is None:
        return {schema.WAKE_BUCKET: None, schema.WAKE_KEY: None}
    return {schema.WAKE_BUCKET: {"S": wake.bucket}, schema.WAKE_KEY: {"S": wake.key}}


def _encode_spec(spec: Spec) -> Encoded:
    text = spec_text(spec)
    expires_at = None if spec.expires_at is None else _number(spec.expires_at)
    return {schema.SPEC: {"S": text.value}, schema.EXPIRES_AT: expires_at}, text


def _encode_result(result: str | None) -> Encoded:
    if result is None:
        return {schema.RESULT: None}, None
    text = result_text(result)
    return {schema.RESULT: {"S": text.value}}, text


def _attempt_in(name: str) -> Callable[[Attempt | None], Encoded]:
    def encode(attempt: Attempt | None) -> Encoded:
        if attempt is None:
            return {name: None}, None
        text = attempt_text(attempt)
        return {name: {"S": text.value}}, text

    return encode


def _encode_progress(progress: Progress | None) -> Encoded:
    text = None if progress is None else {"S": codec.encode_progress(progress)}
    return {schema.PROGRESS: text}, None


def _encode_promotion(promotion: Promotion | None) -> Encoded:
    text = None if promotion is None else {"S": codec.encode_promotion(promotion)}
    return {schema.PROMOTED: text}, None


def _encode_suspension(suspension: Suspension | None) -> Encoded:
    return {schema.SUSPENDED: suspension_value(suspension) if suspension else None}, None


def suspension_value(suspension: Suspension) -> dict[str, Any]:
    return {"S": codec.encode_suspension(suspension)}


def _string(name: str) -> Callable[[str | None], Encoded]:
    return lambda value: ({name: None if value is None else {"S": str(value)}}, None)


def _always(name: str) -> Callable[[int], Encoded]:
    return lambda value: ({name: _number(value)}, None)


def _unless_none(name: str) -> Callable[[int | None], Encoded]:
    return lambda value: ({name: None if value is None else _number(value)}, None)


def _unless_zero(name: str) -> Callable[[int], Encoded]:
    return lambda value: ({name: _number(value) if value else None}, None)


_ENCODERS: Mapping[str, Callable[[Any], Encoded]] = {
    "spec": _encode_spec,
    "status": _string(schema.STATUS),
    "token": _string(schema.TOKEN),
    "due_at": _always(schema.DUE_AT),
    "wake": lambda wake: (wake_attributes(wake), None),
    "updated_at": _always(schema.UPDATED_AT),
    "budget": _always(schema.BUDGET),
    "attempt": _always(schema.ATTEMPT),
    "lease_until": _unless_none(schema.LEASE_UNTIL),
    "holder": _string(schema.HOLDER),
    "current": _attempt_in(schema.CURRENT),
    "previous": _attempt_in(schema.PREVIOUS),
    "cancel_requested": lambda asked: (
        {schema.CANCEL_REQUESTED: {"BOOL": True} if asked else None},
        None,
    ),
    "sends": _unless_zero(schema.SENDS),
    "skips": _unless_zero(schema.SKIPS),
    "progress": _encode_progress,
    "result": _encode_result,
    "reason": _string(schema.REASON),
    "body_hash": _string(schema.BODY_HASH),
    "promoted": _encode_promotion,
    "held": _unless_none(schema.HELD),
    "grant": _unless_none(schema.GRANT),
    "suspended": _encode_suspension,
}
