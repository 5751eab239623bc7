"""Words and numbers as the views print them: times, durations, statuses, errors."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from duetime.core.lifecycle import FINISHED, Status
from duetime.core.target_names import target_name, url_name
from duetime.terminal import clean, length, one_line

if TYPE_CHECKING:
    from rich.text import Text

    from duetime.client import Task
    from duetime.client.limit_types import WaitingFor

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
    "overlap": "the previous run had not ended",
    "misfire": "it could not start in time",
    "paused": "its schedule was paused",
    "changed": "its schedule was changed",
    "deleted": "its schedule was deleted",
    "limit": "its limit was full",
}
MAX_TEXT = 2_000


def now() -> datetime:
    return datetime.now(UTC)


def status(task: "Task") -> "Text":
    return styled(task["status"])


def styled(status: str) -> "Text":
    from rich.text import Text

    return Text(status, style=STYLES.get(status, ""))


def ended(task: "Task") -> bool:
    return task["status"] in FINISHED


def short(task: "Task") -> str:
    """Returns the name of a task or, if it has none, its target. In a list, a step of a run shows
    which step it is: its run knows the target."""
    step = task.get("step")
    if step and (task["target"] or {}).get("type") == "step":
        return one_line(f"step {step}")
    return one_line(task["name"] or target(task["target"]))


def target(fields: Mapping[str, Any] | None) -> str:
    """Describes a target; None means that the API could not show it."""
    if fields is None:
        return "?"
    kind = fields.get("type", "?")
    if kind == "http":
        return clean(f"{fields.get('method', 'POST')} {url_name(fields.get('url'))}")
    return clean(str(target_name(fields) or kind))


def relative(at: str, now: datetime, *, rough: bool = False) -> str:
    seconds = (datetime.fromisoformat(at) - now).total_seconds()
    away = length(abs(seconds), rough=rough)
    return f"in {away}" if seconds >= 0 else f"{away} ago"


def local(at: str) -> str:
    """Returns a time on the clock of this machine."""
    return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M:%S}"


def when(at: str | None, now: datetime) -> str | None:
    return f"{local(at)} ({relative(at, now)})" if at else None


def drift(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    return f"{milliseconds} ms" if milliseconds < 10_000 else length(milliseconds / 1_000)


def tries(task: "Task") -> str:
    """Returns "2 of 5", or "7" once a redriven task has had more attempts than its policy."""
    summary = "max_attempts" in task
    most = task["max_attempts"] if summary else task["retry"].get("max_attempts", 0)
    return f"{task['attempt']} of {most}" if task["attempt"] <= most else str(task["attempt"])


def progress(task: "Task") -> str | None:
    fields = task["progress"]
    if fields is None:
        return None
    message = fields.get("message")
    return f"{fields['fraction']:.0%}" + (f" {clean(message)}" if message else "")


def error(fields: Mapping[str, Any] | None) -> str | None:
    return clean(f"{fields['type']}: {fields['message']}") if fields else None


def traceback(fields: Mapping[str, Any] | None) -> str | None:
    """Returns the end of a traceback, which says where; --json prints all of it."""
    text = clean((fields or {}).get("traceback") or "").rstrip()
    if len(text) <= MAX_TEXT:
        return text or None
    return f"(--json shows all) …{text[-MAX_TEXT:]}"


def limits(task: "Task") -> str | None:
    """Returns the limits of a task, such as `stripe:acct-7 or skip`."""
    uses = task.get("limits", [])  # an older API has no such field, nor the next
    texts = [
        _limit(use["name"], use["key"])
        + ("" if use["on_full"] == "queue" else f" or {use['on_full']}")
        for use in uses
    ]
    return ", ".join(texts) or None


def waiting_for(found: "WaitingFor | None") -> str | None:
    """Returns what a task waits for, such as `limit stripe:acct-7`."""
    if not found:
        return None
    if "limit" in found:
        return f"limit {_limit(found['limit'], found['key'])}"
    if "run" in found:
        return f"run {clean(found['run'])}"
    if "callback" in found:
        return "a callback"
    if "worker" in found:
        pool = found.get("pool")
        where = f" in the pool {clean(pool)}" if pool else ""
        return f"a worker with the handler {clean(found['worker'])}{where}"
    return f"ordering key {found['ordering_key']}"


def _limit(name: str, key: str | None) -> str:
    return clean(f"{name}:{key}" if key else name)


def reason(fields: Mapping[str, Any]) -> str | None:
    """Returns why Duetime cancelled a task."""
    code = fields.get("reason")  # an older API has no such field
    if code is None:
        return None
    return f"{code}: {REASONS[code]}" if code in REASONS else clean(code)


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def not_shown(task: "Task") -> str | None:
    """Returns which fields the API left out, and why."""
    notes = task.get("not_shown") or {}
    return clean("; ".join(f"{name}: {why}" for name, why in notes.items())) or None


def value(data: Any) -> str | None:
    """Returns JSON as text, cut if it is long; --json prints all of it."""
    if data is None:
        return None
    text = clean(json.dumps(data, ensure_ascii=False))
    if len(text) > 60:
        text = clean(json.dumps(data, ensure_ascii=False, indent=2))
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + " … (--json shows all)"
