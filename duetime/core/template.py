"""Templates: what a schedule leaves open in its task until it is run.

`{{scheduled_for}}` stands for a value, `{{{{` for two braces. A string that is nothing but one
name becomes the value itself, whatever JSON that is; amid other text it becomes text.

Names are filled in twice: those of the schedule when the task is made, those of the previous run
when the task starts. What `render` gives is a template again, so that no text that was put in is
ever read as a name. `finish` is the last time.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from lambdas.core.codec import to_json
from lambdas.core.errors import DuetimeError
from lambdas.core.strings import map_strings, strings_in, told

OF_THE_SCHEDULE: Final = ("scheduled_for", "schedule.id", "schedule.name")
RESULT: Final = "previous.result"
OF_THE_PREVIOUS: Final = (
    RESULT,
    "previous.status",
    "previous.task_id",
    "previous.scheduled_for",
)
NAMES: Final = (*OF_THE_SCHEDULE, *OF_THE_PREVIOUS)
# A result may have 64 KiB, and each of these names may stand for it.
MOST_NAMES: Final = 100

_BRACES = re.compile(r"\{\{\{\{|\{\{([^{}]*)\}\}|\{\{(?!\{)")
# Never taken from a user. It keeps a name that is left alone from becoming a whole value when
# the text beside it turned out empty.
_NOTHING = ""


class BadTemplate(DuetimeError, ValueError):
    """A template that cannot be filled in, in words for whoever wrote it."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


class Found(NamedTuple):
    path: str  # items.0.url; empty if the value is itself a string
    name: str


class _Piece(NamedTuple):
    name: bool
    text: str


def names_in(value: Any) -> Iterator[Found]:
    """The names in the strings of a value; BadTemplate if braces do not close."""
    for trail, text in strings_in(value):
        if "{{" in text:
            path = told(trail)
            yield from (Found(path, piece.text) for piece in _pieces(text, path) if piece.name)


def check(value: Any, known: Collection[str] = NAMES) -> None:
    """BadTemplate for what nobody will ever be able to fill in."""
    for number, (path, name) in enumerate(names_in(value)):
        if number == MOST_NAMES:
            raise BadTemplate(path, f"more than {MOST_NAMES} names in one task")
        if name in known or (RESULT in known and _within_result(name)):
            continue
        if name in NAMES or _within_result(name):
            raise BadTemplate(path, f"{name} is known only when the run starts: not here")
        shown = name if len(name) <= 60 else f"{name[:60]}…"
        raise BadTemplate(path, f"there is no name {shown!r}; known: {', '.join(known)}")


def render(value: Any, names: Mapping[str, Any], *, whole: bool = True) -> Any:
    """Fill in the names that are given; the others stay. Unless `whole`, all become text."""
    return map_strings(value, lambda text: _partly(text, names, whole))


def finish(value: Any, names: Mapping[str, Any], *, whole: bool = True) -> Any:
    """Fill in the names for the last time: what comes out is no template any more."""
    return map_strings(value, lambda text: _wholly(text, names, whole))


def literal(value: Any) -> Any:
    """The template that stands for this very value."""
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


def _wholly(text: str, names: Mapping[str, Any], whole: bool) -> Any:
    if "{{" not in text:
        return text
    pieces = _pieces(text)
    if whole and _alone(pieces) and _given(pieces[0].text, names):
        return _value(pieces[0].text, names)
    names = {_NOTHING: "", **names}
    filled = (_filled(piece, names) for piece in pieces)
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


def _filled(piece: _Piece, names: Mapping[str, Any]) -> _Piece:
    if not piece.name or not _given(piece.text, names):
        return piece
    return _Piece(False, _text(_value(piece.text, names)))


def _joined(pieces: Iterator[_Piece]) -> list[_Piece]:
    """Texts side by side become one, so that braces that come to stand together are seen."""
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
    """What is not there, in a result of another shape or of no run at all, is null."""
    if name in names:
        return names[name]
    value = names[RESULT]
    for key in name.removeprefix(f"{RESULT}.").split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else to_json(value)
