"""JSON of answers. A value that is nested too deep to encode becomes null, with a note.

New tasks cannot hold such a value: bodies and results have a depth limit. Rows that an earlier
release or another program stored may hold one.
"""

from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from duetime.core.results import READABLE_DEPTH
from duetime.core.task_json import NOT_SHOWN

MAY_BE_DEEP = ("target", "payload", "result")


def encode(body: Any) -> bytes:
    try:
        return to_json(body)
    except PydanticSerializationError:
        return to_json(_without_deep_values(body))


def _without_deep_values(part: Any) -> Any:
    """Replaces the deep values of every task and schedule in an answer. The answer itself is
    shallow, so the recursion ends."""
    if isinstance(part, list):
        return [_without_deep_values(item) for item in part]
    if not isinstance(part, dict):
        return part
    deep = [name for name in MAY_BE_DEEP if _is_deep(part.get(name))]
    shown = {
        name: value if name in MAY_BE_DEEP else _without_deep_values(value)
        for name, value in part.items()
    }
    if not deep:
        return shown
    note = f"nested more than {READABLE_DEPTH} levels deep"
    notes = (part.get(NOT_SHOWN) or {}) | dict.fromkeys(deep, note)
    return shown | dict.fromkeys(deep) | {NOT_SHOWN: notes}


def _is_deep(value: Any) -> bool:
    """Goes level by level, because recursion into a deep value would exhaust the stack."""
    level = [value]
    for _ in range(READABLE_DEPTH + 1):
        level = [inner for outer in level for inner in _within(outer)]
        if not level:
            return False
    return True


def _within(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
