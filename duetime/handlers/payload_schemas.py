"""The JSON Schema of the payload that a handler takes, for forms that submit its tasks."""

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from duetime.handlers.json_types import ANYTHING

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


def object_schema(
    members: Mapping[str, Schema], required: Sequence[str], others: Schema | None
) -> Schema:
    """Returns the schema of an object; `others` is that of its other members, None if it may have
    none."""
    found: Schema = {"type": "object", "properties": dict(members)}
    if required:
        found["required"] = list(required)
    return {**found, "additionalProperties": False if others is None else others or True}


def json_type_schema(kind: Any) -> Schema:
    """Returns the schema of an annotation of JSON's own types."""
    if any(kind is one for one in ANYTHING):
        return {}
    arguments, origin = get_args(kind), get_origin(kind) or kind
    if origin in (Union, UnionType):
        return {"anyOf": [json_type_schema(argument) for argument in arguments]}
    found: Schema = {"type": TYPES[origin]}
    if arguments and (inner := json_type_schema(arguments[-1])):
        found["items" if origin is list else "additionalProperties"] = inner
    return found
