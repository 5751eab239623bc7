"""A task as a DynamoDB item.

Every field that a condition looks at is an attribute of its own. A field at its default is left
out, but for the few that conditions and readers always want. Attribute values are written by
hand: boto3's serializer is slow, and this is on every path.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from lambdas.aws import schema
from lambdas.aws.texts import Text, Texts, attempt_text, references, result_text, spec_text, whole
from lambdas.core import codec
from lambdas.core.errors import Corrupt
from lambdas.core.lifecycle import Status
from lambdas.core.task import Attempt, Progress, Spec, Task
from lambdas.core.wakes import Wake, parse_wake

Item = Mapping[str, Mapping[str, Any]]
Attributes = dict[str, dict[str, Any] | None]  # None: the attribute is to be absent
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
    item[schema.CREATED_AT] = _number(task.created_at)
    return item, beside


def encode_fields(values: Mapping[str, Any]) -> tuple[Attributes, dict[str, str]]:
    """Fields of a task as attributes, and the long texts that must be stored first."""
    attributes: Attributes = {}
    beside: dict[str, str] = {}
    for name, value in values.items():
        encoded, text = _ENCODERS[name](value)
        attributes |= encoded
        if text is not None and text.beside is not None:
            beside[text.beside[0]] = text.beside[1]
    return attributes, beside


def is_task(item: Item) -> bool:
    return bool(item[schema.SK]["S"] == schema.TASK)


def task_references(item: Item) -> list[str]:
    return references(item[name].get("S", "") for name in _TEXTS if name in item)


def decode_task(item: Item, texts: Texts | None) -> Task:
    """The task that an item stands for; without the texts beside it, as far as its stubs go."""
    pk = item[schema.PK]["S"]
    try:
        return _decode(schema.task_id_of(pk), item, texts)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise Corrupt(pk, repr(error)) from error


def _decode(task_id: str, item: Item, texts: Texts | None) -> Task:
    current, previous = _text(item, schema.CURRENT, texts), _text(item, schema.PREVIOUS, texts)
    progress, result = _text(item, schema.PROGRESS, texts), _text(item, schema.RESULT, texts)
    return Task(
        id=task_id,
        spec=codec.decode_spec(whole(item[schema.SPEC]["S"], texts)),
        status=Status(item[schema.STATUS]["S"]),
        token=item[schema.TOKEN]["S"],
        due_at=int(item[schema.DUE_AT]["N"]),
        wake=_wake(item),
        created_at=int(item[schema.CREATED_AT]["N"]),
        updated_at=int(item[schema.UPDATED_AT]["N"]),
        budget=int(item[schema.BUDGET]["N"]),
        attempt=int(item[schema.ATTEMPT]["N"]),
        lease_until=_optional(item, schema.LEASE_UNTIL),
        holder=item[schema.HOLDER]["S"] if schema.HOLDER in item else None,
        current=codec.decode_attempt(current) if current else None,
        previous=codec.decode_attempt(previous) if previous else None,
        cancel_requested=schema.CANCEL_REQUESTED in item,
        sends=_optional(item, schema.SENDS) or 0,
        skips=_optional(item, schema.SKIPS) or 0,
        progress=codec.decode_progress(progress) if progress else None,
        result=codec.from_json(result) if result else None,
    )


def _wake(item: Item) -> Wake | None:
    if schema.WAKE_BUCKET not in item:
        return None
    return parse_wake(item[schema.WAKE_BUCKET]["S"], item[schema.WAKE_KEY]["S"])


def _text(item: Item, name: str, texts: Texts | None) -> str | None:
    return whole(item[name]["S"], texts) if name in item else None


def _optional(item: Item, name: str) -> int | None:
    return int(item[name]["N"]) if name in item else None


def _number(value: int) -> dict[str, Any]:
    return {"N": str(value)}


Encoded = tuple[Attributes, Text | None]


def _encode_wake(wake: Wake | None) -> Encoded:
    if wake is None:
        return {schema.WAKE_BUCKET: None, schema.WAKE_KEY: None}, None
    return {schema.WAKE_BUCKET: {"S": wake.bucket}, schema.WAKE_KEY: {"S": wake.key}}, None


def _encode_spec(spec: Spec) -> Encoded:
    text = spec_text(spec)
    expires_at = None if spec.expires_at is None else _number(spec.expires_at)
    return {schema.SPEC: {"S": text.value}, schema.EXPIRES_AT: expires_at}, text


def _encode_result(result: Any) -> Encoded:
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
    "wake": _encode_wake,
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
}
