"""References: `{{steps.extract.result.count}}` in the target, the payload or the map of a step.

The executor fills them in when an attempt starts: see duetime.core.template for how. A missing
value is null. A value from outside must not choose the host that receives a header, so most of a
target is literal, and what is inserted into a URL is percent-encoded.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from duetime.core.codec import to_json
from duetime.core.errors import PermanentError
from duetime.core.http_urls import url_fault
from duetime.core.secrets import references_in
from duetime.core.task import WORKFLOW
from duetime.core.template import Found, finish, names_in, part_of
from duetime.core.workflows.definition import MAX_ITEMS, WorkflowStep
from duetime.core.workflows.names import is_step_name

MAX_FILLED: Final = 256 * 1024  # bytes that the references of one step insert

NO_REFERENCE: Final = "cannot contain a reference"
LITERAL_ORIGIN: Final = "cannot contain a reference in its scheme, host or port"
_KNOWN: Final = (
    "input, steps.<name>.result, .status, .error.message, .error.type, .task_id and .results, "
    "item, index, run.id, run.status, callback.url, callback.token"
)
_WHOLE: Final = ("index", "run.id", "run.status", "callback.url", "callback.token")
_OF_A_STEP: Final = (
    ("status",),
    ("task_id",),
    ("error",),
    ("error", "message"),
    ("error", "type"),
)
_ORIGIN = re.compile(r"[^/?#]*//[^/?#]*")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")  # CR and LF would begin another header


class TooLarge(PermanentError):
    """The references of a step insert more than 256 KiB."""


class BadReference(PermanentError):
    """The value of a reference does not fit where it is inserted. `field` is the place."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.field, self.reason)


class Reference(NamedTuple):
    """What a name refers to: `root` is its first part."""

    root: str
    step: str | None = None
    field: str | None = None  # of a step: result, results, status …


def parse(name: str) -> Reference | None:
    """Returns what a name refers to; None if there is no such name."""
    root, *path = name.split(".")
    if not all(path) or not root:
        return None
    if root == "steps":
        return _of_a_step(path)
    known = root in ("input", "item") or name in _WHOLE
    return Reference(root) if known else None


def _of_a_step(path: list[str]) -> Reference | None:
    if len(path) < 2 or not is_step_name(path[0]):
        return None
    step, field, *below = path
    known = field in ("result", "results") or (field, *below) in _OF_A_STEP
    return Reference("steps", step, field) if known else None


def unknown_name(name: str) -> str:
    shown = name if len(name) <= 60 else f"{name[:60]}…"
    return f"there is no name {shown!r}; known: {_KNOWN}"


def references(value: Any) -> Iterator[tuple[Found, Reference | None]]:
    """Yields the names in a value, with what they refer to. Raises BadTemplate."""
    return ((found, parse(found.name)) for found in names_in(value))


def needed_steps(value: Any) -> set[str]:
    """Returns the steps that a target, a payload or the items of a map refer to."""
    return {ref.step for _, ref in references(value) if ref and ref.step}


def needed_results(value: Any) -> set[str]:
    """Returns the maps whose items' results a value refers to."""
    return {r.step for _, r in references(value) if r and r.step and r.field == "results"}


def steps_in_pattern(pattern: Any) -> set[str]:
    """Returns the steps that a `when` looks at."""
    steps = pattern.get("steps") if isinstance(pattern, Mapping) else None
    return set(steps) if isinstance(steps, Mapping) else set()


def outputs_in_pattern(pattern: Any) -> set[str]:
    """Returns the steps of which a `when` looks at more than the status, which is in the row."""
    named = steps_in_pattern(pattern)
    return {name for name in named if pattern["steps"][name].keys() - {"status"}}


def filled_parts(step: WorkflowStep) -> dict[str, Any]:
    """Returns the parts of a step that `fill_in` fills in. The definition of a nested workflow has
    references of its own."""
    target = {name: part for name, part in step.target.items() if name != "definition"}
    return {"target": target, "payload": step.payload}


