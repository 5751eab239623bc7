"""Templates: the placeholders in a schedule's task, and in a step of a workflow.

`{{scheduled_for}}` is replaced by a value, `{{{{` by two braces. A string that consists of one name
becomes the value itself, which can be any JSON; within other text the value becomes text.

Names are filled in twice: those of the schedule when the task is created, those of the previous
run when the task starts. The output of `render` is a template again, with inserted text escaped,
so that inserted text is never read as a name. `finish` fills in names for the last time.

The names of a step are references: see duetime.core.workflows.references.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from duetime.core.codec import to_json
from duetime.core.errors import DuetimeError

# The last step, and the trail before it. The path is built only when it is shown.
Trail = tuple[Any, Any] | None


def dotted_path(trail: Trail) -> str:
    """Returns a path such as items.0.url."""
    steps = []
    while trail is not None:
        trail, step = trail
        steps.append(str(step))
    return ".".join(reversed(steps))


def strings_in(value: Any) -> Iterator[tuple[Trail, str]]:
    """Yields every string value with its trail, in order. Keys are not included."""
    pending: list[tuple[Trail, Any]] = [(None, value)]
    while pending:
        trail, inner = pending.pop()
        if isinstance(inner, str):
            yield trail, inner
        else:
            pending += [((trail, step), below) for step, below in reversed(_steps(inner))]


def map_strings(value: Any, change: Callable[[str], Any]) -> Any:
    """Returns a copy of the value with each string replaced by `change(string)`, of any type."""
    top = [value]
    pending: list[Any] = [top]
    while pending:
        copy = pending.pop()
        for step, inner in _steps(copy):
            if isinstance(inner, str):
                copy[step] = change(inner)
            elif isinstance(inner, dict | list):
                copy[step] = inner.copy()
                pending.append(copy[step])
    return top[0]


def _steps(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


OF_THE_SCHEDULE: Final = ("scheduled_for", "schedule.id", "schedule.name")
RESULT: Final = "previous.result"
OF_THE_PREVIOUS: Final = (
    RESULT,
    "previous.status",
    "previous.task_id",
    "previous.scheduled_for",
)
NAMES: Final = (*OF_THE_SCHEDULE, *OF_THE_PREVIOUS)
# Each name may be replaced by a result of up to 64 KiB.
MAX_NAMES: Final = 100

_BRACES = re.compile(r"\{\{\{\{|\{\{([^{}]*)\}\}|\{\{(?!\{)")
_INDEX = re.compile(r"[0-9]{1,9}")
# A name that users cannot write. It is added to a name whose neighbouring text has become empty,
# so that the name is not taken for a whole value later.
_NOTHING = ""


class BadTemplate(DuetimeError, ValueError):
    """A template that cannot be filled in; `reason` is shown to the user."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


class Found(NamedTuple):
    path: str  # items.0.url; empty if the whole value is a string
    name: str


class _Piece(NamedTuple):
    name: bool
    text: str


def names_in(value: Any) -> Iterator[Found]:
    """Yields the names in the strings of a value. Raises BadTemplate if braces do not close."""
    for trail, text in strings_in(value):
        if "{{" in text:
            path = dotted_path(trail)
            yield from (Found(path, piece.text) for piece in _pieces(text, path) if piece.name)


def check_names(value: Any, known: Collection[str] = NAMES) -> None:
    """Raises BadTemplate for names that are not known, and for too many names."""
    for number, (path, name) in enumerate(names_in(value)):
        if number == MAX_NAMES:
            raise BadTemplate(path, f"more than {MAX_NAMES} names in one task")
        if name in known or (RESULT in known and _within_result(name)):
            continue
        if name in NAMES or _within_result(name):
            raise BadTemplate(path, f"{name} is known only when the run starts: not here")
        shown = name if len(name) <= 60 else f"{name[:60]}…"
        raise BadTemplate(path, f"there is no name {shown!r}; known: {', '.join(known)}")


def render(value: Any, names: Mapping[str, Any], *, whole: bool = True) -> Any:
    """Fills in the given names and keeps the others. Unless `whole`, all values become text."""
    return map_strings(value, lambda text: _partly(text, names, whole))


