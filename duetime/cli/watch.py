"""`duetime watch`: follow a task until it ends."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import typer

from duetime.cli import format as fmt
from duetime.cli.exit_codes import ExitCode
from duetime.cli.following import last_of, print_live
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, Every, Polling, TaskId, WaitUpTo
from duetime.cli.output import is_terminal, print_json, print_text
from duetime.cli.parse import duration, poll_interval
from duetime.core.lifecycle import Status
from duetime.terminal import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from duetime.client import Attempt, Client, Task


@grouped
def watch(
    task: TaskId, *, connection: Connection, every: Every = "0.5", wait: WaitUpTo = None
) -> None:
    """Follow a task until it ends. With --json, print it once it has ended."""
    polling = Polling(True, poll_interval("--every", every), duration("--wait", wait))
    with connection.connect() as client:
        follow(client, task, polling, as_json=connection.json)


def follow(client: "Client", task_id: str, polling: Polling, *, as_json: bool) -> None:
    """Prints a task until it ends; ends the command with NOT_DONE unless it SUCCEEDED."""
    from duetime.cli.views import ending

    readings = client.live.task(task_id, timeout=polling.limit, poll=polling.interval)
    if as_json:
        task = last_of(readings)
        print_json(task)
    else:
        live = is_terminal()
        task = print_live(readings, _picture) if live else _print_lines(readings, client)
        print_text(*ending(task))
    if task["status"] != Status.SUCCEEDED:
        raise typer.Exit(ExitCode.NOT_DONE)


def _picture(task: "Task") -> "RenderableType":
    return picture(task, fmt.now())


def _print_lines(readings: "Iterator[Task]", client: "Client") -> "Task":
    last = next(readings)
    print_text(line(last, fmt.now()))
    for task in readings:
        for attempt in _attempts_between(client, last, task):
            print_text(_failed(task, attempt))
        if visible_state(task) != visible_state(last):
            print_text(line(task, fmt.now()))
        last = task
    return last


def _attempts_between(client: "Client", before: "Task", task: "Task") -> "list[Attempt]":
    """Returns the attempts that ended between two readings, but for the last, which the reading
    itself shows. Quick retries are faster than readings."""
    first, last = _attempts_ended(before) + 1, _attempts_ended(task) - 1
    if first > last:
        return []
    return [each for each in client.attempts(task["id"]) if first <= each["number"] <= last]


def _attempts_ended(task: "Task") -> int:
    return task["attempt"] - (task["status"] == Status.RUNNING)


def _failed(task: "Task", attempt: "Attempt") -> str:
    at = datetime.fromisoformat(attempt["finished_at"] or attempt["started_at"]).astimezone()
    reason = fmt.error(attempt["error"])
    number = fmt.tries({**task, "attempt": attempt["number"]})
    words = f"attempt {number} failed" + (f" ({reason})" if reason else "")
    return f"{at:%H:%M:%S}  {Status.RETRYING:<9}  {words}"


def visible_state(task: "Task") -> tuple[object, ...]:
    """Returns the part of a task that must change before a new line is printed."""
    progress = fmt.progress(task)
    return task["status"], task["attempt"], task["due_at"], progress, task["cancel_requested"]


def line(task: "Task", now: datetime) -> str:
    parts = filter(None, (situation(task, now), fmt.progress(task)))
    return f"{now.astimezone():%H:%M:%S}  {task['status']:<9}  {', '.join(parts)}"


def picture(task: "Task", now: datetime) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    words = f"  {situation(task, now)}"
    head = Text.assemble((task["id"], "bold"), "  ", fmt.status(task), words)
    return Group(head, _bar(task)) if task["progress"] else head


def _bar(task: "Task") -> "RenderableType":
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    fraction = task["progress"]["fraction"] if task["progress"] else 0.0
    bar = Table.grid(padding=(0, 1))
    bar.add_row(
        ProgressBar(total=1.0, completed=fraction, width=40), Text(fmt.progress(task) or "")
    )
    return bar


def situation(task: "Task", now: datetime) -> str:
    """Returns what a task waits for, does or has done, in a few words."""
    if fmt.ended(task):
        parts = _ended(task)
    elif task["status"] == Status.RUNNING:
        parts = _running(task)
    elif task["status"] == Status.WAITING:
        parts = ["for earlier steps"]
    else:
        parts = _due(task, now)
    return ", ".join(part for part in parts if part)


def _ended(task: "Task") -> list[str]:
    number = task["attempt"]
    if number == 0:
        return ["before its first attempt"]
    return [f"after {number} attempt{'s' if number > 1 else ''}", _drift(task)]


def _running(task: "Task") -> list[str]:
    stopping = "being stopped" if task["cancel_requested"] else ""
    return [f"attempt {fmt.tries(task)}", _drift(task), stopping]


def _due(task: "Task", now: datetime) -> list[str]:
    due = f"due {fmt.relative(task['due_at'], now)}"
    if task["attempt"] == 0:
        return [due]
    if (error := task["error"]) is not None and error["type"] == "Snooze":
        return [f"snoozed ({one_line(error['message'])})", due]
    if error is not None and error["type"] == "Interrupted":
        return ["interrupted", due]
    reason = fmt.error(error)
    return [f"attempt {fmt.tries(task)} failed" + (f" ({reason})" if reason else ""), due]


def _drift(task: "Task") -> str:
    drift = fmt.drift(task["drift_ms"])
    return f"drift {drift}" if drift else ""
