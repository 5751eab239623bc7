"""A task on its way: in place on a terminal, line by line elsewhere."""

from collections.abc import Iterator
from datetime import datetime

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from duetime.cli import phrases
from duetime.cli.exits import ExitCode
from duetime.cli.output import say, say_json, stdout, terminal
from duetime.cli.views import closing
from duetime.client import Client, Task
from duetime.text import one_line
from lambdas.core.lifecycle import Status


def follow(
    client: Client, task_id: str, *, as_json: bool, poll: float, limit: float | None
) -> None:
    """Ends the command with the exit code that the task deserves."""
    readings = client.follow(task_id, timeout=limit, poll=poll)
    if as_json:
        task = _last(readings)
        say_json(task)
    else:
        task = _live(readings) if terminal() else _lines(readings)
        say(*closing(task))
    if task["status"] != Status.SUCCEEDED:
        raise typer.Exit(ExitCode.NOT_DONE)


def _last(readings: Iterator[Task]) -> Task:
    for task in readings:
        last = task
    return last


def _live(readings: Iterator[Task]) -> Task:
    with Live(console=stdout(), auto_refresh=False) as live:
        for task in readings:
            last = task
            live.update(picture(task, phrases.now()), refresh=True)
    return last


def _lines(readings: Iterator[Task]) -> Task:
    seen = None
    for task in readings:
        last = task
        if (mark := landmark(task)) != seen:
            seen = mark
            say(line(task, phrases.now()))
    return last


def landmark(task: Task) -> tuple[object, ...]:
    """What must change for a new line."""
    progress = phrases.progress(task)
    return task["status"], task["attempt"], task["due_at"], progress, task["cancel_requested"]


def line(task: Task, now: datetime) -> str:
    parts = filter(None, (situation(task, now), phrases.progress(task)))
    return f"{now.astimezone():%H:%M:%S}  {task['status']:<9}  {', '.join(parts)}"


def picture(task: Task, now: datetime) -> RenderableType:
    words = f"  {situation(task, now)}"
    head = Text.assemble((task["id"], "bold"), "  ", phrases.status(task), words)
    return Group(head, _bar(task)) if task["progress"] else head


def _bar(task: Task) -> RenderableType:
    fraction = task["progress"]["fraction"] if task["progress"] else 0.0
    bar = Table.grid(padding=(0, 1))
    bar.add_row(
        ProgressBar(total=1.0, completed=fraction, width=40), Text(phrases.progress(task) or "")
    )
    return bar


def situation(task: Task, now: datetime) -> str:
    if phrases.ended(task):
        parts = _end(task)
    elif task["status"] == Status.RUNNING:
        parts = _run(task)
    elif task["status"] == Status.WAITING:
        parts = ["for earlier steps"]
    else:
        parts = _expected(task, now)
    return ", ".join(part for part in parts if part)


def _end(task: Task) -> list[str]:
    number = task["attempt"]
    if number == 0:
        return ["before its first attempt"]
    return [f"after {number} attempt{'s' if number > 1 else ''}", _drifted(task)]


def _run(task: Task) -> list[str]:
    stopping = "being stopped" if task["cancel_requested"] else ""
    return [f"attempt {phrases.tries(task)}", _drifted(task), stopping]


def _expected(task: Task, now: datetime) -> list[str]:
    due = f"due {phrases.relative(task['due_at'], now)}"
    if task["attempt"] == 0:
        return [due]
    if (error := task["error"]) is not None and error["type"] == "Snooze":
        return [f"snoozed ({one_line(error['message'])})", due]
    told = phrases.error(error)
    return [f"attempt {phrases.tries(task)} failed" + (f" ({told})" if told else ""), due]


def _drifted(task: Task) -> str:
    told = phrases.drift(task["drift_ms"])
    return f"drift {told}" if told else ""
