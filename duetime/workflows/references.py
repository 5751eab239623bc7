"""References: values that a run knows and its definition does not.

`extract.result.rows` refers to what the step will return. It compiles to
`{{steps.extract.result.rows}}`, which Duetime fills in when the step starts that uses it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from duetime.core.json_values import ARRAYS, NotJson, to_json_value

LEVELS = 200  # of nesting that a payload may have
SEGMENT = re.compile(r"[^.{}\s]+")
STEP_IN_TEXT = re.compile(r"\{\{\s*steps\.([a-z0-9_-]+)\.")
REFERENCE_IN_TEXT = re.compile(r"(?<!\{)\{\{(?!\{)")


class Reference:
    """A value of a run. Attributes and items of it are references, too. As text, also inside an
    f-string, it is `{{…}}`."""

    def __init__(self, owner: object, path: tuple[str, ...]) -> None:
        """`owner` is the workflow that the reference belongs to."""
        self._owner = owner
        self._path = path

    def __getattr__(self, name: str) -> "Reference":
        if name.startswith("_"):  # Python itself asks for such names
            raise AttributeError(name)
        return Reference(self._owner, (*self._path, name))

    def __getitem__(self, key: str | int) -> "Reference":
        segment = str(key)
        if not SEGMENT.fullmatch(segment) or (isinstance(key, int) and key < 0):
            raise ValueError(f"{self._name()}[{key!r}]: a reference cannot have this key")
        return Reference(self._owner, (*self._path, segment))

    def __str__(self) -> str:
        return f"{{{{{self._name()}}}}}"

    def __repr__(self) -> str:
        return f"<reference {self._name()}>"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self._name()} is not known before the run: use when=… of a step")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self._name()} is not known before the run: use w.map(…) for its items")

    def _name(self) -> str:
        return ".".join(self._path)


def owner_of(reference: Reference) -> object:
    return reference._owner


def path_of(reference: Reference) -> tuple[str, ...]:
    return reference._path


def references_in(value: Any) -> Iterator[Reference]:
    """Yields every reference in a value, also those that are keys of a `when`."""
    if isinstance(value, Reference):
        yield value
    elif isinstance(value, Mapping):
        yield from (key for key in value if isinstance(key, Reference))
        for inner in value.values():
            yield from references_in(inner)
    elif isinstance(value, ARRAYS):
        for inner in value:
            yield from references_in(inner)


def steps_in(json: Any) -> Iterator[str]:
    """Yields the names of the steps that compiled JSON uses, also in text written by hand."""
    if isinstance(json, str):
        yield from STEP_IN_TEXT.findall(json)
    elif isinstance(json, Mapping):
        for inner in json.values():
            yield from steps_in(inner)
    elif isinstance(json, list):
        for inner in json:
            yield from steps_in(inner)


def compiled(value: Any) -> Any:
    """Returns the JSON of a value, with `{{…}}` for its references. Raises NotJson."""
    return to_json_value(_replaced(value), levels=LEVELS, naive_times=False)


def compiled_part(value: Any) -> tuple[Any, bool]:
    """Returns the JSON of a value, and whether it has references. A value that is not JSON has
    none: the parameters of a handler may convert it."""
    try:
        json = compiled(value)
    except NotJson:
        return None, False
    return json, _has_reference(json)


def _replaced(value: Any) -> Any:
    if isinstance(value, Reference):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _replaced(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(inner) for inner in value]
    return value


def _has_reference(json: Any) -> bool:
    if isinstance(json, str):
        return bool(REFERENCE_IN_TEXT.search(json))
    inner = json.values() if isinstance(json, Mapping) else json if isinstance(json, list) else ()
    return any(_has_reference(one) for one in inner)


def pattern(when: Mapping[Any, Any]) -> dict[str, Any]:
    """Returns the pattern of a `when`, whose keys may be references:
    `{check.result.amount: [{"numeric": [">", 100]}]}`."""
    made: dict[str, Any] = {}
    for key, rule in when.items():
        path = path_of(key) if isinstance(key, Reference) else (key,)
        inner = made
        for segment in path[:-1]:
            inner = inner.setdefault(segment, {})
        inner[path[-1]] = compiled(rule)
    return made
