"""`duetime forecast`: what comes due, as bars."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

import typer

from duetime.cli import format as fmt
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection
from duetime.core.forecast import MAX_HOURS
from duetime.core.lanes import Lane

if TYPE_CHECKING:
    from rich.text import Text

    from duetime.client import DueCount, Forecast

MAX_ROWS = 60
STEPS = (1, 5, 10, 15, 30)  # minutes of a row
MAX_WIDTH = 100
BARS: Mapping[str, tuple[str, str]] = {  # distinct without colours, too
    Lane.HIGH: ("█", "red"),
    Lane.MEDIUM: ("▓", "cyan"),
    Lane.LOW: ("░", "blue"),
}
PLAIN_BAR = ("█", "cyan")


class By(StrEnum):
    LANE = "lane"


@grouped
def forecast(
    *,
    hours: Annotated[int, typer.Option(min=1, max=MAX_HOURS, help="How far to look ahead.")] = 1,
    by: Annotated[By | None, typer.Option(help="Split the bars.")] = None,
    namespace: Annotated[
        str | None,
        typer.Option(help="Only of this namespace; * means all.", show_default="default"),
    ] = None,
    connection: Connection,
) -> None:
    """How many tasks come due in each of the next minutes.

    Counts the stored tasks that are still to start, and the coming runs of schedules."""
    from duetime.cli.output import stdout_console

    with connection.connect() as client:
        found = client.forecast(hours=hours, by="lane" if by else None, namespace=namespace)
    width = min(stdout_console().width, MAX_WIDTH)
    connection.print(found, lambda: lines(found, hours, width))


def lines(found: "Forecast", hours: int, width: int) -> "Iterator[Text]":
    from rich.text import Text

    yield Text(_summary(found, hours))
    if found["minutes"]:
        yield Text()
        yield from _chart(found, hours, width)
    if notes := list(_notes(found)):
        yield Text()
        yield from (Text(note, style="yellow") for note in notes)


def _summary(found: "Forecast", hours: int) -> str:
    total, peak = found["total"], found["peak"]
    span = "the next hour" if hours == 1 else f"the next {hours} hours"
    if peak is None:
        return f"Nothing is due in {span}."
    parts = [f"{total['tasks']:,} stored", fmt.count(total["occurrences"], "coming run")]
    text = f"{fmt.count(total['count'], 'task')} due in {span} ({', '.join(parts)})"
    return f"{text}; peak: {peak['count']:,} at {_clock(peak['minute'])}"


def _notes(found: "Forecast") -> Iterator[str]:
    """Says what the API did not count."""
    if found["complete"]:
        return
    start, end = fmt.local(found["looked_from"]), fmt.local(found["looked_until"])
    yield f"Counted from {start} to {end}: there is too much to count all."


def _chart(found: "Forecast", hours: int, width: int) -> "Iterator[Text]":
    from rich.text import Text

    step = next((s for s in STEPS if hours * 60 <= s * MAX_ROWS), STEPS[-1])
    rows = _rows(found, step)
    most = max(row["count"] for _, row in rows)
    number = len(f"{most:,}")
    cells = max(width - len("HH:MM  ") - number - len("  peak") - 1, 5)
    if step > 1:
        yield Text(f"Each row: {step} minutes", style="dim")
    if "lanes" in found["total"]:
        yield _legend(found["total"]["lanes"])
    marked = False
    for place, (start, row) in enumerate(rows):
        if place and start - rows[place - 1][0] > timedelta(minutes=step):
            yield Text("    ⋮", style="dim")
        top = row["count"] == most and not marked
        marked |= top
        bar = _bar(row, cells * row["count"] / most)
        label = Text(f"{row['count']:>{number},}" + ("  peak" if top else ""))
        label.stylize("bold" if top else "")
        yield Text.assemble((f"{start.astimezone():%H:%M}", "dim"), "  ", bar, " ", label)


def _rows(found: "Forecast", step: int) -> "Sequence[tuple[datetime, DueCount]]":
    """Returns the counts of each `step` minutes that are not empty, in order."""
    rows: dict[datetime, DueCount] = {}
    for minute in found["minutes"]:
        at = datetime.fromisoformat(minute["minute"]).astimezone(UTC)
        start = at - timedelta(minutes=at.minute % step)
        row = rows.setdefault(start, {"count": 0, "tasks": 0, "occurrences": 0, "lanes": {}})
        row["count"] += minute["count"]
        lanes = row["lanes"]
        for lane, count in minute.get("lanes", {}).items():
            lanes[lane] = lanes.get(lane, 0) + count
    return list(rows.items())


def _bar(row: "DueCount", length: float) -> "Text":
    """A row that is not empty has a bar; without lanes, of one kind."""
    from rich.text import Text

    cells = max(round(length), 1)
    lanes = row.get("lanes")
    if not lanes:
        return Text(PLAIN_BAR[0] * cells, style=PLAIN_BAR[1])
    bar, ends, so_far = Text(), [0], 0
    for lane in Lane:
        so_far += lanes.get(lane, 0)
        ends.append(round(cells * so_far / row["count"]))
    for lane, (start, end) in zip(Lane, pairwise(ends), strict=True):
        bar.append(BARS[lane][0] * (end - start), style=BARS[lane][1])
    return bar


def _legend(lanes: Mapping[str, int]) -> "Text":
    from rich.text import Text

    text = Text("       ")
    for lane in Lane:
        text.append(BARS[lane][0], style=BARS[lane][1])
        text.append(f" {lane} {lanes.get(lane, 0):,}   ")
    text.rstrip()
    return text


def _clock(at: str) -> str:
    return f"{datetime.fromisoformat(at).astimezone():%H:%M}"
