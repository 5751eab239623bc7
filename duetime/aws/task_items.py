"""The fields of a task as attributes of an item.

Attribute values are written by hand: boto3's serializer is slow, and this is on every path.
"""

from collections.abc import Callable, Mapping
from typing import Any

from lambdas.aws import schema
from lambdas.aws.texts import Text, attempt_text, result_text, spec_text
from lambdas.core import codec
from lambdas.core.task import Attempt, Progress, Spec
from lambdas.core.wakes import Wake

Attributes = dict[str, dict[str, Any] | None]  # None: the attribute is to be absent
Encoded = tuple[Attributes, Text | None]


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
}
