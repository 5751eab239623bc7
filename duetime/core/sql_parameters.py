"""The named parameters of an SQL statement: `:name`, outside of quotes, comments and casts.

Values are bound by the database's driver; no value ever becomes part of the statement's text."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from duetime.core.codec import to_json

BOUND_BY_DUETIME: Final = ("task_id", "attempt")

_TOKENS = re.compile(
    r"""
      [eE]'(?:[^'\\]|\\.|'')*'        # a string with escapes (PostgreSQL)
    | '(?:[^']|'')*'                  # a string
    | "(?:[^"]|"")*"                  # a quoted name
    | --[^\n]*                        # a comment
    | /\*.*?\*/                       # a comment
    | \$(?P<quote>\w*)\$.*?\$(?P=quote)\$  # a dollar-quoted string (PostgreSQL)
    | (?<![\w:]):(?P<name>[A-Za-z_]\w*)
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


def names_in(statement: str) -> list[str]:
    """Returns the names of the parameters, each once, in their order."""
    found = (match["name"] for match in _TOKENS.finditer(statement))
    return list(dict.fromkeys(name for name in found if name))


def replace_parameters(
    statement: str, placeholder: Callable[[str], str], escape: Callable[[str], str]
) -> str:
    """Returns the statement with each parameter as `placeholder(name)`, and everything between
    them as `escape(text)`."""
    parts: list[str] = []
    end = 0
    for match in _TOKENS.finditer(statement):
        if match["name"]:
            parts += (escape(statement[end : match.start()]), placeholder(match["name"]))
            end = match.end()
    return "".join([*parts, escape(statement[end:])])


def bound_values(
    statement: str, payload: Mapping[str, Any] | None, task_id: str, attempt: int
) -> dict[str, Any]:
    """Returns the value of each parameter in the statement. An object or an array is bound as its
    JSON text. Raises KeyError for a parameter that the payload does not have."""
    given = {**(payload or {}), "task_id": task_id, "attempt": attempt}
    return {name: _bindable(given[name]) for name in names_in(statement)}


def _bindable(value: Any) -> Any:
    return to_json(value) if isinstance(value, dict | list) else value
