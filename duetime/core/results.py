"""The result of a task: JSON text, encoded once, in the thread that made the value.

Everything after that handles the text. So a value that another thread goes on changing, or one
that is nested deeper than an encoder can follow, fails its own attempt and nothing else, and a
role that only records or lists tasks never parses a result.
"""

import re
from typing import Any, NamedTuple

from lambdas.core.codec import from_json, to_json
from lambdas.core.errors import BadResult

SIZE_LIMIT = 64 * 1024  # bytes
DEPTH_LIMIT = 100
# An earlier release stored what was nested deeper. This much of it fits into any answer:
# pydantic_core stops at 255 levels.
READABLE_DEPTH = 200

_STRINGS_AND_BRACKETS = r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]'


class Encoded(str):
    """A result that is text already: the child of an isolated handler has encoded it."""

    __slots__ = ()


class Decoded(NamedTuple):
    value: Any
    note: str | None = None  # why there is no value, though there is a result


def encode_result(result: Any) -> str | None:
    """The text of a result. Raises BadResult for one that cannot be stored."""
    if result is None:
        return None
    if type(result) is Encoded:
        return str(result)
    try:
        text = to_json(result)
        size = _size(text)
    except Exception:  # noqa: BLE001 - classes of the handler's own may raise anything
        text = _converted(result)
        size = _size(text)
    if size > SIZE_LIMIT:
        raise BadResult("the result is over 64 KiB")
    if is_deeper(text, DEPTH_LIMIT):
        raise BadResult(f"the result is nested more than {DEPTH_LIMIT} levels deep")
    return text


def decode_result(text: str | None) -> Decoded:
    if text is None:
        return Decoded(None)
    if is_deeper(text, READABLE_DEPTH):
        return Decoded(None, f"nested more than {READABLE_DEPTH} levels deep")
    try:
        return Decoded(from_json(text))
    except ValueError:
        return Decoded(None, "not JSON")


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _converted(result: Any) -> str:
    """The text of what JSON has no types for."""
    from lambdas.core.json_values import NotJson, to_json_value  # most results do not need it

    try:
        return to_json(to_json_value(result, levels=DEPTH_LIMIT))
    except NotJson as error:
        where = f"result.{error.path}" if error.path else "result"
        raise BadResult(f"{where}: {error.reason}") from None
    except Exception as error:  # noqa: BLE001 - as above; and another thread may be changing it
        raise BadResult(f"the result cannot be encoded: {error!r}") from None


def is_deeper(text: str, levels: int) -> bool:
    """Whether objects and arrays are nested more than `levels` deep in a JSON text. It counts
    instead of parsing, because a parser follows the nesting with its own stack."""
    if text.count("[") + text.count("{") <= levels:
        return False
    depth = 0
    for token in re.finditer(_STRINGS_AND_BRACKETS, text, re.DOTALL):
        match token[0]:
            case "[" | "{":
                depth += 1
                if depth > levels:
                    return True
            case "]" | "}":
                depth -= 1
    return False
