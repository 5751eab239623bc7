"""What pydantic finds wrong with a body, said in our words and under the names of our fields."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from lambdas.api.http import FieldError

_MESSAGES: Mapping[str, str] = {
    "missing": "required",
    "extra_forbidden": "unknown field",
    "string_type": "must be a string",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must have only letters, digits and ._:-",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "greater_than_equal": "must be at least {ge:.0f}",
    "less_than_equal": "must be at most {le:.0f}",
    "literal_error": "must be {expected}",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "list_type": "must be a list",
    "too_short": "must have at least {min_length} entry",
    "too_long": "must have at most {max_length} entries",
    "union_tag_not_found": "required; one of {types}",
    "union_tag_invalid": "must be one of {expected_tags}",
}
# The fields that are one of several types: where pydantic puts the type, and which there are.
_TYPED: Mapping[str, tuple[int, str]] = {
    "target": (1, "'http', 'python'"),
    "rule": (1, "'cron', 'rate', 'delay'"),
    "rules": (2, "'cron', 'rate', 'delay'"),
    "exclude": (2, "'cron', 'dates'"),
}


def field_errors(error: ValidationError) -> list[FieldError]:
    return [
        FieldError(_field(e["loc"], e["type"]), _message(e))
        for e in error.errors(include_url=False, include_input=False)
    ]


def _field(location: Sequence[int | str], kind: str) -> str:
    """`retry.max_attempts`; the type that pydantic puts behind `target` is not part of it."""
    path = [str(part) for part in location]
    at, _ = _TYPED.get(path[0] if path else "", (len(path), ""))
    del path[at : at + 1]
    if _is_key(location):
        path.pop()
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        path.append("type")
    return ".".join(path) or "body"


def _message(error: Mapping[str, Any]) -> str:
    if error["type"] not in _MESSAGES:  # one of our own validators has said it
        return str(error["msg"]).removeprefix("Value error, ")
    _, types = _TYPED.get(error["loc"][0] if error["loc"] else "", (0, ""))
    said = _MESSAGES[error["type"]].format_map({**error.get("ctx", {}), "types": types})
    return f"the key {said}" if _is_key(error["loc"]) else said


def _is_key(location: Sequence[int | str]) -> bool:
    """Whether it is the key of a tag that is wrong, and not its value."""
    return len(location) == 3 and location[0] == "tags"
