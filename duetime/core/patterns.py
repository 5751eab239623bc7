"""Patterns: conditions on JSON, in the language and with the semantics of EventBridge.

    {"steps": {"check": {"result": {"amount": [{"numeric": [">", 100]}]}}}}

A pattern is an object with the keys that the value must have. Its leaves are lists: one of the
entries must match. A list in the value matches if one of its items does; what a pattern asks of an
object in a list must be true of the same object. An empty list counts as missing.

Matching needs no backtracking: each part of the value is looked at once, and a wildcard finds its
parts from left to right.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from operator import eq, ge, gt, le, lt
from typing import Any, Final

from duetime.core.codec import to_json

MAX_LEAVES: Final = 64  # lists
MAX_DEPTH: Final = 10  # objects within each other
MAX_PATTERN: Final = 8 * 1024  # bytes

Fault = tuple[str, str]  # the path, and the message

_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": lt,
    "<=": le,
    "=": eq,
    ">=": ge,
    ">": gt,
}
_MISSING: Final = object()


def matches(pattern: Mapping[str, Any], value: Any) -> bool:
    """Whether a value matches a pattern in which `check_pattern` finds no fault."""
    found = [inner for inner in _items(value) if isinstance(inner, dict)]
    return any(_has_all(pattern, inner) for inner in found or [{}])


def _has_all(pattern: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    return all(_has(inner, value.get(key, _MISSING)) for key, inner in pattern.items())


def _has(pattern: Any, value: Any) -> bool:
    if isinstance(pattern, dict):
        return matches(pattern, value)
    items = list(_items(value)) or [_MISSING]
    return any(_entry_matches(entry, item) for entry in pattern for item in items)


def _items(value: Any) -> Iterator[Any]:
    """Yields the value, or the items of a list and of the lists in it."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending += reversed(item)
        else:
            yield item


def _entry_matches(entry: Any, value: Any) -> bool:
    if not isinstance(entry, dict):
        return _same(entry, value)
    ((operator, wanted),) = entry.items()
    return _OPERATORS[operator][1](wanted, value)


def _same(wanted: Any, value: Any) -> bool:
    """Whether two scalars are the same in JSON, where true is not 1."""
    return isinstance(wanted, bool) is isinstance(value, bool) and wanted == value


def _has_prefix(prefix: str, value: Any) -> bool:
    return isinstance(value, str) and value.startswith(prefix)


def _fits_wildcard(wildcard: str, value: Any) -> bool:
    """Takes the first place for each part: if a later one fits, so does the first."""
    if not isinstance(value, str):
        return False
    first, *middle = _parts(wildcard)
    if not middle:
        return value == first
    *middle, last = middle
    if not value.startswith(first) or not value.endswith(last):
        return False
    at, end = len(first), len(value) - len(last)
    for part in middle:
        found = value.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return at <= end


def _parts(wildcard: str) -> list[str]:
    r"""Splits at each `*`. `\*` is an asterisk and `\\` a backslash."""
    parts = [""]
    characters = iter(wildcard)
    for character in characters:
        if character == "*":
            parts.append("")
        else:
            parts[-1] += next(characters, "") if character == "\\" else character
    return parts


def _is_anything_but(unwanted: Any, value: Any) -> bool:
    if value is _MISSING or isinstance(value, dict):
        return False
    return not any(_entry_matches(entry, value) for entry in _listed(unwanted))


def _is_in_range(comparisons: Sequence[Any], value: Any) -> bool:
    if not _is_number(value):
        return False
    pairs = zip(comparisons[::2], comparisons[1::2], strict=True)
    return all(_COMPARED[sign](value, number) for sign, number in pairs)


def _exists(wanted: bool, value: Any) -> bool:
    return (value is not _MISSING) is wanted


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_pattern(pattern: Any) -> list[Fault]:
    """Returns the faults of a pattern, each with the path of its part."""
    faults: list[Fault] = []
    leaves = 0
    pending: list[tuple[tuple[str, ...], Any]] = [((), pattern)]
    while pending:
        path, part = pending.pop()
        if isinstance(part, dict) and path and len(path) >= MAX_DEPTH:
            return [(_dotted(path), f"must be at most {MAX_DEPTH} objects deep")]
        if isinstance(part, dict):
            faults += _object_faults(path, part)
            inside = reversed(part.items())
            pending += [((*path, key), inner) for key, inner in inside if key != "$or"]
        elif isinstance(part, list) and path:
            leaves += 1
            faults += _leaf_faults(path, part)
        else:
            faults.append((_dotted(path), _shape_message(path)))
    if leaves > MAX_LEAVES:
        faults.append(("", f"must have at most {MAX_LEAVES} lists"))
    return faults or _size_faults(pattern)


