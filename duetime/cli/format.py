"""The small phrases from which every view of a task is made."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.text import Text

from duetime.text import clean, length, one_line
from lambdas.core.lifecycle import FINISHED, Status

if TYPE_CHECKING:
    from duetime.client import Task

STYLES: Mapping[str, str] = {
    Status.PENDING: "blue",
    Status.ENQUEUED: "blue",
    Status.WAITING: "blue",
    Status.RUNNING: "bold cyan",
    Status.RETRYING: "yellow",
    Status.SUCCEEDED: "green",
    Status.DEAD: "bold red",
    Status.CANCELLED: "magenta",
    Status.EXPIRED: "magenta",
}
REASONS: Mapping[str, str] = {
    "overlap": "the run before it was not over",
    "misfire": "it could not start in time",
    "paused": "its schedule was paused",
    "changed": "its schedule was changed",
    "deleted": "its schedule was deleted",
}
LONGEST_TEXT = 2_000


def now() -> datetime:
    return datetime.now(UTC)


def status(task: "Task") -> Text:
    return styled(task["status"])


def styled(status: str) -> Text:
    return Text(status, style=STYLES.get(status, ""))


def ended(task: "Task") -> bool:
    return task["status"] in FINISHED


def short(task: "Task") -> str:
    """What it is: its name if it has one, else what it calls."""
    return one_line(task["name"] or target(task["target"]))


def target(fields: Mapping[str, Any] | None) -> str:
    """None where the API could not show it."""
    if fields is None:
        return "?"
    kind = fields.get("type", "?")
    if kind == "http":
        return clean(f"{fields.get('method', 'POST')} {fields.get('url')}")
    return clean(str(fields.get("handler", kind)))


def relative(at: str, now: datetime, *, rough: bool = False) -> str:
    seconds = (datetime.fromisoformat(at) - now).total_seconds()
    away = length(abs(seconds), rough=rough)
    return f"in {away}" if seconds >= 0 else f"{away} ago"


def local(at: str) -> str:
    """The reader's own wall clock."""
    return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M:%S}"


def when(at: str | None, now: datetime) -> str | None:
    return f"{local(at)} ({relative(at, now)})" if at else None


def drift(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    return f"{milliseconds} ms" if milliseconds < 10_000 else length(milliseconds / 1_000)


def tries(task: "Task") -> str:
    """A revived task may go past its policy: then there is no "of"."""
    most = task["retry"].get("max_attempts", 0)
    return f"{task['attempt']} of {most}" if task["attempt"] <= most else str(task["attempt"])


def progress(task: "Task") -> str | None:
    told = task["progress"]
    if told is None:
        return None
    message = told.get("message")
    return f"{told['fraction']:.0%}" + (f" {clean(message)}" if message else "")


def error(fields: Mapping[str, Any] | None) -> str | None:
    return clean(f"{fields['type']}: {fields['message']}") if fields else None


def traceback(fields: Mapping[str, Any] | None) -> str | None:
    """Its end, which says where; all that is kept of it is behind --json."""
    text = clean((fields or {}).get("traceback") or "").rstrip()
    if len(text) <= LONGEST_TEXT:
        return text or None
    return f"(--json shows all) …{text[-LONGEST_TEXT:]}"


def reason(fields: Mapping[str, Any]) -> str | None:
    """Why its schedule cancelled a task."""
    told = fields.get("reason")  # an older API does not tell
    if told is None:
        return None
    return f"{told}: {REASONS[told]}" if told in REASONS else clean(told)


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def not_shown(task: "Task") -> str | None:
    """Which fields the API left out, and why."""
    notes = task.get("not_shown") or {}
    return clean("; ".join(f"{name}: {why}" for name, why in notes.items())) or None


def value(data: Any) -> str | None:
    """JSON for the eye; all of it is behind --json."""
    if data is None:
        return None
    text = clean(json.dumps(data, ensure_ascii=False))
    if len(text) > 60:
        text = clean(json.dumps(data, ensure_ascii=False, indent=2))
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + " … (--json shows all)"