def literal_faults(target: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the places in a target that have a reference and must not, with the reason."""
    literal = {name: part for name, part in target.items() if name not in _open_fields(target)}
    yield from ((found.path, NO_REFERENCE) for found in names_in(literal))
    if target.get("type") != "http":
        return
    url, headers = target.get("url"), target.get("headers")
    secrets = chain(references_in(url, "url"), references_in(headers, "headers"))
    for path, name in secrets:
        if "{{" in str(name):
            yield path, NO_REFERENCE
    if isinstance(url, str) and "{{" in url and not _has_literal_origin(url):
        yield "url", LITERAL_ORIGIN
    if isinstance(headers, Mapping) and any("{{" in name for name in headers):
        yield "headers", "must have names without references"


def _open_fields(target: Mapping[str, Any]) -> tuple[str, ...]:
    """What any other target acts on, and an SQL statement, must be what was checked and allowed."""
    if target.get("type") == "http":
        return ("url", "headers")
    return ("input", "definition") if target.get("type") == WORKFLOW else ()


def _has_literal_origin(url: str) -> bool:
    origin = _ORIGIN.match(url)
    return origin is not None and "{{" not in origin[0]


def fill_in(
    target: Mapping[str, Any], payload: Any, names: Mapping[str, Any]
) -> tuple[dict[str, Any], Any]:
    """Returns the target and the payload with their references filled in.

    Args:
        names: The values, nested: {"input": …, "steps": {"extract": {"result": …}}, "item": …}.

    Raises:
        TooLarge: the values are more than 256 KiB together.
        BadReference: a value does not fit into a URL or a header.
    """
    open_fields = {name: target[name] for name in _filled_fields(target) if name in target}
    values = values_in([open_fields, payload], names)
    filled = {name: _FILL[name](part, values) for name, part in open_fields.items()}
    return {**target, **filled}, finish(payload, values)


def resolve_items(items: Any, names: Mapping[str, Any]) -> list[Any] | int:
    """Returns the list or the number of items of a map. Raises BadReference if it is neither."""
    found = finish(items, values_in(items, names))
    if isinstance(found, bool) or not isinstance(found, list | int):
        raise BadReference("map.items", f"must be a list or a number, not {_kind(found)}")
    count = found if isinstance(found, int) else len(found)
    if not 0 <= count <= MAX_ITEMS:
        raise BadReference("map.items", f"must be 0 to {MAX_ITEMS:,} items, not {count:,}")
    return found


def _kind(value: Any) -> str:
    names = {dict: "an object", str: "text", type(None): "null"}
    return names.get(type(value), to_json(value))


def _filled_fields(target: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name in _open_fields(target) if name in _FILL)


def values_in(value: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the value of each name. Adds up the sizes first: a hundred names of one large value
    would fill the memory."""
    values: dict[str, Any] = {}
    sizes: dict[str, int] = {}
    filled = 0
    for _, name in names_in(value):
        if name not in values:
            values[name] = part_of(names, name.split("."))
            sizes[name] = len(to_json(values[name]).encode(errors="surrogatepass"))
        filled += sizes[name]
    if filled > MAX_FILLED:
        message = f"the references insert {filled:,} bytes; at most {MAX_FILLED:,} are allowed"
        raise TooLarge(message)
    return values


def _url(template: Any, values: Mapping[str, Any]) -> Any:
    if not isinstance(template, str) or "{{" not in template:
        return template
    url: str = finish(template, values, whole=False, encode=_quoted)
    if _dots(url) > _dots(template):  # `..` would lead out of the path that was checked
        raise BadReference("target.url", "a reference must not become . or .. in the path")
    if fault := url_fault(url):
        raise BadReference("target.url", f"{fault}, once its references are filled in")
    return url


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")


def _dots(url: str) -> int:
    path = re.split("[?#]", url, maxsplit=1)[0]
    return sum(segment in (".", "..") for segment in path.split("/"))


def _headers(template: Any, values: Mapping[str, Any]) -> Any:
    headers = finish(template, values, whole=False)
    for name, text in headers.items():
        if isinstance(text, str) and not _HEADER_VALUE.fullmatch(text):
            reason = "a reference must not insert a line break or what HTTP headers cannot carry"
            raise BadReference(f"target.headers.{name}", reason)
    return headers


_FILL: Final[Mapping[str, Any]] = {"url": _url, "headers": _headers, "input": finish}
