"""The lines of a terminal that tell what becomes of tasks: one for each event, 80 columns wide."""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from duetime.text import length, one_line
from lambdas.core.events import StatusChange
from lambdas.core.lifecycle import Status
from lambdas.core.results import decode_result
from lambdas.core.times import to_datetime

STYLES = {
    Status.RUNNING: "cyan",
    Status.SUCCEEDED: "green",
    Status.RETRYING: "yellow",
    Status.DEAD: "red",
    Status.CANCELLED: "magenta",
    Status.EXPIRED: "magenta",
}
SHORT_ID = 6  # of its end, which is random
OTHERS = 58  # columns of a line that are not for the name
NARROWEST, WIDEST = 12, 40  # columns of the name
LONGEST_TEXT = 500  # characters of a result or a reason before it is cut to fit


class EventLines:
    a_second = 10

    def __init__(self, console: Console, url: str) -> None:
        self._console = console
        self._url = url
        self._column = NARROWEST  # as wide as the widest name so far
        # Rich imports its table of widths when it first meets such a character: now, while there
        # are file descriptors to read it with.
        cell_len("…")

    def show(self, change: StatusChange) -> None:
        width = self._console.width
        most = min(max(width - OTHERS, NARROWEST), WIDEST)
        self._column = min(max(self._column, _name(change).cell_len), most)
        self._print(event_line(change, self._url, width=width, column=self._column))

    def show_left_out(self, count: int) -> None:
        self._print(Text(f"… and {count:,} more", style="dim"))

    def _print(self, line: Text) -> None:
        self._console.print(line, soft_wrap=True)


def event_line(change: StatusChange, url: str, *, width: int, column: int) -> Text:
    """The id is a link to the task, where the terminal knows links."""
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
    """A revived task may go past its policy: then there is no "of"."""
    most = change.max_attempts
    return f"try {change.attempt}" + (f"/{most}" if change.attempt <= most else "")


def _duration(ms: int) -> str:
    return f"{ms} ms" if ms < 1_000 else length(ms / 1_000)


def shown_end(change: StatusChange) -> str:
    """What came of it: the result, or why there is none."""
    if change.after is Status.SUCCEEDED:
        return _shown(change.result)
    if change.reason is not None:
        return one_line(change.reason)
    if change.after is Status.EXPIRED:
        return "not started in time"
    if change.error is None or change.after is Status.RUNNING:
        return ""
    return one_line(f"{change.error.type}: {change.error.message}"[:LONGEST_TEXT])


def _shown(result: str | None) -> str:
    """A result is JSON; one that is text is shown without its quotes."""
    text = result or ""
    if text.startswith('"'):
        text = decode_result(text).value or ""
    return one_line(text[:LONGEST_TEXT])
