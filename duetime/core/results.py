"""The result of a task: JSON text, encoded once, in the thread that produced the value.

Everything after that handles the text. So a value that another thread keeps changing, or that is
nested too deeply for the encoder, fails its own attempt and nothing else, and a role that only
records or lists tasks never parses a result.
"""

import re
from typing import Any, NamedTuple

from duetime.core.codec import from_json, to_json
from duetime.core.errors import BadResult
from duetime.core.large_texts import is_too_large, reference_in

SIZE_LIMIT = 64 * 1024  # bytes; a longer result is an object: see duetime.core.large_texts
DEPTH_LIMIT = 100
# Earlier releases stored results that are nested deeper. This depth fits into any answer:
# pydantic_core stops at 255 levels.
READABLE_DEPTH = 200

_STRINGS_AND_BRACKETS = r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]'


class Encoded(str):
    """A result that is already JSON text: the process of an isolated handler encoded it."""

    __slots__ = ()


class Decoded(NamedTuple):
    value: Any
    note: str | None = None  # why a stored result has no value


def encode_result(result: Any, *, large: bool = False) -> str | None:
    """Returns the JSON text of a result. Raises BadResult if it cannot be stored. `large` says that
    there is a place for a large one."""
    if result is None:
        return None
    if type(result) is Encoded:
        text, size = str(result), _size(result)
    else:
        text, size = _encoded(result)
    if size > SIZE_LIMIT and not large:
        raise BadResult("the result is over 64 KiB")
    if size > SIZE_LIMIT and is_too_large(text):
        raise BadResult("the result is over 5 MiB, or over 5.75 MiB as a JSON string")
    if type(result) is not Encoded and is_deeper(text, DEPTH_LIMIT):  # that process has checked it
        raise BadResult(f"the result is nested more than {DEPTH_LIMIT} levels deep")
    return text


def _encoded(result: Any) -> tuple[str, int]:
    """Returns the JSON text and its size in bytes."""
    try:
        text = to_json(result)
        return text, _size(text)
    except Exception:  # noqa: BLE001 - the handler's own classes may raise anything
        text = _converted(result)
        return text, _size(text)


def decode_result(text: str | None) -> Decoded:
    if text is None:
        return Decoded(None)
    if (reference := reference_in(text)) is not None:
        return Decoded(None, f"{reference.size:,} bytes")
    if is_deeper(text, READABLE_DEPTH):
        return Decoded(None, f"nested more than {READABLE_DEPTH} levels deep")
    try:
        return Decoded(from_json(text))
    except ValueError:
        return Decoded(None, "not JSON")


def is_large(text: str) -> bool:
    return len(text) > SIZE_LIMIT // 4 and _size(text) > SIZE_LIMIT


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _converted(result: Any) -> str:
    """Returns the JSON text of a value with types that JSON lacks."""
    from duetime.core.json_values import NotJson, to_json_value  # most results do not need it

    try:
        return to_json(to_json_value(result, levels=DEPTH_LIMIT))
    except NotJson as error:
        where = f"result.{error.path}" if error.path else "result"
        raise BadResult(f"{where}: {error.reason}") from None
    except Exception as error:  # noqa: BLE001 - as above, or another thread changes the value
        raise BadResult(f"the result cannot be encoded: {error!r}") from None


def is_deeper(text: str, levels: int) -> bool:
    """Whether objects and arrays are nested more than `levels` deep in a JSON text. It counts
    brackets instead of parsing, since a parser recurses with the nesting."""
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
