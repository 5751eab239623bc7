"""Types of the fields of targets that may name a secret: `{"$secret": "name"}`."""

from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from duetime.core.http_urls import MAX_URL, url_fault
from duetime.core.secrets import NAME_RULE, REFERENCE, is_name, is_reference

EXAMPLE = '{"$secret": "name"}'


def _reference(given: Any) -> dict[str, str]:
    if not is_reference(given):
        raise ValueError(f"must be {EXAMPLE}")
    if len(given) > 1:
        raise ValueError(f"must have no field beside {REFERENCE}")
    if not is_name(given[REFERENCE]):
        raise ValueError(f"the name of a secret {NAME_RULE}")
    return {REFERENCE: given[REFERENCE]}


def _text_or_reference(given: Any) -> str | dict[str, str]:
    if isinstance(given, str):
        return given
    if not isinstance(given, dict):
        raise ValueError("must be a string")
    return _reference(given)


def _url_or_reference(given: Any) -> str | dict[str, str]:
    checked = _text_or_reference(given)
    if isinstance(checked, str) and (fault := url_fault(checked)):
        raise ValueError(fault)
    return checked


_SCHEMA = {
    "type": "object",
    "properties": {REFERENCE: {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"}},
    "required": [REFERENCE],
    "additionalProperties": False,
}

SecretReference = Annotated[dict[str, str], PlainValidator(_reference), WithJsonSchema(_SCHEMA)]
TextOrSecret = Annotated[
    str | dict[str, str],
    PlainValidator(_text_or_reference),
    WithJsonSchema({"anyOf": [{"type": "string"}, _SCHEMA]}),
]
UrlOrSecret = Annotated[
    str | dict[str, str],
    PlainValidator(_url_or_reference),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "uri", "maxLength": MAX_URL}, _SCHEMA]}),
]