def finish(
    value: Any,
    names: Mapping[str, Any],
    *,
    whole: bool = True,
    encode: Callable[[str], str] = str,
) -> Any:
    """Fills in the names for the last time: the output is not a template any more. `encode` is
    applied to each text that is inserted into other text."""
    return map_strings(value, lambda text: _wholly(text, names, whole, encode))


def whole_name(text: str) -> str | None:
    """Returns the name that the text consists of; None if there is anything else in it."""
    pieces = _pieces(text)
    return pieces[0].text if _alone(pieces) else None


def part_of(value: Any, path: Sequence[str]) -> Any:
    """Returns the part of a value at a path, None if it is missing. Digits index a list."""
    for key in path:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def literal(value: Any) -> Any:
    """Returns the template whose output is this value."""
    return map_strings(value, lambda text: text.replace("{{", "{{{{"))


def _partly(text: str, names: Mapping[str, Any], whole: bool) -> Any:
    if "{{" not in text:
        return text
    pieces = _pieces(text)
    if whole and _alone(pieces) and _given(pieces[0].text, names):
        return literal(_value(pieces[0].text, names))
    filled = _joined(_filled(piece, names) for piece in pieces)
    if _alone(filled) and not _alone(pieces):
        filled.append(_Piece(True, _NOTHING))
    return "".join(f"{{{{{p.text}}}}}" if p.name else literal(p.text) for p in filled)


def _wholly(text: str, names: Mapping[str, Any], whole: bool, encode: Callable[[str], str]) -> Any:
    if "{{" not in text:
        return text
    pieces = _pieces(text)
    if whole and _alone(pieces) and _given(pieces[0].text, names):
        return _value(pieces[0].text, names)
    names = {_NOTHING: "", **names}
    filled = (_filled(piece, names, encode) for piece in pieces)
    return "".join(f"{{{{{p.text}}}}}" if p.name else p.text for p in filled)


def _pieces(text: str, path: str = "") -> list[_Piece]:
    pieces, at = [], 0
    for match in _BRACES.finditer(text):
        if match.start() > at:
            pieces.append(_Piece(False, text[at : match.start()]))
        at = match.end()
        if match[1] is not None:
            pieces.append(_Piece(True, match[1].strip()))
        elif match[0] == "{{{{":
            pieces.append(_Piece(False, "{{"))
        else:
            reason = f"the {{{{ at position {match.start() + 1} is not closed by }}}}"
            raise BadTemplate(path, f"{reason}; write {{{{{{{{ for two braces")
    if at < len(text):
        pieces.append(_Piece(False, text[at:]))
    return pieces


def _alone(pieces: list[_Piece]) -> bool:
    return len(pieces) == 1 and pieces[0].name


def _filled(piece: _Piece, names: Mapping[str, Any], encode: Callable[[str], str] = str) -> _Piece:
    if not piece.name or not _given(piece.text, names):
        return piece
    return _Piece(False, encode(_text(_value(piece.text, names))))


def _joined(pieces: Iterator[_Piece]) -> list[_Piece]:
    """Merges adjacent texts, so that braces that have become adjacent are escaped together."""
    joined: list[_Piece] = []
    texts: list[str] = []
    for piece in (*pieces, _Piece(True, "")):
        if not piece.name:
            texts.append(piece.text)
            continue
        if text := "".join(texts):
            joined.append(_Piece(False, text))
        texts.clear()
        joined.append(piece)
    return joined[:-1]


def _within_result(name: str) -> bool:
    return name.startswith(f"{RESULT}.") and all(name.split("."))


def _given(name: str, names: Mapping[str, Any]) -> bool:
    return name in names or (_within_result(name) and RESULT in names)


def _value(name: str, names: Mapping[str, Any]) -> Any:
    """Returns the value of a name; None if a part of the result or the run is missing."""
    if name in names:
        return names[name]
    return part_of(names[RESULT], name.removeprefix(f"{RESULT}.").split("."))


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else to_json(value)
