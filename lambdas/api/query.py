"""The query of a request, read parameter by parameter; what is left over is an error."""

import re
from enum import StrEnum
from typing import TypeVar

from lambdas.api.http import FieldError, Request, invalid

DEFAULT_LIMIT = 50
MAX_LIMIT = 100

E = TypeVar("E", bound=StrEnum)


class Query:
    def __init__(self, request: Request) -> None:
        self._left = dict(request.query)

    def text(self, name: str) -> str | None:
        return self._left.pop(name, None) or None

    def word(self, name: str, default: str) -> str:
        value = self.text(name) or default
        if not re.fullmatch(r"[A-Za-z0-9._:\-]{1,128}", value):
            raise invalid([FieldError(name, "must be 1 to 128 letters, digits and ._:- only")])
        return value

    def number(self, name: str, default: int) -> int:
        value = self.text(name)
        if value is None:
            return default
        if not re.fullmatch(r"[0-9]{1,9}", value):
            raise invalid([FieldError(name, "must be a whole number")])
        return int(value)

    def limit(self) -> int:
        value = self.number("limit", DEFAULT_LIMIT)
        if not 1 <= value <= MAX_LIMIT:
            raise invalid([FieldError("limit", f"must be from 1 to {MAX_LIMIT}")])
        return value

    def one_of(self, name: str, kind: type[E]) -> E | None:
        value = self.text(name)
        if value is None:
            return None
        if value not in list(kind):
            raise invalid([FieldError(name, f"must be one of {', '.join(kind)}")])
        return kind(value)

    def done(self) -> None:
        if self._left:
            raise invalid([FieldError(name, "unknown parameter") for name in self._left])
