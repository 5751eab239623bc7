"""The query language of task lists: `status:DEAD,RETRYING handler:shop.restock since:24h`.

A query is a list of `word:value`, all of which must hold. Each word is one field of the filter that
a list has anyway, so a query can ask for nothing that a filter cannot. A value with spaces is
written in double quotes. An id alone is `id:` of it, and other text alone is how the name begins.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from duetime.core.allowed_targets import TARGET_TYPES
from duetime.core.durations import is_duration, parse_duration
from duetime.core.field_values import WORD_RULE, is_word, moment
from duetime.core.ids import is_id
from duetime.core.lifecycle import Status
from duetime.core.times import Millis, rfc3339, seconds

MAX_QUERY = 1_000  # characters
MAX_IDS = 8  # they are on one page, which has up to 2 MiB
TAG = "tag."
WORDS = ("status", "id", "ns", "handler", "target", "tag.KEY", "schedule", "since", "until", "name")

# Words that one might expect, and what does that instead.
NOT_IN_LISTS: Mapping[str, str] = {
    "error": "lists have no error; filter dead letters by error_type",
    "lane": "lists have no lane; `GET /v1/lanes` counts its tasks",
    "run": "lists leave out the steps of runs; `GET /v1/runs/{id}` has them",
    "key": "lists have no key; submit with the key again to get its task",
    "due": "lists have no range of due times; order=soonest sorts by them",
}

_PART = re.compile(r'(?:[^\s"]|"[^"]*")+')
_WORD = re.compile(r"([a-z]+|tag\.[^:]+):(.*)", re.DOTALL)

Field = tuple[str, Any]  # the name of a field of the filter, and its value as JSON


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
        _add(found, _field(part[0], part.start() + 1, now), part.start() + 1)
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


def _field(part: str, position: int, now: Millis) -> Field:
    """Reads one `word:value`, or text alone."""
    given = _WORD.fullmatch(part)
    if given is None:
        return _alone(part, position)
    word, value = given[1].replace('"', ""), given[2].replace('"', "")
    if word in NOT_IN_LISTS:
        raise BadQuery(NOT_IN_LISTS[word], position)
    read = _READ.get("tag" if word.startswith(TAG) else word)
    if read is None:
        raise BadQuery(f"unknown word {word!r}; known: {', '.join(WORDS)}", position)
    try:
        if not value:
            raise ValueError("needs a value")
        return read(word, value, now)
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
    "since": _since,
    "until": _until,
    "name": lambda _word, value, _now: ("name", value),
}
