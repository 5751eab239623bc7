"""Targets as submitted. Each type's fields are checked here, before anything is stored."""

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_OURS = {"idempotency-key", "duetime-attempt"}
_TRANSPORT = {"host", "content-length", "transfer-encoding", "connection"}


def _url(value: str) -> str:
    if any(c.isspace() or not c.isprintable() for c in value):
        raise ValueError("a URL has no spaces or control characters")
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"not a URL: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("not an http:// or https:// URL")
    if parts.username is not None:
        raise ValueError("credentials do not belong in a URL; send them as a header")
    return value


def _headers(value: dict[str, str]) -> dict[str, str]:
    for name, text in value.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a header name")
        if not _HEADER_VALUE.fullmatch(text):
            raise ValueError(f"the value of {name} has characters that no header can carry")
        if name.lower() in _OURS:
            raise ValueError(f"{name} is set by Duetime")
        if name.lower() in _TRANSPORT:
            raise ValueError(f"{name} is set by the connection")
    return value


class HttpTarget(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    type: Literal["http"]
    url: Annotated[str, StringConstraints(max_length=2_048), AfterValidator(_url)]
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: Annotated[dict[str, str], Field(max_length=50), AfterValidator(_headers)] = {}

    def stored(self) -> dict[str, Any]:
        body: dict[str, Any] = {"type": "http", "url": self.url, "method": self.method}
        return body | {"headers": self.headers} if self.headers else body


class PythonTarget(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    type: Literal["python"]
    handler: Annotated[str, StringConstraints(min_length=1, max_length=256)]

    def stored(self) -> dict[str, Any]:
        return {"type": "python", "handler": self.handler}


Target = Annotated[HttpTarget | PythonTarget, Field(discriminator="type")]
