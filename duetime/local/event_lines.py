"""Events of tasks as lines on a terminal, 80 columns wide, or as log records."""

import logging
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from duetime.core.events import StatusChange
from duetime.core.lifecycle import Status
from duetime.core.results import decode_result
from duetime.core.times import to_datetime
from duetime.terminal import length, one_line

EVENTS = logging.getLogger("duetime.events")
MESSAGES = {
    Status.RUNNING: "task running",
    Status.SUCCEEDED: "task succeeded",
    Status.RETRYING: "attempt failed",
    Status.DEAD: "task died",
    Status.CANCELLED: "task cancelled",
    Status.EXPIRED: "task expired",
}
STYLES = {
    Status.RUNNING: "cyan",
    Status.SUCCEEDED: "green",
    Status.RETRYING: "yellow",
    Status.DEAD: "red",
    Status.CANCELLED: "magenta",
    Status.EXPIRED: "magenta",
}
SHORT_ID = 6  # characters of the end of an id, which is random
OTHER_COLUMNS = 58  # columns of a line that are not the name's
MIN_NAME_COLUMNS, MAX_NAME_COLUMNS = 12, 40  # columns of the name
MAX_TEXT = 500  # characters of a result or a reason before it is cut to fit


class EventLines:
    max_per_second = 10

    def __init__(self, console: Console, url: str) -> None:
        self._console = console
        self._url = url
        self._column = MIN_NAME_COLUMNS  # the width of the widest name so far
        # Rich imports its table of widths when it first measures such a character. Do it now,
        # while there are free file descriptors.
        cell_len("…")

    def show(self, change: StatusChange) -> None:
        width = self._console.width
        most = min(max(width - OTHER_COLUMNS, MIN_NAME_COLUMNS), MAX_NAME_COLUMNS)
        self._column = min(max(self._column, _name(change).cell_len), most)
        self._print(event_line(change, self._url, width=width, column=self._column))

    def show_omitted(self, count: int) -> None:
        self._print(Text(f"… and {count:,} more", style="dim"))

    def _print(self, line: Text) -> None:
        self._console.print(line, soft_wrap=True)


class LoggedEvents:
    max_per_second = 100

    def show(self, change: StatusChange) -> None:
        revived = change.before is Status.DEAD
        ended = "result" if change.after is Status.SUCCEEDED else "reason"
        fields = {
            "task_id": change.task_id,
            "attempt": change.attempt,
            "status": str(change.after),
            "task_name": change.name,
            "target": change.target,
            "namespace": change.namespace,
            "lane": str(change.lane),
            "drift_ms": change.drift_ms,
            "took_ms": change.took_ms,
            ended: None if revived else shown_end(change) or None,
        }
        given = {name: value for name, value in fields.items() if value is not None}
        EVENTS.info("task revived" if revived else MESSAGES[change.after], extra=given)

    def show_omitted(self, count: int) -> None:
        EVENTS.info("events omitted", extra={"count": count})


def event_line(change: StatusChange, url: str, *, width: int, column: int) -> Text:
    """Returns one line. The id is a link to the task, if the terminal supports links."""
    link = f"dim link {url}/v1/tasks/{change.task_id}"
    name = _name(change)
    name.truncate(column, overflow="ellipsis", pad=True)
    line = Text.assemble(
        (f"{to_datetime(change.at).astimezone():%H:%M:%S}  ", "dim"),
        (f"{change.after:<9}", STYLES[change.after]),
        "  ",
        name,
        "  ",
        (f"…{change.task_id[-SHORT_ID:]}", link),
    )
    for words in _details(change):
        line.append(f"  {words}")
    line.truncate(width, overflow="ellipsis")
    return line


def _name(change: StatusChange) -> Text:
    return Text(one_line(change.name or change.target or ""))


def _details(change: StatusChange) -> Iterator[str]:
    if change.before is Status.DEAD:
        yield "revived"
        return
    if change.attempt:
        yield _tries(change)
    if change.after is Status.RUNNING:
        yield "for over a second"
    elif change.took_ms is not None:
        yield _duration(change.took_ms)
    if text := shown_end(change):
        yield text


def _tries(change: StatusChange) -> str:
    """Omits the maximum for a revived task that has exceeded its policy."""
    most = change.max_attempts
    return f"try {change.attempt}" + (f"/{most}" if change.attempt <= most else "")


def _duration(ms: int) -> str:
    return f"{ms} ms" if ms < 1_000 else length(ms / 1_000)


def shown_end(change: StatusChange) -> str:
    """Returns the result, or the reason why there is none."""
    if change.after is Status.SUCCEEDED:
        return _shown(change.result)
    if change.reason is not None:
        return one_line(change.reason)
    if change.after is Status.EXPIRED:
        return "not started in time"
    if change.error is None or change.after is Status.RUNNING:
        return ""
    return one_line(f"{change.error.type}: {change.error.message}"[:MAX_TEXT])


def _shown(result: str | None) -> str:
    """Returns a result, which is JSON, on one line; a string without its quotes."""
    text = result or ""
    if text.startswith('"'):
        text = decode_result(text).value or ""
    return one_line(text[:MAX_TEXT])
