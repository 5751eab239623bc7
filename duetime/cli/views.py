"""A task, or many, for the eye."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from duetime.cli import phrases
from duetime.client import Attempt, Task
from duetime.text import clean, length, one_line


def panel(task: Task, attempts: Sequence[Attempt], now: datetime) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, content in facts(task, now):
        grid.add_row(label, content)
    parts: list[RenderableType] = [grid]
    if attempts:
        parts += [Text(), attempt_table(attempts)]
    title = Text.assemble((task["id"], "bold"), "  ", phrases.status(task))
    return Panel(Group(*parts), title=title, title_align="left", expand=False)


def facts(task: Task, now: datetime) -> Iterator[tuple[str, Text]]:
    """What there is to say; what is not set is left out."""
    rows = {
        "name": clean(task["name"]) if task["name"] else None,
        "target": phrases.target(task["target"]),
        "namespace": task["namespace"],
        "priority": task["priority"],
        "due": phrases.when(task["due_at"], now),
        "submitted": phrases.when(task["created_at"], now),
        "started": phrases.when(task["started_at"], now),
        "finished": phrases.when(task["finished_at"], now),
        "drift": phrases.drift(task["drift_ms"]),
        "attempt": phrases.tries(task),
        "progress": phrases.progress(task),
        "stopping": "a cancel was asked for" if _stopping(task) else None,
        "timeout": length(task["timeout"]),
        "expires": phrases.when(task["expires_at"], now),
        "tags": clean(", ".join(f"{k}={v}" for k, v in task["tags"].items())) or None,
        "ordering key": task["ordering_key"],
        "idempotency key": task["idempotency_key"],
        "schedule": task["schedule_id"],
        "scheduled for": phrases.when(task["scheduled_for"], now),
        "reason": phrases.reason(task),
        "workflow": task["workflow_id"],
        "payload": phrases.value(task["payload"]),
        "result": phrases.value(task["result"]),
        "not shown": phrases.not_shown(task),
    }
    yield from ((label, Text(text)) for label, text in rows.items() if text is not None)
    if told := phrases.error(task["error"]):
        yield "error", Text(told, style="red")
    if trace := phrases.traceback(task["error"]):
        yield "traceback", Text(trace)


def _stopping(task: Task) -> bool:
    return task["cancel_requested"] and not phrases.ended(task)


def attempt_table(attempts: Sequence[Attempt]) -> Table:
    table = Table("attempt", "started", "took", "drift", "outcome", "error", box=None)
    for attempt in attempts:
        table.add_row(
            str(attempt["number"]),
            phrases.local(attempt["started_at"]),
            _took(attempt),
            phrases.drift(attempt["drift_ms"]),
            attempt["outcome"] or "running",
            Text(phrases.error(attempt["error"]) or ""),
        )
    return table


def _took(attempt: Attempt) -> str:
    if attempt["finished_at"] is None:
        return ""
    start, end = (datetime.fromisoformat(str(attempt[k])) for k in ("started_at", "finished_at"))
    return length((end - start).total_seconds())


def task_table(tasks: Sequence[Task], now: datetime) -> Table:
    """A narrow terminal cuts what a task is, never its id."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for header, width in {"ID": 26, "STATUS": 9, "DUE": 10, "LANE": 6, "TRIES": 5}.items():
        table.add_column(header, no_wrap=True, min_width=width)
    table.add_column("TASK")
    for task in tasks:
        table.add_row(
            task["id"],
            phrases.status(task),
            phrases.relative(task["due_at"], now, rough=True),
            task["priority"],
            phrases.tries(task).replace(" of ", "/"),
            _cut(phrases.short(task)),
        )
    return table


def _cut(text: str, style: str = "") -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


def dead_table(tasks: Sequence[Task], now: datetime) -> Table:
    """A narrow terminal cuts what went wrong and what a task is, never its id."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("ID", no_wrap=True, min_width=26)
    table.add_column("DIED", no_wrap=True, min_width=10)
    table.add_column("ERROR")
    table.add_column("TRIES", no_wrap=True, min_width=5)
    told = any(task["namespace"] != "default" for task in tasks)
    if told:
        table.add_column("NAMESPACE", no_wrap=True)
    table.add_column("TASK")
    for task in tasks:
        table.add_row(
            task["id"],
            phrases.relative(task["finished_at"] or task["updated_at"], now, rough=True),
            _cut(one_line(phrases.error(task["error"]) or ""), style="red"),
            phrases.tries(task).replace(" of ", "/"),
            *([task["namespace"]] if told else []),
            _cut(phrases.short(task)),
        )
    return table


def submitted(task: Task, now: datetime, *, replayed: bool = False) -> Text:
    if replayed:
        what = f"  {phrases.short(task)}, {task['status']}"
        return Text.assemble("Already submitted ", (task["id"], "bold"), what)
    due = "at once" if task["due_at"] <= task["created_at"] else phrases.when(task["due_at"], now)
    return Text.assemble(
        ("Submitted ", ""), (task["id"], "bold"), f"  {phrases.short(task)}, due {due}"
    )


def closing(task: Task) -> Iterator[Text]:
    """The last words on a task that has ended."""
    if reason := phrases.reason(task):
        yield Text.assemble(("reason  ", "dim"), reason)
    if told := phrases.error(task["error"]):
        yield Text.assemble(("error   ", "dim"), (told, "red"))
    if (result := phrases.value(task["result"])) is not None:
        yield Text.assemble(("result  ", "dim"), result)
