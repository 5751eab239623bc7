"""Targets as submitted: the fields of each type, checked before anything is stored."""

import re
from ipaddress import IPv6Address
from typing import Annotated, Any, Literal
from urllib.parse import SplitResult, urlsplit

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
from duetime.api.secret_models import SecretReference, TextOrSecret
from duetime.core.masking import MASK, is_secret

_HOST = re.compile(r"[A-Za-z0-9._-]+")
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


def _url(value: str) -> str:
    if any(c.isspace() or not c.isprintable() for c in value):
        raise ValueError("must have no spaces or control characters")
    try:
        parts = urlsplit(value)
    except ValueError:
        raise ValueError("must have a host that is a name or an address") from None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError("must be an http:// or https:// URL")
    if parts.username is not None:
        raise ValueError("must have no credentials in it; send them as a header")
    if not _is_host(parts):
        raise ValueError("must have a host that is a name or an address")
    if not _is_port(parts):
        raise ValueError("must have a port from 1 to 65535, or none")
    return value


def _is_host(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    try:
        if "[" in parts.netloc:
            return bool(IPv6Address(host))
        host = host.encode("idna").decode()
    except ValueError:  # no address; a label that is empty, too long or not a name
        return False
    return len(host) <= 253 and _HOST.fullmatch(host) is not None


def _is_port(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


def _headers(value: dict[str, Any]) -> dict[str, Any]:
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
    url: Annotated[
        str,
        StringConstraints(max_length=2_048),
        AfterValidator(_url),
        Field(json_schema_extra={"format": "uri"}),
    ]
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
