"""Targets as submitted: the fields of each type, checked before anything is stored."""

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from duetime.api.http import FieldError, excerpt
from duetime.api.secret_models import SecretReference, TextOrSecret, UrlOrSecret
from duetime.core.masking import MASK, is_secret
from duetime.core.secrets import REFERENCE

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_SET_BY_DUETIME = {"idempotency-key", "duetime-attempt"}
_MASK_RULE = "means the stored value only in a change that keeps scheme, host and port"
SIGNATURE_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
_SET_BY_TRANSPORT = {
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}


def _headers(value: dict[str, Any]) -> dict[str, Any]:
    if REFERENCE in value:
        raise ValueError(f"must have a {REFERENCE} for each header, not one for all")
    for name, text in value.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"must have names that HTTP allows, unlike {excerpt(name, 60)!r}")
        if isinstance(text, str) and not _HEADER_VALUE.fullmatch(text):
            raise ValueError(
                f"must have values that HTTP allows, unlike that of {excerpt(name, 60)}"
            )
        if text == MASK and is_secret(name):
            raise ValueError(
                f"must have the real value of {excerpt(name, 60)}; {MASK} {_MASK_RULE}"
            )
        if name.lower() in _SET_BY_DUETIME:
            raise ValueError(f"must leave {name} to Duetime")
        if name.lower() in _SET_BY_TRANSPORT:
            raise ValueError(f"must leave {name} to the connection")
    return value


class TargetIn(BaseModel):
    """The base of all targets."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def errors(self, payload: Any) -> list[FieldError]:
        """Returns what pydantic cannot check: fields that contradict each other, and a payload that
        the target cannot send."""
        return [*self.field_errors(), *self.payload_errors(payload)]

    def field_errors(self) -> list[FieldError]:
        return []

    def payload_errors(self, payload: Any) -> list[FieldError]:  # noqa: ARG002
        return []


class HttpTarget(TargetIn):
    type: Literal["http"]
    url: UrlOrSecret
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: Annotated[dict[str, TextOrSecret], Field(max_length=50), AfterValidator(_headers)] = {}
    sign: SecretReference | None = None

    @field_validator("sign")
    @classmethod
    def _sets_its_own_headers(cls, sign: Any, info: ValidationInfo) -> Any:
        for name in info.data.get("headers", {}) if sign else ():
            if name.lower() in SIGNATURE_HEADERS:
                raise ValueError(f"sets {name}: leave it out of headers")
        return sign

    def stored(self) -> dict[str, Any]:
        optional = {"headers": self.headers, "sign": self.sign}
        given = {name: part for name, part in optional.items() if part}
        return {"type": "http", "url": self.url, "method": self.method, **given}


class PythonTarget(TargetIn):
    type: Literal["python"]
    handler: Annotated[str, StringConstraints(min_length=1, max_length=256)]

    def stored(self) -> dict[str, Any]:
        return {"type": "python", "handler": self.handler}


Target = Annotated[HttpTarget | PythonTarget, Field(discriminator="type")]
