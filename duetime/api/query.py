"""Query parameters of a request. A parameter that the endpoint does not read is an error."""

import re
from enum import StrEnum
from typing import TypeVar, overload

from duetime.api.http import FieldError, Request, invalid
from duetime.core.field_values import WORD_RULE, is_word, moment
from duetime.core.task_query import MAX_ERROR_TYPE
from duetime.core.times import Millis

ALL_NAMESPACES = "*"
DEFAULT_LIMIT = 50
MAX_LIMIT = 100

_LOST_PLUS = re.compile(r":\d\d(\.\d+)? \d\d:\d\d$")

E = TypeVar("E", bound=StrEnum)


class Query:
    def __init__(self, request: Request) -> None:
        self._left = dict(request.query)

    def text(self, name: str) -> str | None:
        value = self._left.pop(name, None) or None
        if value is not None and not isinstance(value, str):
            raise invalid([FieldError(name, "must be given only once")])
        return value

    def several(self, name: str, *, separator: str | None = None) -> list[str]:
        """Returns the values of a parameter that may be repeated or, with a separator, be a list in
        one value."""
        value = self._left.pop(name, None) or []
        texts = [value] if isinstance(value, str) else value
        parts = texts if separator is None else [p for t in texts for p in t.split(separator)]
        return [part for part in parts if part]

    @overload
    def word(self, name: str, default: str) -> str: ...
    @overload
    def word(self, name: str) -> str | None: ...
    def word(self, name: str, default: str | None = None) -> str | None:
        value = self.text(name) or default
        if value is not None and not is_word(value):
            raise invalid([FieldError(name, WORD_RULE)])
        return value

    def namespace_or_all(self) -> str | None:
        """Returns the namespace to list; None for all of them."""
        text = self.text("namespace") or "default"
        if text != ALL_NAMESPACES and not is_word(text):
            raise invalid([FieldError("namespace", f"{WORD_RULE}, or {ALL_NAMESPACES} for all")])
        return None if text == ALL_NAMESPACES else text

    def error_type(self, name: str) -> str | None:
        value = self.text(name)
        if value is not None and len(value) > MAX_ERROR_TYPE:
            message = f"must have at most {MAX_ERROR_TYPE} characters"
            raise invalid([FieldError(name, message)])
        return value

    def moment(self, name: str) -> Millis | None:
        value = self.time_text(name)
        if value is None:
            return None
        try:
            return moment(value)
        except ValueError as error:
            raise invalid([FieldError(name, str(error))]) from None

    def time_text(self, name: str) -> str | None:
        value = self.text(name)
        if value is not None and _LOST_PLUS.search(value):
            raise invalid([FieldError(name, "must have its + written as %2B in a URL")])
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

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.text(name)
        if value not in (None, "true", "false"):
            raise invalid([FieldError(name, "must be true or false")])
        return default if value is None else value == "true"

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
