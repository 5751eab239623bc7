"""The JSON Schema of the payload that a handler takes, for forms that submit its tasks."""

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from duetime.handlers.json_types import ANYTHING, is_json_type

TYPES: Mapping[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    list: "array",
    dict: "object",
}

Schema = dict[str, Any]


def type_schema(kind: Any) -> Schema:
    """Returns the schema of an annotation; an empty one, which fits everything, for a type that has
    none."""
    if is_json_type(kind):
        return _of_json_type(kind)
    from pydantic import PydanticUserError, TypeAdapter

    try:
        return TypeAdapter(kind).json_schema()
    except PydanticUserError:
        return {}


def object_schema(
    members: Mapping[str, Schema], required: Sequence[str], others: Schema | None
) -> Schema:
    """Returns the schema of an object; `others` is that of its other members, None if it may have
    none."""
    found: Schema = {"type": "object", "properties": dict(members)}
    if required:
        found["required"] = list(required)
    return {**found, "additionalProperties": False if others is None else others or True}


def _of_json_type(kind: Any) -> Schema:
    if any(kind is one for one in ANYTHING):
        return {}
    arguments, origin = get_args(kind), get_origin(kind) or kind
    if origin in (Union, UnionType):
        return {"anyOf": [_of_json_type(argument) for argument in arguments]}
    found: Schema = {"type": TYPES[origin]}
    if arguments and (inner := _of_json_type(arguments[-1])):
        found["items" if origin is list else "additionalProperties"] = inner
    return found
