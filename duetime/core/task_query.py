"""The query language of task lists: `status:DEAD,RETRYING handler:shop.restock since:24h`.

A query is a list of `word:value`, all of which must hold. Each word is one field of the filter that
a list has anyway, so a query can ask for nothing that a filter cannot. A value with spaces is
written in double quotes. An id alone is `id:` of it, and other text alone is how the name begins.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duetime.core.allowed_targets import TARGET_TYPES
from duetime.core.durations import is_duration, parse_duration
from duetime.core.field_values import LAST, WORD_RULE, is_word, moment
from duetime.core.ids import is_id
from duetime.core.lanes import queue_in
from duetime.core.lifecycle import Status
from duetime.core.times import Millis, rfc3339, seconds

MAX_QUERY = 1_000  # characters
MAX_IDS = 8  # they are on one page, which has up to 2 MiB
MAX_ERROR_TYPE = 256  # characters
TAG = "tag."
DUE = "due"  # two fields
WORDS = (
    *("status", "id", "ns", "handler", "target", "tag.KEY", "schedule", "run", "lane", "error"),
    *("key", "due", "since", "until", "name"),
)

_PART = re.compile(r'(?:[^\s"]|"[^"]*")+')
_WORD = re.compile(r"([a-z]+|tag\.[^:]+):(.*)", re.DOTALL)

Field = tuple[str, Any]  # the name of a field of the filter, and its value as JSON
Fields = Sequence[Field]


class BadQuery(ValueError):
    """Raised for a query that cannot be read. `position` is where it goes wrong, from 1."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.position = position


def parse_query(text: str, now: Millis) -> dict[str, Any]:
    """Returns the fields of the filter, as JSON. `now` is what `24h` counts back from."""
    if len(text) > MAX_QUERY:
        raise BadQuery(f"must have at most {MAX_QUERY} characters", MAX_QUERY + 1)
    if text.count('"') % 2:
        raise BadQuery('the " is not closed', text.rindex('"') + 1)
    found: dict[str, Any] = {}
    for part in _PART.finditer(text):
        for field in _fields(part[0], part.start() + 1, now):
            _add(found, field, part.start() + 1)
    return found


def _add(found: dict[str, Any], field: Field, position: int) -> None:
    name, value = field
    if name == "tag":
        found.setdefault(name, []).append(value)
    elif name in found:
        quotes = "; put text with spaces in double quotes" if name == "name" else ""
        raise BadQuery(f"the {name} is given twice{quotes}", position)
    else:
        found[name] = value


def _fields(part: str, position: int, now: Millis) -> Fields:
    """Reads one `word:value`, or text alone. A range is two fields."""
    given = _WORD.fullmatch(part)
    if given is None:
        return [_alone(part, position)]
    word, value = given[1].replace('"', ""), given[2].replace('"', "")
    read = _READ.get("tag" if word.startswith(TAG) else word)
    if read is None and word != DUE:
        raise BadQuery(f"unknown word {word!r}; known: {', '.join(WORDS)}", position)
    try:
        if not value:
            raise ValueError("needs a value")
        return _due(value, now) if read is None else [read(word, value, now)]
    except ValueError as error:
        raise BadQuery(f"{word}: {error}", position + len(given[1]) + 1) from None


def _alone(part: str, position: int) -> Field:
    text = part.replace('"', "")
    if ":" in part and '"' not in part:
        raise BadQuery(f"unknown word; known: {', '.join(WORDS)}", position)
    return ("id", [text]) if is_id(text) else ("name", text)


def _status(_word: str, value: str, _now: Millis) -> Field:
    statuses = value.upper().split(",")
    for status in statuses:
        if status not in list(Status):
            raise ValueError(f"{status!r} is not one of {', '.join(Status)}")
    return "status", statuses


def _ids(_word: str, value: str, _now: Millis) -> Field:
    ids = value.split(",")
    if not all(map(is_id, ids)):
        raise ValueError("must be the id of a task, or several")
    if len(ids) > MAX_IDS:
        raise ValueError(f"must be at most {MAX_IDS}")
    return "id", ids


def _namespace(_word: str, value: str, _now: Millis) -> Field:
    return "namespace", value if value == "*" else _one_word(value)


def _target(_word: str, value: str, _now: Millis) -> Field:
    if value not in TARGET_TYPES:
        raise ValueError(f"must be one of {', '.join(TARGET_TYPES)}")
    return "target", value


def _lane(_word: str, value: str, _now: Millis) -> Field:
    return "lane", [str(queue_in(text)) for text in value.split(",")]


def _error(_word: str, value: str, _now: Millis) -> Field:
    if len(value) > MAX_ERROR_TYPE:
        raise ValueError(f"must have at most {MAX_ERROR_TYPE} characters")
    return "error_type", value


def _run(_word: str, value: str, _now: Millis) -> Field:
    if not is_id(value):
        raise ValueError("must be the id of a run")
    return "run_id", value


def _tag(word: str, value: str, _now: Millis) -> Field:
    """Reads `tag.team:growth`; `tag.team:*` is any value. Or what a filter takes: `tag:team`."""
    if word == "tag":
        return "tag", value
    key = word.removeprefix(TAG)
    return "tag", key if value == "*" else f"{key}:{value}"


def _since(_word: str, value: str, now: Millis) -> Field:
    return "created_since", _time(value, now)


def _until(_word: str, value: str, now: Millis) -> Field:
    return "created_before", _time(value, now)


def _due(value: str, now: Millis) -> Fields:
    """Reads `due:1h`, within the next hour; `due:-1h`, in the last one; or `due:FROM..UNTIL`, of
    which one may be left out."""
    start, dots, end = value.partition("..")
    if not dots:
        first, last = sorted([now, _due_time(start, now)])
        return [("due_since", rfc3339(first)), ("due_before", rfc3339(last))]
    ends = {"due_since": start, "due_before": end}
    given = [(name, rfc3339(_due_time(text, now))) for name, text in ends.items() if text]
    if not given:
        raise ValueError("needs a time before or after the dots")
    return given


def _due_time(value: str, now: Millis) -> Millis:
    """Reads a time, or a duration after now; with a minus before now."""
    span = value.removeprefix("-")
    if is_duration(span):
        ahead = seconds(parse_duration(span))
        return min(now + ahead, LAST) if value == span else max(now - ahead, 0)
    try:
        return moment(value)
    except ValueError as error:
        raise ValueError(f"{error}, or a duration such as 1h, or -1h") from None


def _time(value: str, now: Millis) -> str:
    """Reads a time, or a duration before now."""
    if not is_duration(value):
        try:
            return rfc3339(moment(value))
        except ValueError as error:
            raise ValueError(f"{error}, or a duration such as 24h") from None
    return rfc3339(max(now - seconds(parse_duration(value)), 0))


def _one_word(value: str) -> str:
    if not is_word(value):
        raise ValueError(WORD_RULE)
    return value


_READ: Mapping[str, Callable[[str, str, Millis], Field]] = {
    "status": _status,
    "id": _ids,
    "ns": _namespace,
    "handler": lambda _word, value, _now: ("handler", _one_word(value)),
    "target": _target,
    "tag": _tag,
    "schedule": lambda _word, value, _now: ("schedule_id", _one_word(value)),
    "run": _run,
    "lane": _lane,
    "error": _error,
    "key": lambda _word, value, _now: ("with_key", _one_word(value)),
    "since": _since,
    "until": _until,
    "name": lambda _word, value, _now: ("name", value),
}
