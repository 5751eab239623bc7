"""What is typed behind an option, read. A bad value names its option and ends with exit code 2."""

import json
import math
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, overload

import typer

SHORTEST_PAUSE = 0.05
UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
NUMBER = r"\d+(?:\.\d+)?"
DAY = re.compile(r"\d{4}-")
EXAMPLE = "2026-11-16T09:00:00+01:00"
DURATION = re.compile("".join(rf"(?:({NUMBER}){unit})?" for unit in UNITS))


def refuse(option: str, message: str) -> NoReturn:
    raise typer.BadParameter(message, param_hint=option)


@overload
def duration(option: str, text: str) -> float: ...
@overload
def duration(option: str, text: str | None) -> float | None: ...
def duration(option: str, text: str | None) -> float | None:
    """Seconds, from 90, 90s, 5m, 1h30m or 2d."""
    if text is None:
        return None
    if re.fullmatch(NUMBER, text, re.ASCII):
        return _finite(option, float(text))
    found = DURATION.fullmatch(text.lower())
    if not text or found is None:
        refuse(option, f"{text!r} is not a duration such as 90, 90s, 5m, 1h30m or 2d")
    parts = zip(found.groups(), UNITS.values(), strict=True)
    return _finite(option, sum(float(number) * unit for number, unit in parts if number))


def _finite(option: str, seconds: float) -> float:
    if not math.isfinite(seconds):
        refuse(option, "is longer than time itself")
    return seconds


def pause(option: str, text: str) -> float:
    """Seconds between two looks: few enough to be polite."""
    seconds = duration(option, text)
    if seconds < SHORTEST_PAUSE:
        refuse(option, f"must be at least {SHORTEST_PAUSE} s")
    return seconds


def number(option: str, value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        refuse(option, f"{value} is not a number to count with")
    return value


def moment(option: str, text: str | None) -> str | None:
    """RFC 3339, from any ISO 8601 time that says which offset it means."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        refuse(option, f"{text!r} is not a time such as {EXAMPLE}")
    if at.tzinfo is None:
        refuse(option, f"{text!r} has no offset: add Z (UTC) or one such as +01:00")
    return at.isoformat()


def past(option: str, text: str | None, now: datetime) -> str | None:
    """RFC 3339, from a time, or from how long ago it was."""
    if text is None or DAY.match(text):
        return moment(option, text)
    if not (re.fullmatch(NUMBER, text, re.ASCII) or (text and DURATION.fullmatch(text.lower()))):
        refuse(option, f"{text!r} is neither a time such as {EXAMPLE} nor a while ago such as 1h")
    ago = min(duration(option, text), now.timestamp())  # nothing is older than the epoch
    return datetime.fromtimestamp(now.timestamp() - ago, UTC).isoformat()


def pairs(option: str, texts: Sequence[str], separator: str, example: str) -> dict[str, str]:
    """Key and value, from `k=v` or `K: V`."""
    found: dict[str, str] = {}
    for text in texts:
        key, middle, value = text.partition(separator)
        if not middle or not key.strip():
            refuse(option, f"{text!r} does not look like {example!r}")
        if key.strip() in found:
            refuse(option, f"{key.strip()!r} is given twice")
        found[key.strip()] = value.strip()
    return found


def document(option: str, text: str) -> Any:
    """JSON, from the text itself, from @file, or from - (standard input)."""
    if text == "-":
        return parse(option, sys.stdin.read(), "standard input")
    if text.startswith("@"):
        return file(option, text[1:])
    return parse(option, text, repr(text))


def file(option: str, name: str) -> Any:
    """JSON, from a file or from - (standard input)."""
    if name == "-":
        return parse(option, sys.stdin.read(), "standard input")
    try:
        text = Path(name).read_text(encoding="utf-8")
    except OSError as error:
        refuse(option, f"cannot read {name}: {error.strerror}")
    except UnicodeDecodeError:
        refuse(option, f"{name} is not UTF-8 text")
    return parse(option, text, name)


def tasks(option: str, name: str) -> dict[str, Any] | list[dict[str, Any]]:
    """One task or several, from a task, a list, or the body of a batch."""
    found = file(option, name)
    if isinstance(found, dict) and "tasks" in found:
        found = found["tasks"]
    if isinstance(found, dict):
        return found
    if not isinstance(found, list) or not all(isinstance(task, dict) for task in found):
        refuse(option, f"{name} holds neither a task nor a list of tasks")
    if not found:
        refuse(option, f"{name} holds no task")
    return found


def parse(option: str, text: str, source: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_number, parse_float=_number)
    except ValueError as error:
        refuse(option, f"{source} is not JSON: {error}")


def _number(text: str) -> float:
    return value if math.isfinite(value := float(text)) else _no_number(text)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number that JSON can carry")