def _dotted(path: Sequence[object]) -> str:
    return ".".join(str(part)[:60] for part in path)


def _shape_message(path: Sequence[str]) -> str:
    return "must be a list of values, or an object" if path else "must be an object"


def _object_faults(path: tuple[str, ...], part: Mapping[str, Any]) -> list[Fault]:
    if not part:
        return [(_dotted(path), "must have at least one key")]
    return [(_dotted((*path, "$or")), "is not supported")] if "$or" in part else []


def _leaf_faults(path: tuple[str, ...], entries: Sequence[Any]) -> list[Fault]:
    if not entries:
        return [(_dotted(path), "must have at least one value")]
    found = ((number, _entry_fault(entry)) for number, entry in enumerate(entries))
    return [(_dotted((*path, number)), message) for number, message in found if message]


def _size_faults(pattern: Any) -> list[Fault]:
    size = len(to_json(pattern).encode(errors="surrogatepass"))
    return [("", f"must be at most {MAX_PATTERN // 1024} KiB")] if size > MAX_PATTERN else []


def _entry_fault(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return _scalar_fault(entry)
    if len(entry) != 1:
        return f"must have one operator: {_KNOWN}"
    ((operator, wanted),) = entry.items()
    if operator not in _OPERATORS:
        return f"there is no operator {operator[:60]!r}; known: {_KNOWN}"
    fault = _OPERATORS[operator][0](wanted)
    return f"{operator} {fault}" if fault else None


def _scalar_fault(entry: Any) -> str | None:
    if isinstance(entry, list):
        return "must be a value or an operator, not a list"
    if isinstance(entry, float) and not isfinite(entry):
        return "must hold no number beyond 1.8e308"
    return None


def _prefix_fault(wanted: Any) -> str | None:
    return None if isinstance(wanted, str) else "must be a string"


def _wildcard_fault(wanted: Any) -> str | None:
    if not isinstance(wanted, str):
        return "must be a string"
    plain = wanted.replace("\\\\", "_").replace("\\*", "_")  # without what is escaped
    if "**" in plain:
        return "must not have two * side by side"
    if "\\" in plain:
        return "must have \\ only before * and \\"
    return None


def _anything_but_fault(unwanted: Any) -> str | None:
    entries = _listed(unwanted)
    if not entries:
        return "must have at least one value"
    for entry in entries:
        if isinstance(entry, dict) and not entry.keys() <= {"prefix", "wildcard"}:
            return "takes values, prefix and wildcard"
        if fault := _entry_fault(entry):
            return fault
    return None


def _numeric_fault(comparisons: Any) -> str | None:
    rule = 'must be such as [">", 0] or [">", 0, "<=", 5]'
    if not isinstance(comparisons, list) or len(comparisons) not in (2, 4):
        return rule
    signs, numbers = comparisons[::2], comparisons[1::2]
    if not all(isinstance(sign, str) and sign in _COMPARED for sign in signs):
        return f"must compare with one of {', '.join(_COMPARED)}"
    if not all(_is_number(number) and isfinite(number) for number in numbers):
        return rule
    return None


def _exists_fault(wanted: Any) -> str | None:
    return None if isinstance(wanted, bool) else "must be true or false"


# Of each operator: what finds its fault, and what matches a value.
_OPERATORS: Final[Mapping[str, tuple[Callable[[Any], str | None], Callable[[Any, Any], bool]]]] = {
    "prefix": (_prefix_fault, _has_prefix),
    "wildcard": (_wildcard_fault, _fits_wildcard),
    "anything-but": (_anything_but_fault, _is_anything_but),
    "numeric": (_numeric_fault, _is_in_range),
    "exists": (_exists_fault, _exists),
}
_KNOWN: Final = ", ".join(_OPERATORS)
