"""Types of the values in requests, and the messages for values that are not valid."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, ValidationError

from duetime.api.http import FieldError
from duetime.core.allowed_targets import TARGET_TYPES
from duetime.core.field_values import MAX_WORD, WORD, moment
from duetime.core.secrets import is_reference
from duetime.core.task_query import MAX_ERROR_TYPE
from duetime.core.times import Millis

_IN_DOCUMENT: dict[str, Any] = {"type": "string", "format": "date-time"}  # see openapi
Moment = Annotated[Millis, BeforeValidator(moment), Field(json_schema_extra=_IN_DOCUMENT)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=MAX_WORD, pattern=f"^{WORD}$")]
ErrorType = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ERROR_TYPE)]
FINGERPRINT = "^[0-9a-f]{16}$"


def fingerprint(text: str) -> str:
    if not re.fullmatch(FINGERPRINT, text):
        raise ValueError("must be the fingerprint of a group: 16 digits and letters from a to f")
    return text


Fingerprint = Annotated[
    str, AfterValidator(fingerprint), Field(json_schema_extra={"pattern": FINGERPRINT})
]
Seconds = Annotated[float, Field(ge=0, le=86_400)]


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
NO_SECRET = "takes no $secret; only url, headers and sign of an http target do"
# The fields that have one of several types: where pydantic puts the type, and the types.
_TYPED: Mapping[str, tuple[int, str]] = {
    "target": (1, ", ".join(map(repr, TARGET_TYPES))),
    "rule": (1, "'cron', 'rate', 'delay'"),
    "rules": (2, "'cron', 'rate', 'delay'"),
    "exclude": (2, "'cron', 'dates'"),
}


def field_errors(error: ValidationError) -> list[FieldError]:
    return [
        FieldError(_field(e["loc"], e["type"]), _message(e))
        for e in error.errors(include_url=False)
    ]


def _field(location: Sequence[int | str], kind: str) -> str:
    """Returns a path such as `retry.max_attempts`, without the type that pydantic puts behind
    `target`."""
    path = [str(part) for part in location]
    at, _ = _TYPED.get(path[0] if path else "", (len(path), ""))
    del path[at : at + 1]
    if _is_key(location):
        path.pop()
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        path.append("type")
    return ".".join(path) or "body"


def _message(error: Mapping[str, Any]) -> str:
    if error["type"] not in _MESSAGES:  # the message of one of our own validators
        return str(error["msg"]).removeprefix("Value error, ")
    if error["loc"][:1] == ("target",) and _is_unwanted_secret(error):
        return NO_SECRET
    _, types = _TYPED.get(error["loc"][0] if error["loc"] else "", (0, ""))
    message = _MESSAGES[error["type"]].format_map({**error.get("ctx", {}), "types": types})
    return f"the key {message}" if _is_key(error["loc"]) else message


def _is_unwanted_secret(error: Mapping[str, Any]) -> bool:
    """Whether a secret is named in a field that has another type."""
    wrong_type = error["type"].endswith("_type") or error["type"] == "literal_error"
    return wrong_type and is_reference(error["input"])


def _is_key(location: Sequence[int | str]) -> bool:
    """Whether the error is in the key of a tag, not in its value."""
    return len(location) == 3 and location[0] == "tags"
