"""Parsers for the values of options. A bad value names its option and ends with exit code 2."""

import json
import math
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, overload

import typer

from duetime.core.durations import is_duration, parse_duration

MIN_POLL_INTERVAL = 0.05
DAY = re.compile(r"\d{4}-")
EXAMPLE = "2026-11-16T09:00:00+01:00"


def refuse(option: str, message: str) -> NoReturn:
    raise typer.BadParameter(message, param_hint=option)


@overload
def duration(option: str, text: str) -> float: ...
@overload
def duration(option: str, text: str | None) -> float | None: ...
def duration(option: str, text: str | None) -> float | None:
    """Returns the seconds in 90, 90s, 5m, 1h30m or 2d."""
    if text is None:
        return None
    try:
        return parse_duration(text)
    except ValueError as error:
        refuse(option, str(error))


def signed_duration(option: str, text: str) -> float:
    """Returns the seconds of a duration that may begin with a minus."""
    seconds = duration(option, text.removeprefix("-"))
    return -seconds if text.startswith("-") else seconds


def poll_interval(option: str, text: str) -> float:
    """Returns the seconds between two requests, which must not flood the API."""
    seconds = duration(option, text)
    if seconds < MIN_POLL_INTERVAL:
        refuse(option, f"must be at least {MIN_POLL_INTERVAL} s")
    return seconds


def finite(option: str, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        refuse(option, f"{value} is not a finite number")
    return value


def moment(option: str, text: str | None) -> str | None:
    """Returns an ISO 8601 time as RFC 3339; it must have an offset."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        refuse(option, f"{text!r} is not a time such as {EXAMPLE}")
    if at.tzinfo is None:
        refuse(option, f"{text!r} has no offset: add Z (UTC) or one such as +01:00")
    return at.isoformat()


def past_moment(option: str, text: str | None, now: datetime) -> str | None:
    """Returns RFC 3339 for a time, or for a duration before now."""
    if text is None or DAY.match(text):
        return moment(option, text)
    if not is_duration(text):
        refuse(option, f"{text!r} is neither a time such as {EXAMPLE} nor a duration such as 1h")
    ago = min(duration(option, text), now.timestamp())  # no task is older than the epoch
    return datetime.fromtimestamp(now.timestamp() - ago, UTC).isoformat()


def coming_moment(option: str, text: str | None, now: datetime) -> str | None:
    """Returns RFC 3339 for a time, or for a duration after now; with a minus, before now."""
    span = (text or "").removeprefix("-")
    if text == span and is_duration(span):
        return datetime.fromtimestamp(now.timestamp() + duration(option, span), UTC).isoformat()
    return past_moment(option, text if text is None or text == span else span, now)


def pairs(option: str, texts: Sequence[str], separator: str, example: str) -> dict[str, str]:
    """Returns the keys and values of `k=v` or `K: V`."""
    found: dict[str, str] = {}
    for text in texts:
        key, middle, value = text.partition(separator)
        if not middle or not key.strip():
            refuse(option, f"{text!r} does not look like {example!r}")
        if key.strip() in found:
            refuse(option, f"{key.strip()!r} is given twice")
        found[key.strip()] = value.strip()
    return found


def tag_pairs(texts: Sequence[str]) -> dict[str, str]:
    """Returns the keys and values of `team=growth` or, as in a filter, `team:growth`."""
    plain = [text if "=" in text else text.replace(":", "=", 1) for text in texts]
    return pairs("--tag", plain, "=", "team=growth")


def json_argument(option: str, text: str) -> Any:
    """Parses JSON: the text itself, @file, or - for standard input."""
    if text == "-":
        return _parse_json(option, sys.stdin.read(), "standard input")
    if text.startswith("@"):
        return json_file(option, text[1:])
    return _parse_json(option, text, repr(text))


def json_file(option: str, name: str) -> Any:
    """Parses JSON from a file, or from standard input if its name is -."""
    if name == "-":
        return _parse_json(option, sys.stdin.read(), "standard input")
    try:
        text = Path(name).read_text(encoding="utf-8")
    except OSError as error:
        refuse(option, f"cannot read {name}: {error.strerror}")
    except UnicodeDecodeError:
        refuse(option, f"{name} is not UTF-8 text")
    return _parse_json(option, text, name)


def task_file(option: str, name: str) -> dict[str, Any] | list[dict[str, Any]]:
    """Returns one task or a list, from a file with a task, a list or the body of a batch."""
    found = json_file(option, name)
    if isinstance(found, dict) and "tasks" in found:
        found = found["tasks"]
    if isinstance(found, dict):
        return found
    if not isinstance(found, list) or not all(isinstance(task, dict) for task in found):
        refuse(option, f"{name} holds neither a task nor a list of tasks")
    if not found:
        refuse(option, f"{name} holds no task")
    return found


def _parse_json(option: str, text: str, source: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_number, parse_float=_finite_float)
    except ValueError as error:
        refuse(option, f"{source} is not JSON: {error}")


def _finite_float(text: str) -> float:
    return value if math.isfinite(value := float(text)) else _refuse_number(text)


def _refuse_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number that JSON can carry")
