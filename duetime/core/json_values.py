"""Conversion of Python values to JSON values, for handlers' results and clients' payloads.

Some classes are recognised by name or by a method, so that their modules are not imported for
values that never occur: no handler waits for pydantic, no cold function for uuid or decimal.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from enum import Enum
from math import isfinite
from typing import Any, NamedTuple

from duetime.core.errors import DuetimeError

ARRAYS = (list, tuple, set, frozenset, deque)
AS_TEXT = frozenset(
    {
        ("decimal", "Decimal"),
        ("ipaddress", "IPv4Address"),
        ("ipaddress", "IPv6Address"),
        ("uuid", "UUID"),
    }
)


class NotJson(DuetimeError):
    """The value cannot be converted. `path` locates the fault, as in `items.3`; empty for the value
    itself."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


class _Place(NamedTuple):
    path: tuple[object, ...]
    levels: int  # of nesting still allowed
    naive_times: bool

    def inside(self, part: object) -> "_Place":
        return _Place((*self.path, part), self.levels - 1, self.naive_times)

    def refuse(self, reason: str) -> NotJson:
        return NotJson(".".join(str(part)[:60] for part in self.path), reason)

    def check_depth(self) -> None:
        if not self.levels:
            raise NotJson("", f"nested more than {len(self.path)} levels deep, or within itself")


def to_json_value(value: Any, *, levels: int, naive_times: bool = True) -> Any:
    """Returns the value in JSON's types. Raises NotJson for a type without a JSON form, for nesting
    of more than `levels`, and, unless `naive_times`, for a datetime without a time zone."""
    return _convert(value, _Place((), levels, naive_times))


def _convert(value: Any, place: _Place) -> Any:
    """Recurses no deeper than the remaining levels."""
    if isinstance(value, Enum):
        return _convert(value.value, place)
    if isinstance(value, ARRAYS):
        place.check_depth()
        return [_convert(item, place.inside(number)) for number, item in enumerate(value)]
    if (members := _members(value, place)) is not None:
        place.check_depth()
        return {name: _convert(item, place.inside(name)) for name, item in members}
    if callable(getattr(value, "model_dump", None)) and not isinstance(value, type):
        return _convert(_dumped(value, place), place)
    return _scalar(value, place)


def _members(value: Any, place: _Place) -> list[tuple[Any, Any]] | None:
    """Returns the members of a value that becomes a JSON object, None for other values."""
    if isinstance(value, Mapping):
        return [(_key(key, place), item) for key, item in value.items()]
    if is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in fields(value)]
    return None


def _key(key: Any, place: _Place) -> Any:
    """Returns a JSON key. `json` itself turns numbers, booleans and None into text."""
    if isinstance(key, Enum):
        return _key(key.value, place)
    if isinstance(key, str | int | float | date | time | None) or _is_known(key):
        return _scalar(key, place)
    name = type(key).__name__
    raise place.refuse(f"a key of type {name} is not JSON; use text, a number, a date or a UUID")


def _dumped(model: Any, place: _Place) -> Any:
    """Returns a pydantic model as the model itself converts it."""
    try:
        return model.model_dump(mode="json")
    except Exception as error:
        reason = f"model_dump() of {type(model).__name__} failed: {error}"
        raise place.refuse(reason) from error


def _scalar(value: Any, place: _Place) -> Any:
    match value:
        case None | bool() | int():
            return value
        case float():
            return _number(value, place)
        case str():
            return _text(value, place)
        case date() | time():
            return _moment(value, place)
        case timedelta():
            return value.total_seconds()
    return _text(_as_text(value, place), place)


def _number(value: float, place: _Place) -> float:
    if not isfinite(value):
        raise place.refuse(f"{value} is not JSON; use None or text")
    return value


def _text(value: str, place: _Place) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise place.refuse("text with half a surrogate pair is not JSON") from None
    return value


def _moment(value: date | time, place: _Place) -> str:
    if not place.naive_times and isinstance(value, datetime) and value.utcoffset() is None:
        raise place.refuse("a datetime needs a time zone; give it a tzinfo")
    return value.isoformat()


def _as_text(value: Any, place: _Place) -> str:
    if _is_known(value):
        return str(value)
    if hasattr(value, "__fspath__") and isinstance(found := value.__fspath__(), str):
        return found
    raise place.refuse(_refusal(value))


def _is_known(value: Any) -> bool:
    return any((kind.__module__, kind.__name__) in AS_TEXT for kind in type(value).__mro__)


def _refusal(value: Any) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return "bytes are not JSON; use decode() of them, or base64 text"
    if hasattr(value, "tolist"):  # an array or a number of numpy's
        instead = "its tolist()"
    elif isinstance(value, Iterable):
        instead = "list() of it"
    else:
        instead = "its id, or str() of it"
    return f"a value of type {type(value).__name__} is not JSON; use {instead}"
