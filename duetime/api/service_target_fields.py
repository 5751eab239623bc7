"""What the targets of services share: types of fields, limits, and the base of the models."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StringConstraints

from duetime.api.http import FieldError, excerpt
from duetime.api.target_models import TargetIn
from duetime.api.task_models import stored_size
from duetime.core.arns import EXAMPLES, is_arn_of, pattern_of
from duetime.core.field_values import WORD_RULE, is_word

KIB, MIB = 1024, 1024 * 1024
MAX_ATTRIBUTES = 8  # of the ten that a message may have; Duetime adds two
MAX_RECIPIENTS = 50  # of SES
ATTRIBUTE_OVERHEAD = 200  # bytes of Duetime's own attributes, generously

_ATTRIBUTE_NAME = re.compile(r"(?!AWS\.|Amazon\.|\.)[\w.-]{1,256}(?<!\.)", re.ASCII | re.I)
_GROUP = re.compile(r"[\x21-\x7e]{1,128}")
_LOCAL_PART = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}"
_DOMAIN = r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9-]{1,63}"
_ADDRESS = re.compile(rf"{_LOCAL_PART}@{_DOMAIN}")
_NAMED_ADDRESS = re.compile(rf'(?:[^\x00-\x1f\x7f<>",;:@\\]+ )?<({_LOCAL_PART}@{_DOMAIN})>')
NO_MESSAGE_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # SQS refuses it
LINE_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def arn_of(target_type: str) -> AfterValidator:
    def check(text: str) -> str:
        if not is_arn_of(target_type, text):
            raise ValueError(f"must be an ARN such as {EXAMPLES[target_type]}")
        return text

    return AfterValidator(check)


def arn_schema(target_type: str) -> Any:
    """Returns what the document shows of an ARN."""
    return in_document(pattern=f"^{pattern_of(target_type)}$")


def in_document(**schema: str) -> Any:
    return Field(json_schema_extra={**schema})


def matching(pattern: re.Pattern[str], rule: str) -> AfterValidator:
    def check(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(rule)
        return text

    return AfterValidator(check)


def _attributes(given: dict[str, str]) -> dict[str, str]:
    for name, text in given.items():
        if not _ATTRIBUTE_NAME.fullmatch(name) or ".." in name:
            raise ValueError(f"must have names that AWS allows, unlike {excerpt(name, 60)!r}")
        if name.lower().startswith("duetime-"):
            raise ValueError(f"must leave {excerpt(name, 60)} to Duetime")
        if not text or NO_MESSAGE_TEXT.search(text):
            message = f"must have values that AWS allows, unlike that of {excerpt(name, 60)}"
            raise ValueError(message)
    return given


def _address(text: str) -> str:
    if len(text) > 320 or not (_ADDRESS.fullmatch(text) or _NAMED_ADDRESS.fullmatch(text)):
        raise ValueError("must be an address such as ann@example.com or Ann <ann@example.com>")
    return text


def _word(text: str) -> str:
    if not is_word(text):
        raise ValueError(WORD_RULE)
    return text


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


Attributes = Annotated[
    dict[str, str], Field(max_length=MAX_ATTRIBUTES), AfterValidator(_attributes)
]
Group = Annotated[
    str,
    matching(_GROUP, "must be 1 to 128 visible ASCII characters"),
    in_document(pattern=f"^{_GROUP.pattern}$"),
]
Address = Annotated[str, AfterValidator(_address)]
Addresses = Annotated[
    list[Address],
    BeforeValidator(_as_list, json_schema_input_type=Address | list[Address]),
    Field(max_length=MAX_RECIPIENTS),
]
Name = Annotated[str, AfterValidator(_word), in_document(pattern="^[A-Za-z0-9._:-]{1,128}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=128)]


class ServiceTarget(TargetIn):
    model_config = ConfigDict(extra="forbid", strict=True, validate_by_alias=True)

    def stored(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, exclude_defaults=True)


def sent_size(payload: Any) -> int:
    """Returns the bytes that a service gets: a string as it is, everything else as JSON."""
    if isinstance(payload, str):
        return len(payload.encode(errors="surrogatepass"))
    return stored_size(payload)


def too_large(size: int, limit: int, service: str) -> list[FieldError]:
    if size <= limit:
        return []
    shown = f"{limit // MIB} MiB" if limit % MIB == 0 else f"{limit // KIB} KiB"
    return [FieldError("payload", f"must be at most {shown}, the limit of {service}")]


def need_object(payload: Any, what: str) -> list[FieldError]:
    return [] if isinstance(payload, dict) else [FieldError("payload", f"must be {what}")]
